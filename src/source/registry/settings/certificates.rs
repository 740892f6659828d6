//! certs.d: certificates for single registries, as stored by Docker and containers/image.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::super::access::Tried;
use super::super::environment::Environment;

/// Certificates in the folders of a registry.
#[derive(Debug, Default)]
pub(super) struct Certificates {
    /// `*.crt`: certificates to trust.
    pub(super) ca_files: Vec<PathBuf>,
    /// `*.cert` with its `*.key`: the client certificate.
    pub(super) identity: Option<(PathBuf, PathBuf)>,
}

/// The certificates for the names (with their ports) of a host: those of the user, then those of the machine.
pub(super) fn of(hosts: &[&str], environment: &Environment, faults: &mut Vec<Tried>) -> Certificates {
    let mut found = Certificates::default();
    // A name of dots would lead to another folder.
    let hosts = || hosts.iter().filter(|host| !host.bytes().all(|byte| byte == b'.'));
    let users = environment.config.iter().flat_map(|config| {
        // Rootless Docker reads its own folder.
        ["containers", "docker"].map(|owner| config.join(owner))
    });
    let machines = ["containers", "docker"].map(|owner| environment.etc.join(owner));
    let owners = users.chain(machines);
    for folder in owners.flat_map(|owner| hosts().map(move |host| owner.join("certs.d").join(host))) {
        match files(&folder) {
            Ok(files) => found.add(&files, environment, faults),
            Err(error) => {
                faults.push(Tried { way: environment.shown(&folder), result: error.to_string() });
            }
        }
    }
    found
}

/// Files of a folder in order; none if the folder does not exist.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let mut files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

impl Certificates {
    fn add(&mut self, files: &[PathBuf], environment: &Environment, faults: &mut Vec<Tried>) {
        let ends = |path: &&PathBuf, end: &str| path.extension().is_some_and(|found| found == end);
        self.ca_files.extend(files.iter().filter(|path| ends(path, "crt")).cloned());
        for certificate in files.iter().filter(|path| ends(path, "cert")) {
            let key = certificate.with_extension("key");
            if files.contains(&key) {
                self.identity.get_or_insert((certificate.clone(), key));
            } else {
                let result = "no key beside it (same name, extension .key)".to_owned();
                faults.push(Tried { way: environment.shown(certificate), result });
            }
        }
    }
}
