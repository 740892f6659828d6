//! What the window remembers, under one key of its own.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::gui::widgets::split::PaneSizes;
use crate::source::redacted;

/// How many images are remembered.
const RECENT: usize = 12;
/// How many hosts are remembered.
const HOSTS: usize = 100;
/// The longest name that a host can have, with its port.
const HOST_LENGTH: usize = 262;
const KEY: &str = "cutaway";
const VERSION: u32 = 1;
/// The name that the folder of the window's data is known by.
pub(crate) const APP: &str = "cutaway";

/// The file that keeps earlier checks of this machine's GPU, beside what the window remembers; `None` where the
/// system has no place for data.
pub(crate) fn gpu_history() -> Option<PathBuf> {
    Some(eframe::storage_dir(APP)?.join("gpu-history.json"))
}

/// Light, dark, or the desktop setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ThemeChoice {
    /// The desktop setting.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl From<ThemeChoice> for egui::ThemePreference {
    fn from(choice: ThemeChoice) -> Self {
        match choice {
            ThemeChoice::System => Self::System,
            ThemeChoice::Light => Self::Light,
            ThemeChoice::Dark => Self::Dark,
        }
    }
}

/// The remembered state. Fields may be added with a default; anything else raises the version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settings {
    version: u32,
    /// The theme.
    #[serde(default)]
    pub(crate) theme: ThemeChoice,
    /// Size of text and all else; 100 is the natural one.
    #[serde(default = "natural")]
    pub(crate) zoom_percent: u16,
    /// References opened lately, newest first.
    #[serde(default)]
    pub(crate) recent: Vec<String>,
    /// Registries that may be contacted without asking, newest first.
    #[serde(default)]
    pub(crate) hosts: Vec<String>,
    /// Sizes of panes that were moved.
    #[serde(default)]
    pub(crate) panes: PaneSizes,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: VERSION,
            theme: ThemeChoice::default(),
            zoom_percent: natural(),
            recent: Vec::new(),
            hosts: Vec::new(),
            panes: PaneSizes::new(),
        }
    }
}

fn natural() -> u16 {
    100
}

impl Settings {
    /// What was remembered; the default when there is nothing, or nothing that this version can read.
    pub(crate) fn load(storage: Option<&dyn eframe::Storage>) -> Self {
        let stored: Option<Self> = storage.and_then(|storage| eframe::get_value(storage, KEY));
        let mut settings = stored.filter(|settings| settings.version == VERSION).unwrap_or_default();
        settings.set_zoom(settings.zoom_percent);
        settings.recent.truncate(RECENT);
        settings.hosts.truncate(HOSTS);
        settings
    }

    /// Remembers.
    pub(crate) fn save(&self, storage: &mut dyn eframe::Storage) {
        eframe::set_value(storage, KEY, self);
    }

    /// Sets the zoom within what can be used, in steps of ten.
    pub(crate) fn set_zoom(&mut self, percent: u16) {
        self.zoom_percent = percent.clamp(50, 300).div_ceil(10) * 10;
    }

    /// The zoom as a factor.
    pub(crate) fn zoom(&self) -> f32 {
        f32::from(self.zoom_percent) / 100.0
    }

    /// Puts `reference` before all others. One that carries user info is not kept: without its secret
    /// it could not be opened again. Samples are always at hand.
    pub(crate) fn remember(&mut self, reference: &str) {
        if redacted(reference) != reference || reference.starts_with("sample:") {
            return;
        }
        self.recent.retain(|known| known != reference);
        self.recent.insert(0, reference.to_owned());
        self.recent.truncate(RECENT);
    }

    /// Whether this registry may be contacted without asking.
    pub(crate) fn knows_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known == host)
    }

    /// Remembers that this registry may be contacted.
    pub(crate) fn remember_host(&mut self, host: &str) {
        if host.len() > HOST_LENGTH {
            return;
        }
        self.hosts.retain(|known| known != host);
        self.hosts.insert(0, host.to_owned());
        self.hosts.truncate(HOSTS);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{HOSTS, KEY, RECENT, Settings, ThemeChoice};

    #[derive(Default)]
    struct Memory(HashMap<String, String>);

    impl eframe::Storage for Memory {
        fn get_string(&self, key: &str) -> Option<String> {
            self.0.get(key).cloned()
        }
        fn set_string(&mut self, key: &str, value: String) {
            self.0.insert(key.to_owned(), value);
        }
        fn remove_string(&mut self, key: &str) {
            self.0.remove(key);
        }
        fn flush(&mut self) {}
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let mut settings = Settings { theme: ThemeChoice::Dark, ..Settings::default() };
        settings.set_zoom(131);
        settings.remember("oci:a");
        settings.remember_host("ghcr.io");
        settings.panes.insert("layers".to_owned(), [Some(300.0), None]);
        let mut memory = Memory::default();
        settings.save(&mut memory);
        assert_eq!(Settings::load(Some(&memory)), settings);
        assert_eq!(settings.zoom_percent, 140);
    }

    #[test]
    fn registries_are_remembered_up_to_a_bound() {
        let mut settings = Settings::default();
        for index in 0..=HOSTS {
            settings.remember_host(&format!("{index}.example"));
        }
        settings.remember_host("7.example");
        assert_eq!(settings.hosts.len(), HOSTS);
        assert_eq!(settings.hosts[..2], ["7.example", "100.example"]);
        assert!(settings.knows_host("1.example") && !settings.knows_host("0.example"));
    }

    #[test]
    fn another_version_and_nonsense_give_the_default() {
        for stored in ["(version:2,zoom_percent:200)", "nonsense", ""] {
            let memory = Memory(HashMap::from([(KEY.to_owned(), stored.to_owned())]));
            assert_eq!(Settings::load(Some(&memory)), Settings::default(), "{stored}");
        }
        let memory = Memory(HashMap::from([(KEY.to_owned(), "(version:1,zoom_percent:9)".to_owned())]));
        assert_eq!(Settings::load(Some(&memory)).zoom_percent, 50);
    }

    #[test]
    fn recent_images_are_few_and_hold_no_secret() {
        let mut settings = Settings::default();
        for index in 0..20 {
            settings.remember(&format!("oci:{index}"));
        }
        settings.remember("oci:15");
        assert_eq!(settings.recent.len(), RECENT);
        assert_eq!(settings.recent[..3], ["oci:15", "oci:19", "oci:18"]);
        settings.remember("docker://me:secret@registry.example/image");
        assert_eq!(settings.recent[0], "oci:15");
    }
}
