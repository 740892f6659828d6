//! `node_modules/.package-lock.json`, in which npm 7 and later record what they installed in that folder, and the
//! `package.json` of a project.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A package of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Path of its folder, relative to the folder with `node_modules`: `node_modules/a/node_modules/b`.
    pub path: String,
    /// Its version, as written.
    pub version: String,
    /// Whether only development dependencies of the project require it.
    pub is_development: bool,
    /// Whether nothing that the project declares requires it, or it is a link to a folder: `npm prune` removes more than
    /// the packages for development then.
    pub is_foreign: bool,
}

#[derive(Deserialize)]
struct Record {
    packages: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    version: String,
    #[serde(default)]
    dev: bool,
    #[serde(default)]
    extraneous: bool,
    #[serde(default)]
    link: bool,
}

/// The packages of the record, sorted by path; none if it is no such record.
pub fn read_installed(bytes: &[u8]) -> Vec<Installed> {
    let Ok(record) = serde_json::from_slice::<Record>(bytes) else { return Vec::new() };
    let package = |(path, entry): (String, Entry)| Installed {
        path,
        version: entry.version,
        is_development: entry.dev,
        is_foreign: entry.extraneous || entry.link,
    };
    record.packages.into_iter().map(package).collect()
}

/// What a project says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Project {
    /// Commands by name, as `npm run` starts them.
    pub scripts: BTreeMap<String, String>,
    /// Names of the packages that it requires for development, with versions.
    pub dev_dependencies: BTreeMap<String, String>,
}

impl Project {
    /// Parses `package.json`; nothing if it cannot be parsed.
    pub fn read(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Project, read_installed};

    #[test]
    fn the_record_says_what_is_for_development() {
        let record = br#"{"name": "service", "lockfileVersion": 3, "requires": true, "packages": {
            "node_modules/typescript": {"version": "5.9.3", "dev": true, "bin": {"tsc": "bin/tsc"}},
            "node_modules/express": {"version": "5.1.0", "dependencies": {"debug": "^4"}},
            "node_modules/fsevents": {"version": "2.3.3", "dev": true, "optional": true},
            "node_modules/both": {"version": "1.0.0", "devOptional": true},
            "node_modules/own": {"resolved": "own", "link": true}}}"#;
        let read = read_installed(record);
        let development: Vec<&str> =
            read.iter().filter(|one| one.is_development).map(|one| one.path.as_str()).collect();
        assert_eq!(development, ["node_modules/fsevents", "node_modules/typescript"]);
        assert_eq!((read.len(), read[4].version.as_str()), (5, "5.9.3"));
    }

    #[test]
    fn a_project_has_scripts() {
        let project = Project::read(
            br#"{"name": "service", "scripts": {"start": "tsx src/index.ts"}, "devDependencies": {"tsx": "^4"}}"#,
        );
        assert_eq!(project.scripts["start"], "tsx src/index.ts");
        assert!(project.dev_dependencies.contains_key("tsx"));
        assert_eq!(Project::read(b"[]"), Project::default());
    }

    #[test]
    fn other_files_record_nothing() {
        for other in [&b""[..], b"{}", b"[1]", br#"{"packages": [1]}"#, br#"{"packages": {"a": {"dev": 1}}}"#]
        {
            assert!(read_installed(other).is_empty());
        }
    }
}
