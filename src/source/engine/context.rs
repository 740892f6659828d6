//! Docker contexts: named addresses, selected by `docker context use`.
//!
//! `config.json` names the current one; its address is in `contexts/meta/SHA256-OF-NAME/meta.json`, TLS keys are in
//! `contexts/tls/SHA256-OF-NAME/docker` (docker/cli, `cli/context/store`).

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::files::open_regular;
use crate::base::digest;
use crate::base::redact::json_fault;
use crate::base::text::{elide_end, printable};

/// Facts of the machine that determine engine locations.
pub(super) struct EngineEnvironment<'a> {
    lookup: &'a dyn Fn(&str) -> Option<String>,
    pub(super) user: u32,
}

impl<'a> EngineEnvironment<'a> {
    /// From the environment variables of `lookup` and a user id.
    pub(super) fn new(lookup: &'a dyn Fn(&str) -> Option<String>, user: u32) -> Self {
        Self { lookup, user }
    }

    /// A variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        (self.lookup)(name).filter(|value| !value.is_empty())
    }
}

/// The context that is in use.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Context {
    /// Its name, safe to show.
    pub(super) name: String,
    /// Address and whether it uses TLS; or why they are unknown.
    pub(super) host: Result<(String, bool), String>,
}

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "currentContext")]
    current: Option<String>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "Endpoints")]
    endpoints: Endpoints,
}

#[derive(Deserialize)]
struct Endpoints {
    docker: Option<Endpoint>,
}

#[derive(Deserialize)]
struct Endpoint {
    #[serde(rename = "Host", default)]
    host: String,
}

/// Size limit of Docker's documents, with the logins of many hosts in them.
const MOST: u64 = 4 << 20;
const SHOWN: usize = 80;

/// The current context; `None` for the default one, which is Docker's socket.
pub(super) fn current(around: &EngineEnvironment<'_>) -> Option<Context> {
    let folder = match around.variable("DOCKER_CONFIG") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(&around.variable("HOME")?).join(".docker"),
    };
    let name = match around.variable("DOCKER_CONTEXT") {
        Some(name) => name,
        None => match read::<Config>(&folder.join("config.json"))? {
            Ok(config) => config.current?,
            Err(fault) => {
                let host = Err(format!("cannot read config.json: {fault}"));
                return Some(Context { name: "of config.json".into(), host });
            }
        },
    };
    if name.is_empty() || name == "default" {
        return None;
    }
    let host = endpoint(&folder, &name);
    Some(Context { name: elide_end(&printable(&name), SHOWN), host })
}

fn endpoint(folder: &Path, name: &str) -> Result<(String, bool), String> {
    let digest = digest::sha256_of(name.as_bytes());
    let id = digest.trim_start_matches("sha256:");
    let contexts = folder.join("contexts");
    let meta = read::<Meta>(&contexts.join("meta").join(id).join("meta.json"));
    let meta =
        meta.ok_or("no such context")?.map_err(|fault| format!("cannot read its meta.json: {fault}"))?;
    let host = meta.endpoints.docker.map(|endpoint| endpoint.host).unwrap_or_default();
    if host.is_empty() {
        return Err("no Docker engine address".into());
    }
    // TLS without verification is still TLS: its keys are in a separate folder.
    let keys = contexts.join("tls").join(id).join("docker");
    let tls = std::fs::read_dir(keys).is_ok_and(|mut files| files.next().is_some());
    Ok((host, tls))
}

/// A document; `None` if it does not exist.
fn read<T: DeserializeOwned>(path: &Path) -> Option<Result<T, String>> {
    let bytes = match open_regular(path) {
        Ok(section) => section.read_all(MOST),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => Err(error),
    };
    Some(match bytes {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| json_fault(&error)),
        Err(error) => Err(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// What is current in a folder with this config.json and these contexts.
    fn current_of(config: &str, contexts: &[(&str, &str, bool)], variable: Option<&str>) -> Option<Context> {
        let home = TempDir::new().unwrap();
        let folder = home.path().join(".docker");
        fs::create_dir_all(&folder).unwrap();
        if !config.is_empty() {
            fs::write(folder.join("config.json"), config).unwrap();
        }
        for (name, meta, tls) in contexts {
            let digest = digest::sha256_of(name.as_bytes());
            let at = |kind: &str| folder.join("contexts").join(kind).join(&digest[7..]);
            fs::create_dir_all(at("meta")).unwrap();
            fs::write(at("meta").join("meta.json"), meta).unwrap();
            if *tls {
                fs::create_dir_all(at("tls").join("docker")).unwrap();
                fs::write(at("tls").join("docker/ca.pem"), "x").unwrap();
            }
        }
        let home = home.path().to_str().unwrap().to_owned();
        let lookup = |name: &str| match name {
            "HOME" => Some(home.clone()),
            "DOCKER_CONTEXT" => variable.map(str::to_owned),
            _ => None,
        };
        current(&EngineEnvironment::new(&lookup, 0))
    }

    const META: &str =
        r#"{"Name":"far","Metadata":{},"Endpoints":{"docker":{"Host":"tcp://h:1","SkipTLSVerify":true}}}"#;

    #[test]
    fn the_current_context_is_read_from_the_configuration() {
        let config = r#"{"auths":{"r.example":{}},"currentContext":"far"}"#;
        let found = current_of(config, &[("far", META, false)], None).unwrap();
        assert_eq!((found.name.as_str(), found.host), ("far", Ok(("tcp://h:1".into(), false))));
        let found = current_of(config, &[("far", META, true)], None).unwrap();
        assert_eq!(found.host, Ok(("tcp://h:1".into(), true)));
    }

    #[test]
    fn the_variable_goes_before_the_configuration() {
        let contexts = [("far", META, false)];
        let found = current_of(r#"{"currentContext":"other"}"#, &contexts, Some("far")).unwrap();
        assert_eq!(found.host, Ok(("tcp://h:1".into(), false)));
        assert_eq!(current_of(r#"{"currentContext":"far"}"#, &contexts, Some("default")), None);
    }

    #[test]
    fn the_default_context_is_none() {
        for config in ["", "{}", r#"{"currentContext":""}"#, r#"{"currentContext":"default"}"#] {
            assert_eq!(current_of(config, &[], None), None, "{config}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_context_is_said() {
        let named = r#"{"currentContext":"far"}"#;
        for (config, meta, part) in [
            (named, None, "no such context"),
            (named, Some("{"), "meta.json"),
            (named, Some(r#"{"Endpoints":{}}"#), "no Docker engine address"),
            (named, Some(r#"{"Endpoints":{"docker":{}}}"#), "no Docker engine address"),
            ("[", None, "config.json"),
        ] {
            let contexts: Vec<(&str, &str, bool)> = meta.iter().map(|meta| ("far", *meta, false)).collect();
            let fault = current_of(config, &contexts, None).unwrap().host.unwrap_err();
            assert!(fault.contains(part), "{config} {meta:?}: {fault}");
        }
    }
}
