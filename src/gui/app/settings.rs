//! The user's settings: reading, changing, and what a change does at once.

use super::{App, LogSource};
use crate::base::size::use_units;
use crate::cache::{Blobs, Cache, Settings as CacheSettings};
use crate::cuda::catalog::Catalog;
use crate::cuda::compat::{TargetGpu, parse_target};
use crate::deploy::find_profile;
use crate::gui::models::settings::TypedSetting;
use crate::gui::panels::SettingsPage;
use crate::settings::{Settings, SettingsError, Theme};
use crate::source::engine::{EngineHosts, use_hosts};

impl From<Theme> for egui::ThemePreference {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::System => Self::System,
            Theme::Light => Self::Light,
            Theme::Dark => Self::Dark,
        }
    }
}

impl App {
    /// Reads the settings file when the window starts. One that is invalid is reported, and the defaults apply.
    pub(super) fn read_settings(&mut self) {
        let Some(file) = &self.settings_file else { return self.show_in_window() };
        match file.load() {
            Ok(settings) => self.settings = settings,
            Err(error) => self.report_settings(&error),
        }
        self.show_in_window();
        if let Err(message) = self.read_targets() {
            self.log.error(LogSource::WINDOW, message);
            self.log_open = true;
        }
    }

    /// Changes settings: in the file, and at once where they act. A file that cannot be changed is reported; the change
    /// then lasts until the window closes.
    pub(crate) fn change_settings(&mut self, change: impl Fn(&mut Settings)) {
        let before = self.settings.clone();
        match self.settings_file.as_ref().map(|file| file.change(&change)) {
            Some(Ok(settings)) => (self.settings, self.settings_fault) = (settings, None),
            Some(Err(error)) => {
                change(&mut self.settings);
                self.report_settings(&error);
            }
            None => change(&mut self.settings),
        }
        self.show_in_window();
        self.apply(&before);
    }

    /// Brings the settings to the front.
    pub(crate) fn show_settings(&mut self) {
        self.settings_page = Some(SettingsPage::new(&self.settings));
    }

    /// The index cache that images are read with; `None` if it is disabled.
    pub(crate) fn cache(&self) -> Option<&Cache> {
        self.options.cache.as_ref()
    }

    /// Puts a typed value into the settings.
    ///
    /// # Errors
    /// Why it is no value.
    pub(crate) fn type_setting(&mut self, typed: TypedSetting, text: &str) -> Result<(), String> {
        let mut wanted = self.settings.clone();
        typed.put(text, &mut wanted)?;
        if typed == TypedSetting::Targets {
            targets(self.options.catalog.as_deref().unwrap_or_else(|| Catalog::builtin()), &wanted)?;
        }
        if let Some(profile) = wanted.profile.as_ref().filter(|_| typed == TypedSetting::Profile) {
            let catalog = self.options.catalog.as_deref().unwrap_or_else(|| Catalog::builtin());
            find_profile(catalog, &profile.text)
                .map_err(|error| format!("{error}; {}", error.hint(catalog)))?;
        }
        self.change_settings(|settings| {
            // Checked above.
            typed.put(text, settings).ok();
        });
        Ok(())
    }

    fn report_settings(&mut self, error: &SettingsError) {
        let message = error.to_string();
        if self.settings_fault.as_ref() != Some(&message) {
            self.log.error(LogSource::WINDOW, message.clone());
        }
        self.settings_fault = Some(message);
    }

    fn show_in_window(&self) {
        self.context.set_theme(self.settings.theme);
        self.context.set_zoom_factor(f32::from(self.settings.text_size) / 100.0);
    }

    /// What changed settings mean for images that are opened from now on, and for texts.
    fn apply(&mut self, before: &Settings) {
        let now = self.settings.clone();
        if now.units != before.units {
            use_units(now.units);
            // Texts with sizes are computed once for each state of an image.
            self.tabs.iter_mut().for_each(|tab| tab.generation += 1);
        }
        if (&now.docker_host, &now.podman_host) != (&before.docker_host, &before.podman_host) {
            use_hosts(EngineHosts { docker: now.docker_host.clone(), podman: now.podman_host.clone() });
        }
        if now.cache_limit != before.cache_limit && !self.overrides.cache_limit {
            self.options.cache = Cache::of_user(now.cache_limit);
        }
        if now.blob_limit != before.blob_limit && !self.overrides.blob_limit {
            self.options.access.blobs = match CacheSettings::from_environment(None) {
                Ok(cache) => (now.blob_limit > 0).then(|| Blobs::new(cache.folder, now.blob_limit)),
                Err(error) => {
                    self.log.error(LogSource::WINDOW, format!("blob cache not available: {error}"));
                    None
                }
            };
        }
        if now.ca_file != before.ca_file && !self.overrides.ca_file {
            self.options.access.ca_file.clone_from(&now.ca_file);
        }
        if now.targets != before.targets
            && let Err(message) = self.read_targets()
        {
            self.log.error(LogSource::WINDOW, message);
        }
    }

    /// Takes the targets of the settings for images that are opened from now on.
    fn read_targets(&mut self) -> Result<(), String> {
        let catalog = self.options.catalog.as_deref();
        let read = |catalog: &Catalog| targets(catalog, &self.settings);
        // The built-in catalogue takes milliseconds to parse, which no start needs without targets.
        let targets = match (catalog, self.settings.targets.is_empty()) {
            (_, true) => Ok(Vec::new()),
            (Some(catalog), false) => read(catalog),
            (None, false) => read(Catalog::builtin()),
        };
        self.options.targets = targets?;
        Ok(())
    }

    /// The platform of the settings, by its id in the catalogue. One that a later version does not know is left out.
    pub(super) fn default_profile(&self) -> Option<String> {
        let profile = self.settings.profile.as_ref()?;
        let catalog = self.options.catalog.as_deref().unwrap_or_else(|| Catalog::builtin());
        find_profile(catalog, &profile.text).ok().map(|profile| profile.id.clone())
    }

    /// Opens the images of the last session.
    pub(super) fn restore_images(&mut self) {
        let open = self.remembered.open.clone();
        for text in &open {
            self.open(text);
        }
        let front = self.remembered.front.clone();
        if let Some(tab) = self.tabs.iter().find(|tab| Some(&tab.text) == front.as_ref()) {
            self.front = Some(tab.id);
        }
    }
}

/// The targets of the settings. `host` is left out: the GPU view judges this machine in any case.
pub(crate) fn targets(catalog: &Catalog, settings: &Settings) -> Result<Vec<TargetGpu>, String> {
    let named = settings.targets.iter().filter(|target| !target.text.trim().eq_ignore_ascii_case("host"));
    let read = named.map(|target| parse_target(catalog, &target.text));
    read.collect::<Result<_, _>>().map_err(|error| format!("{error}; {}", error.hint()))
}
