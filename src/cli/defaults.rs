//! The user's settings: read once, before a command that uses them.

use std::sync::{Arc, OnceLock};

use crate::base::size::use_units;
use crate::cuda::catalog::Catalog;
use crate::cuda::compat::{HostTargets, TargetGpu, parse_targets};
use crate::deploy::{Profile, find_profile};
use crate::settings::{Settings, SettingsError, SettingsFile};
use crate::source::engine::{EngineHosts, use_hosts};

static DEFAULTS: OnceLock<Settings> = OnceLock::new();

/// The user's settings; those without a file until [`read_settings`] was called.
pub(super) fn defaults() -> &'static Settings {
    DEFAULTS.get_or_init(Settings::default)
}

/// Reads the user's settings. Without a home folder there are none.
pub(super) fn read_settings() -> Result<(), SettingsError> {
    let settings = match SettingsFile::of_user() {
        Ok(file) => file.load()?,
        Err(SettingsError::NoHome) => Settings::default(),
        Err(error) => return Err(error),
    };
    use_units(settings.units);
    use_hosts(EngineHosts { docker: settings.docker_host.clone(), podman: settings.podman_host.clone() });
    DEFAULTS.get_or_init(|| settings);
    Ok(())
}

/// Platform of the settings.
pub(super) fn default_profile<'c>(
    catalog: impl Fn() -> &'c Catalog,
) -> Result<Option<Arc<Profile>>, SettingsError> {
    let Some(written) = &defaults().profile else { return Ok(None) };
    let catalog = catalog();
    let found = find_profile(catalog, &written.text).map_err(|error| {
        let file = SettingsFile::of_user().map(|file| file.shown()).unwrap_or_default();
        SettingsError::at(&file, written, error.to_string(), Some(error.hint(catalog)))
    })?;
    Ok(Some(Arc::new(found.clone())))
}

/// Target GPUs of the settings. The catalogue is only asked for if there are some.
pub(super) fn default_targets<'c>(
    catalog: impl Fn() -> &'c Catalog,
    host: &dyn Fn() -> HostTargets,
) -> Result<Vec<TargetGpu>, SettingsError> {
    let mut targets = Vec::new();
    for written in &defaults().targets {
        let found = parse_targets(catalog(), &written.text, host).map_err(|error| {
            let file = SettingsFile::of_user().map(|file| file.shown()).unwrap_or_default();
            SettingsError::at(&file, written, error.to_string(), Some(error.hint()))
        })?;
        targets.extend(found);
    }
    Ok(targets)
}
