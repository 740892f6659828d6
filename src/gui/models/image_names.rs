//! Short names of images, for tabs, titles and logs.

use std::collections::BTreeMap;

use crate::report::distinct_names;
use crate::source::{FORMAT_FOLDERS, without_prefix};

/// Characters of a name at which images of the same name are told apart by more than their folders.
const WIDTH: usize = 48;
/// Characters of a shortened digest.
const DIGEST: usize = 12;

/// A name for each reference, all of them different, in the same order: the last part with its tag, or the folder
/// around it where that part is named after a format. Where several have the same name, as many folders are put before
/// it as tell them apart. References are safe to show, and so are the names.
pub fn image_names(shown: &[&str]) -> Vec<String> {
    let parts: Vec<NameParts<'_>> = shown.iter().map(|shown| NameParts::of(shown)).collect();
    let mut names: Vec<String> = parts.iter().map(|parts| parts.name(0)).collect();
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, name) in names.iter().enumerate() {
        groups.entry(name.clone()).or_default().push(place);
    }
    for group in groups.values().filter(|group| group.len() > 1) {
        let depth = group.iter().map(|place| parts[*place].folders.len()).max().unwrap_or(0);
        let way = |deep: usize| group.iter().map(|place| parts[*place].name(deep)).collect::<Vec<_>>();
        let whole = || group.iter().map(|place| shown[*place].to_owned()).collect();
        let ways: Vec<Vec<String>> = (0..=depth).map(way).chain(std::iter::once_with(whole)).collect();
        for (place, name) in group.iter().zip(distinct_names(&ways, WIDTH)) {
            names[*place] = name;
        }
    }
    names
}

/// The name of one image.
pub fn image_name(shown: &str) -> String {
    NameParts::of(shown).name(0)
}

/// A reference in parts.
struct NameParts<'a> {
    /// The folders that lead to it, outermost first.
    folders: Vec<&'a str>,
    /// Its last part, or the one before it.
    base: &'a str,
    /// Its tag or digest, with the sign before it.
    version: String,
}

impl<'a> NameParts<'a> {
    fn of(shown: &'a str) -> Self {
        let whole = shown.trim_end_matches('/');
        let path = if whole.starts_with("sample:") { whole } else { without_prefix(whole) };
        let mut folders: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let last = folders.pop().unwrap_or_default();
        // Samples have their colon in the name, and a digest alone is one.
        let digest = last.starts_with("sha256:");
        let at = if digest || last.starts_with("sample:") { None } else { last.find([':', '@']) };
        let (mut base, version) = last.split_at(at.unwrap_or(last.len()));
        if FORMAT_FOLDERS.contains(&base) && !is_hosted(whole, path) {
            base = folders.pop().unwrap_or(base);
        }
        if digest {
            let hex = &base["sha256:".len()..];
            base = hex.get(..DIGEST).unwrap_or(hex);
        }
        let version = match version.split_once("sha256:") {
            Some((before, hex)) => format!("{before}{}", hex.get(..DIGEST).unwrap_or(hex)),
            None => version.to_owned(),
        };
        Self { folders, base: if base.is_empty() { shown } else { base }, version }
    }

    /// The name with so many folders before it.
    fn name(&self, folders: usize) -> String {
        let from = self.folders.len().saturating_sub(folders);
        let mut parts = self.folders[from..].to_vec();
        parts.push(self.base);
        format!("{}{}", parts.join("/"), self.version)
    }
}

/// Whether a reference names a repository of a registry or an engine: its parts are no folders. A name without a
/// prefix, and without what only a path begins with, is one if it begins with a host.
fn is_hosted(whole: &str, path: &str) -> bool {
    if path.starts_with(['/', '.', '~']) && !whole.starts_with("docker:") {
        return false;
    }
    let local = ["oci:", "oci-archive:", "docker-archive:", "dir:", "rootfs:"];
    if local.iter().any(|prefix| whole.starts_with(prefix)) {
        return false;
    }
    whole != path || path.split_once('/').is_some_and(|(host, _)| host.contains(['.', ':']))
}

#[cfg(test)]
mod tests {
    use super::{image_name, image_names};

    #[test]
    fn names_are_the_last_part_that_says_something() {
        for (shown, wanted) in [
            ("/images/tool.tar", "tool.tar"),
            ("oci:/images/tool:latest", "tool:latest"),
            ("oci:tool", "tool"),
            ("oci:/images/R1/oci:v1", "R1:v1"),
            ("/images/R1/oci", "R1"),
            ("dir:/images/R2/dir/", "R2"),
            ("rootfs:/mnt/host/rootfs", "host"),
            ("oci:oci:v1", "oci:v1"),
            ("sample:devel", "sample:devel"),
            ("rootfs:/mnt/root/", "root"),
            ("rootfs:/", "rootfs:/"),
            ("/", "/"),
            ("registry.example/team/image:1", "image:1"),
            ("registry.example/team/oci:1", "oci:1"),
            ("docker://ghcr.io/team/rootfs", "rootfs"),
            ("docker-daemon:image:1", "image:1"),
            ("docker://a.example/image@sha256:4f53cda18c2baa0c0354", "image@4f53cda18c2b"),
            ("podman:sha256:4f53cda18c2baa0c0354", "4f53cda18c2b"),
        ] {
            assert_eq!(image_name(shown), wanted, "{shown}");
        }
    }

    #[test]
    fn equal_names_get_the_folders_that_differ() {
        for (shown, wanted) in [
            (vec!["oci:/x/R1/oci:v1", "oci:/x/R2/oci:v1"], vec!["R1:v1", "R2:v1"]),
            (vec!["/a/tool.tar", "/b/tool.tar", "/c/else.tar"], vec!["a/tool.tar", "b/tool.tar", "else.tar"]),
            (vec!["/a/x/tool.tar", "/b/x/tool.tar"], vec!["a/x/tool.tar", "b/x/tool.tar"]),
            (vec!["oci:/a/R/oci:1", "oci:/b/R/oci:1", "oci:/a/R/oci:2"], vec!["a/R:1", "b/R:1", "R:2"]),
            (vec!["tool:1", "docker-daemon:tool:1"], vec!["tool:1", "docker-daemon:tool:1"]),
            (vec!["/t.tar", "/t.tar"], vec!["t.tar #1", "t.tar #2"]),
        ] {
            assert_eq!(image_names(&shown), wanted, "{shown:?}");
        }
    }

    #[test]
    fn any_text_has_a_name() {
        let odd = ["", ":", "@", "oci:", "/é:é", "sha256:", "sha256:é", "a@sha256:ééé", "oci/oci/oci"];
        let names = image_names(&odd);
        assert_eq!(names.len(), odd.len());
        assert!(names.iter().skip(1).all(|name| !name.is_empty()), "{names:?}");
    }
}
