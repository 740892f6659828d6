//! Short names of the images, for the heads of columns.

use std::collections::BTreeSet;

use super::model::{CompareImage, CompareReport};
use crate::base::text::{elide_end, elide_middle, printable};

/// Characters of a shortened digest.
const DIGEST_WIDTH: usize = 12;
/// Where the parts of a name end.
const ENDS: [char; 6] = ['-', '_', '.', '/', ':', '@'];

/// What an image is called by its source, and how it was given.
type Names = (String, String);

/// A short name for each image, all of them different, at most `width` characters (6 or more): the tag, the last
/// part of the name, or more where these are the same; what all have in common is left out where it is too long.
pub(super) fn titles(report: &CompareReport, width: usize) -> Vec<String> {
    let names = |image: &CompareImage| {
        let reference = printable(&image.reference);
        (image.tags.first().map_or_else(|| reference.clone(), |tag| printable(tag)), reference)
    };
    of_names(&report.images.iter().map(names).collect::<Vec<_>>(), width)
}

fn of_names(images: &[Names], width: usize) -> Vec<String> {
    let ways: [fn(&Names) -> String; 6] = [
        |(name, _)| tag(name),
        |(name, _)| last_part(name),
        |(name, _)| name.clone(),
        |(_, reference)| tag(reference),
        |(_, reference)| last_part(reference),
        |(_, reference)| reference.clone(),
    ];
    let named: Vec<Vec<String>> = ways.iter().map(|way| images.iter().map(way).collect()).collect();
    distinct_names(&named, width)
}

/// Names that all differ, at most `width` characters (6 or more), from `ways` to name the same images, shortest first:
/// the first way in which all differ; without what they have in common, cut in the middle, or numbered, where that is
/// too long or they never differ.
pub fn distinct_names(ways: &[Vec<String>], width: usize) -> Vec<String> {
    let all: Vec<&Vec<String>> = ways.iter().filter(|names| distinct(names)).collect();
    let fits = |names: &Vec<String>| names.iter().all(|name| name.chars().count() <= width);
    let whole = all.iter().find(|names| fits(names)).map(|names| (*names).clone());
    let parts = || all.iter().map(|names| without_common(names)).find(|names| fits(names) && distinct(names));
    let cut = |names: &&Vec<String>| names.iter().map(|name| elide_middle(name, width)).collect::<Vec<_>>();
    let cut = || all.iter().map(cut).find(|names| distinct(names));
    whole.or_else(parts).or_else(cut).unwrap_or_else(|| {
        let most = |names: &&Vec<String>| names.iter().collect::<BTreeSet<_>>().len();
        // Of those that distinguish most images, the first: the shortest.
        ways.iter().rev().max_by_key(most).map(|best| numbered(best, width)).unwrap_or_default()
    })
}

/// Names distinguished by a number only: the same image given twice, or very long names.
fn numbered(names: &[String], width: usize) -> Vec<String> {
    let title = |(number, name): (usize, &String)| {
        let number = format!("#{}", number + 1);
        match width.checked_sub(number.len() + 1).filter(|left| *left > 3) {
            Some(left) => format!("{} {number}", elide_end(name, left)),
            None => number,
        }
    };
    names.iter().enumerate().map(title).collect()
}

fn distinct(names: &[String]) -> bool {
    let different: BTreeSet<&String> = names.iter().collect();
    different.len() == names.len() && names.iter().all(|name| !name.is_empty())
}

/// `12.4-base` of `nvidia/cuda:12.4-base`; the last part if there is no meaningful tag.
fn tag(name: &str) -> String {
    let last = last_part(name);
    match last.rsplit_once(':') {
        Some((_, tag)) if !tag.is_empty() && tag != "latest" => tag.to_owned(),
        Some((before, "latest")) => before.to_owned(),
        _ => last,
    }
}

/// `cuda:12.4-base` of `nvidia/cuda:12.4-base`, with a digest cut short.
fn last_part(name: &str) -> String {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    match last.split_once('@') {
        Some((before, digest)) => {
            let hex = digest.split_once(':').map_or(digest, |(_, hex)| hex);
            format!("{before}@{}", hex.chars().take(DIGEST_WIDTH).collect::<String>())
        }
        None => last.to_owned(),
    }
}

/// The names without the parts that all begin or end with; never without all of one.
fn without_common(names: &[String]) -> Vec<String> {
    let Some(first) = names.first() else { return Vec::new() };
    let mut starts = first.rmatch_indices(ENDS).map(|(at, end)| &first[..at + end.len()]);
    let prefix = starts.find(|start| names.iter().all(|name| rest(name, start, "").is_some()));
    let prefix = prefix.unwrap_or_default();
    let mut ends = first.match_indices(ENDS).map(|(at, _)| &first[at..]);
    let suffix = ends.find(|end| names.iter().all(|name| rest(name, prefix, end).is_some()));
    let suffix = suffix.unwrap_or_default();
    names.iter().filter_map(|name| rest(name, prefix, suffix)).map(str::to_owned).collect()
}

fn rest<'n>(name: &'n str, prefix: &str, suffix: &str) -> Option<&'n str> {
    name.strip_prefix(prefix)?.strip_suffix(suffix).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::of_names;

    fn shown(names: &[&str], width: usize) -> Vec<String> {
        let names: Vec<_> = names.iter().map(|name| ((*name).to_owned(), (*name).to_owned())).collect();
        of_names(&names, width)
    }

    #[test]
    fn tags_name_images_where_they_differ() {
        let cuda = ["nvidia/cuda:12.4.1-base-ubuntu22.04", "nvidia/cuda:12.4.1-devel-ubuntu22.04"];
        assert_eq!(shown(&cuda, 24), ["12.4.1-base-ubuntu22.04", "12.4.1-devel-ubuntu22.04"]);
        assert_eq!(shown(&cuda, 9), ["base", "devel"]);
        assert_eq!(shown(&["sample:runtime", "sample:devel"], 9), ["runtime", "devel"]);
        assert_eq!(shown(&["a/one:latest", "a/two:latest"], 9), ["one", "two"]);
        assert_eq!(shown(&["a/one:1", "a/two:1"], 9), ["one:1", "two:1"]);
        assert_eq!(shown(&["x/one:1", "y/one:1"], 9), ["x/one:1", "y/one:1"]);
        assert_eq!(shown(&["oci:/build/week1", "oci:/build/week2"], 9), ["week1", "week2"]);
    }

    #[test]
    fn names_differ_and_fit_whatever_is_given() {
        let long = "x".repeat(90);
        let (left, right) = (format!("{long}a{long}"), format!("{long}b{long}"));
        let digest = format!("a@sha256:{}", "0".repeat(64));
        let cases: [&[&str]; 5] = [
            &["sample:devel", "sample:devel"],
            &["rootfs:/", "rootfs:/", "rootfs:/"],
            &[&left, &right],
            &["-", "--", "", ":"],
            &["é:é", "é@é", &digest, &digest],
        ];
        for (names, width) in cases.iter().flat_map(|names| [6, 9, 24].map(|width| (*names, width))) {
            let titles = shown(names, width);
            assert_eq!(titles.len(), names.len());
            let different: std::collections::BTreeSet<&String> = titles.iter().collect();
            assert_eq!(different.len(), titles.len(), "{titles:?}");
            assert!(titles.iter().all(|title| (1..=width).contains(&title.chars().count())), "{titles:?}");
        }
    }
}
