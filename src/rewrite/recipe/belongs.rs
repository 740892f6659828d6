//! Whether a `FROM` can refer to the base of an image.

use crate::base::text::printable;
use crate::cuda::{BaseImage, Flavor};

/// A reference in parts.
struct Parts<'a> {
    /// The last parts of the repository: `nvidia/cuda`, or `ubuntu`.
    repository: &'a str,
    tag: &'a str,
}

/// Distributions by image name, and as spelled in NVIDIA's tags.
const DISTRIBUTIONS: [(&str, &str); 3] =
    [("ubuntu", "ubuntu"), ("rockylinux", "rockylinux"), ("debian", "debian")];

/// What does not match; `None` when it may match, which includes everything unknown.
pub(super) fn contradiction(from: &str, told: &BaseImage) -> Option<String> {
    if from.contains('$') {
        return None;
    }
    let parts = parts(from);
    let against =
        |is: &str| Some(format!("it starts from {}, but the image was built on {is}", printable(from)));
    if let Some(distribution) = &told.distribution
        && let Some(named) = distribution_of(&parts)
        && named.0 == distribution.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
        && !is_prefix(named.1, distribution.get(named.0.len()..).unwrap_or_default())
    {
        return against(distribution);
    }
    let is_cuda = parts.repository == "nvidia/cuda";
    if is_cuda {
        let Some(version) = &told.cuda_version else { return against("an image without CUDA") };
        let reference = told.reference.as_deref().map_or_else(|| format!("CUDA {version}"), str::to_owned);
        let words: Vec<&str> = parts.tag.split('-').collect();
        let named = words.first().filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        if named.is_some_and(|named| !is_prefix(named, version)) {
            return against(&reference);
        }
        let flavor = match (words.contains(&"base"), words.contains(&"runtime"), words.contains(&"devel")) {
            (true, false, false) => Flavor::Base,
            (false, true, false) => Flavor::Runtime,
            (false, false, true) => Flavor::Devel,
            _ => return None,
        };
        return if told.flavor != Flavor::None && told.flavor != flavor { against(&reference) } else { None };
    }
    // Another version of the same image.
    let other = self::parts(told.reference.as_deref()?);
    let same = parts.repository == other.repository && told.flavor == Flavor::None;
    let version = |tag: &str| {
        tag.split('-').next().filter(|tag| tag.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned)
    };
    let (mine, its) = (version(parts.tag)?, version(other.tag)?);
    if same && !is_prefix(&mine, &its) && !is_prefix(&its, &mine) {
        against(told.reference.as_deref()?)
    } else {
        None
    }
}

/// Whether two references may name the same image.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (parts(one), parts(other));
    one.repository == other.repository && one.tag == other.tag
}

fn parts(reference: &str) -> Parts<'_> {
    let name = reference.split('@').next().unwrap_or(reference);
    let start = name.rfind('/').map_or(0, |at| at + 1);
    let (path, tag) = match name[start..].find(':') {
        Some(at) => (&name[..start + at], &name[start + at + 1..]),
        None => (name, ""),
    };
    let path = path.strip_prefix("docker.io/").unwrap_or(path);
    let path = path.strip_prefix("library/").unwrap_or(path);
    // A mirror has its own host.
    let mut from_end = path.rmatch_indices('/').map(|(at, _)| at + 1);
    let (last, second) = (from_end.next().unwrap_or(0), from_end.next());
    let repository = if path[last..] == *"cuda" { &path[second.unwrap_or(0)..] } else { &path[last..] };
    Parts { repository, tag }
}

/// The distribution and release in an image name, its own or NVIDIA's.
fn distribution_of<'a>(parts: &Parts<'a>) -> Option<(&'static str, &'a str)> {
    for (repository, spelled) in DISTRIBUTIONS {
        let release = if parts.repository == repository {
            parts.tag
        } else if parts.repository.ends_with("cuda") {
            match parts.tag.split('-').find_map(|word| word.strip_prefix(spelled)) {
                Some(release) => release,
                None => continue,
            }
        } else {
            continue;
        };
        let release = release.split('-').next().unwrap_or(release);
        return release.starts_with(|c: char| c.is_ascii_digit()).then_some((spelled, release));
    }
    None
}

/// Whether a version is a prefix of another: `12.4` of `12.4.1`, and not of `12.40`.
fn is_prefix(start: &str, version: &str) -> bool {
    version.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
