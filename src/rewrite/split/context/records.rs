//! What installers of Python packages and npm record: whether they called git, and where projects are.

use hashbrown::HashSet;

use super::SplitContext;
use crate::base::convert::layer16;
use crate::formats::document::DocumentKind;
use crate::layer::Document;
use crate::rootfs::NodeKind;

impl SplitContext<'_> {
    /// Whether a Python package was installed from a repository, an archive or a folder: PEP 610 records this in a
    /// file.
    pub(in crate::rewrite::split) fn installs_from_repositories(&self) -> bool {
        self.rootfs.nodes().any(|node| node.name() == b"direct_url.json" && node.kind() == NodeKind::File)
    }

    /// Whether the installation of a package in a layer called git: pip and npm record what they cloned (PEP 610), and
    /// a project may get its version from its repository.
    pub(in crate::rewrite::split) fn calls_git(&self, layer: u16) -> bool {
        let has_versions = std::cell::LazyCell::new(|| self.has_versions_of_git());
        self.documents(layer).any(|document| {
            let bytes = || document.bytes().unwrap_or_default();
            match document.kind {
                DocumentKind::PipOrigin => {
                    let origin: Option<serde_json::Value> = serde_json::from_slice(&bytes()).ok();
                    origin.is_some_and(|origin| {
                        origin["vcs_info"]["vcs"] == "git" || origin["dir_info"].is_object() && *has_versions
                    })
                }
                DocumentKind::NpmInstalled => {
                    memchr::memmem::find(&bytes(), b"\"resolved\": \"git+").is_some()
                }
                _ => false,
            }
        })
    }

    /// Folders of projects that pip installed as editable: Python imports them from there.
    pub(in crate::rewrite::split) fn editable_projects(&self) -> Vec<Vec<u8>> {
        let layers = 0..layer16(self.input.layers.len());
        let origins = layers.flat_map(|layer| self.documents(layer));
        let origins = origins.filter(|document| document.kind == DocumentKind::PipOrigin);
        let folder = |document: &Document| {
            let origin: serde_json::Value = serde_json::from_slice(&document.bytes().ok()?).ok()?;
            let is_editable = origin["dir_info"]["editable"] == true;
            let path = origin["url"].as_str().filter(|_| is_editable)?.strip_prefix("file://")?;
            Some(path.replace("%20", " ").into_bytes())
        };
        origins.filter_map(folder).collect()
    }

    /// Whether a Python project of the image builds with a package that asks git for the version.
    fn has_versions_of_git(&self) -> bool {
        const BY_GIT: [&[u8]; 9] = [
            b"dunamai",
            b"hatch-vcs",
            b"pbr",
            b"poetry-dynamic-versioning",
            b"setuptools-git-versioning",
            b"setuptools-scm",
            b"setuptools_scm",
            b"versioneer",
            b"versioningit",
        ];
        let layers = 0..layer16(self.input.layers.len());
        layers.flat_map(|layer| self.documents(layer)).any(|document| {
            document.kind == DocumentKind::PythonProject && {
                let text = document.bytes().unwrap_or_default();
                BY_GIT.iter().any(|name| memchr::memmem::find(&text, name).is_some())
            }
        })
    }

    /// Names of the packages that the base image has, by dpkg's lists of their files.
    pub(in crate::rewrite::split) fn packages_of_base(&self) -> HashSet<String> {
        let mut names = HashSet::new();
        for layer in 0..self.base_layers {
            let index = self.rootfs.layer(layer);
            for document in self.documents(layer).filter(|document| document.kind == DocumentKind::DpkgList) {
                let name = String::from_utf8_lossy(index.name(document.entry)).into_owned();
                let name = name.strip_suffix(".list").unwrap_or(&name);
                names.insert(name.split(':').next().unwrap_or(name).to_owned());
            }
        }
        names
    }

    fn documents(&self, layer: u16) -> impl Iterator<Item = &Document> {
        let read = self.input.layers.get(usize::from(layer)).and_then(Option::as_ref);
        read.into_iter().flat_map(|read| read.facts.documents())
    }
}
