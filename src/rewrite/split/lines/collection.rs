//! Results of a divided build stage whose names contain a version, such as `app-1.0.dist-info`: a `COPY` that names them
//! fails with the next version, and patterns of `COPY` copy what is in folders, not the folders.

use super::{Division, Lines};
use crate::formats::dockerfile::Keyword;
use crate::rootfs::NodeId;

/// Results that the build stage copies into a folder for the final one.
pub(super) struct Collection {
    /// The command of the build stage.
    pub(super) command: String,
    /// The folder that it fills.
    pub(super) folder: String,
    /// Where its content belongs.
    pub(super) target: String,
    /// What of [`Division::later`] is in it.
    pub(super) folders: Vec<NodeId>,
}

impl Lines<'_, '_, '_, '_, '_> {
    /// The collection of what the code adds to the folder of a division; `None` if no name contains a version.
    pub(super) fn collection(&self, division: &Division) -> Option<Collection> {
        let context = self.keep.context;
        // Another user's copies have another owner.
        let mut users = self.steps.list[..=self.last].iter().filter(|step| step.keyword == Keyword::User);
        let user = users.next_back().map(|step| self.stage.text(step.place).trim_end());
        let of_root =
            |text: &str| matches!(text.split_whitespace().nth(1), Some("root" | "0" | "root:root" | "0:0"));
        if user.is_some_and(|text| !of_root(text)) {
            return None;
        }
        let node = |id: NodeId| context.rootfs.node(id);
        let home = |folder: NodeId, files: &[NodeId]| match files {
            [] => node(folder).parent().id(),
            _ => folder,
        };
        let has_version = |id: &NodeId| plain(node(*id).name()).is_some_and(|name| version(name).is_some());
        let at = division.later.iter().find_map(|(folder, files)| {
            let results = if files.is_empty() { std::slice::from_ref(folder) } else { files };
            results.iter().any(has_version).then(|| home(*folder, files))
        })?;
        let inside = || division.later.iter().filter(|(folder, files)| home(*folder, files) == at);
        let results = inside().flat_map(|(folder, files)| match files.as_slice() {
            [] => std::slice::from_ref(folder),
            files => files,
        });
        let names: Option<Vec<&str>> = results.map(|id| plain(node(*id).name())).collect();
        let names = names?;
        let versions: Vec<&str> = names.iter().copied().filter_map(version).collect();
        let mut patterns: Vec<String> = names.iter().map(|name| pattern(name, &versions)).collect();
        patterns.sort_unstable();
        patterns.dedup();
        let path = node(at).path();
        let at = path.split(|byte| *byte == b'/').map(plain).collect::<Option<Vec<&str>>>()?.join("/");
        let folder = format!("/tmp/{}/", at.rsplit('/').next()?);
        if context.paths.lookup(folder.trim_end_matches('/').as_bytes()).is_some() {
            return None;
        }
        let joint = format!(" {}\n    && ", self.stage.file.escape);
        let commands = [
            format!("mkdir {}", folder.trim_end_matches('/')),
            format!("cd {at}"),
            format!("cp -a {} {folder}", patterns.join(" ")),
        ];
        Some(Collection {
            command: commands.join(&joint),
            folder,
            target: format!("{at}/"),
            folders: inside().map(|(folder, _)| *folder).collect(),
        })
    }
}

/// A name that a shell leaves as it is; empty before the first `/` of a path.
fn plain(name: &[u8]) -> Option<&str> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._+-".contains(byte);
    std::str::from_utf8(name).ok().filter(|name| name.bytes().all(|byte| is_plain(&byte)))
}

/// The version in the name of a package's folder: `app-1.0.dist-info`, `app-1.0-py3.12.egg-info`.
fn version(name: &str) -> Option<&str> {
    let name = match name.strip_suffix(".egg-info") {
        Some(name) => name.split_once("-py").map_or(name, |(name, _)| name),
        None => name.strip_suffix(".dist-info")?,
    };
    let (_, version) = name.rsplit_once('-')?;
    version.starts_with(|first: char| first.is_ascii_digit()).then_some(version)
}

/// A pattern for a name with other versions: `app-*.dist-info`, `__editable___app_*_finder.py`.
fn pattern(name: &str, versions: &[&str]) -> String {
    versions.iter().fold(name.to_owned(), |name, version| {
        let name = name.replace(&format!("-{version}"), "-*");
        // `_1` may be part of the name.
        if version.contains('.') {
            name.replace(&format!("_{}", version.replace('.', "_")), "_*")
        } else {
            name
        }
    })
}
