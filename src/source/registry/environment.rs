//! Environment for registries: folders, files and variables, replaceable in tests.

use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::read_at::{open_regular, read_up_to};
use crate::base::text::{elide_middle, printable};

/// Folders, files and variables with settings and credentials. No `Debug`: some are secret.
pub(super) struct Environment {
    /// The home folder.
    pub(super) home: Option<PathBuf>,
    /// Settings of this user: `$XDG_CONFIG_HOME`, else `~/.config`.
    pub(super) config: Option<PathBuf>,
    /// Settings of the machine: `/etc`.
    pub(super) etc: PathBuf,
    /// Podman's login file, which lasts until the machine restarts.
    pub(super) runtime_auth: PathBuf,
    /// `$REGISTRY_AUTH_FILE`, which replaces Podman's files.
    pub(super) auth_file: Option<PathBuf>,
    /// `$DOCKER_CONFIG`, else `~/.docker`.
    pub(super) docker: Option<PathBuf>,
    /// The text of a `config.json`: `$DOCKER_AUTH_CONFIG`.
    pub(super) docker_auth: Option<String>,
    /// `$CONTAINERS_REGISTRIES_CONF`.
    pub(super) registries_conf: Option<PathBuf>,
    /// Host for the three variables below: `$CUTAWAY_REGISTRY_HOST`.
    pub(super) login_host: Option<String>,
    /// `$CUTAWAY_REGISTRY_USERNAME`.
    pub(super) login_user: Option<String>,
    /// `$CUTAWAY_REGISTRY_PASSWORD`.
    pub(super) login_password: Option<String>,
    /// `$CUTAWAY_REGISTRY_TOKEN`.
    pub(super) login_token: Option<String>,
    /// Search path of credential helpers.
    pub(super) search_path: OsString,
    /// Time limit of a credential helper.
    pub(super) patience: Duration,
}

/// The result of a credential source without an entry for a host.
pub(super) fn absent(host: &str) -> String {
    format!("no entry for {host}")
}

impl Environment {
    /// The environment of this process.
    pub(super) fn real() -> Self {
        let path = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let home = path("HOME");
        let below_home = |name: &str| home.as_ref().map(|home| home.join(name));
        let runtime = path("XDG_RUNTIME_DIR")
            .unwrap_or_else(|| format!("/run/containers/{}", rustix::process::getuid().as_raw()).into());
        Self {
            config: path("XDG_CONFIG_HOME")
                .filter(|folder| folder.is_absolute())
                .or_else(|| below_home(".config")),
            etc: "/etc".into(),
            // Without the variable podman leaves out `containers`, which is in the path already.
            runtime_auth: if runtime.starts_with("/run/containers") {
                runtime.join("auth.json")
            } else {
                runtime.join("containers/auth.json")
            },
            auth_file: path("REGISTRY_AUTH_FILE"),
            docker: path("DOCKER_CONFIG").or_else(|| below_home(".docker")),
            docker_auth: text("DOCKER_AUTH_CONFIG"),
            registries_conf: path("CONTAINERS_REGISTRIES_CONF"),
            login_host: text("CUTAWAY_REGISTRY_HOST"),
            login_user: text("CUTAWAY_REGISTRY_USERNAME"),
            login_password: text("CUTAWAY_REGISTRY_PASSWORD"),
            login_token: text("CUTAWAY_REGISTRY_TOKEN"),
            search_path: env::var_os("PATH").unwrap_or_default(),
            patience: Duration::from_secs(10),
            home,
        }
    }

    /// An environment below `folder`, which is also the home folder.
    #[cfg(test)]
    pub(super) fn below(folder: &Path) -> Self {
        Self {
            home: Some(folder.to_owned()),
            config: Some(folder.join(".config")),
            etc: folder.join("etc"),
            runtime_auth: folder.join("run/containers/auth.json"),
            auth_file: None,
            docker: Some(folder.join(".docker")),
            docker_auth: None,
            registries_conf: None,
            login_host: None,
            login_user: None,
            login_password: None,
            login_token: None,
            search_path: folder.join("bin").into(),
            patience: Duration::from_secs(10),
        }
    }

    /// A path for display: with `~` for the home folder.
    pub(super) fn shown(&self, path: &Path) -> String {
        let below_home = self.home.as_ref().and_then(|home| path.strip_prefix(home).ok());
        let shown = below_home.map_or_else(|| path.to_owned(), |rest| Path::new("~").join(rest));
        elide_middle(&printable(&shown.to_string_lossy()), 200)
    }
}

/// The bytes of a settings file of at most `limit` bytes; `None` when there is no such file, else the reason why it
/// cannot be read.
pub(super) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, String> {
    let bytes = match open_regular(path).and_then(|file| read_up_to(file, limit)) {
        // A file as a part of the path also means that it does not exist.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) if error.kind() == ErrorKind::InvalidInput => return Err("not a regular file".into()),
        read => read.map_err(|error| error.to_string())?,
    };
    if bytes.len() as u64 > limit {
        return Err(format!("larger than {} MiB", limit >> 20));
    }
    Ok(Some(bytes))
}
