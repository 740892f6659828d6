//! One place for the CUDA version that several `FROM`s name.

use std::collections::BTreeMap;

use crate::formats::dockerfile::{Dockerfile, Instruction, Keyword, Span};
use crate::rewrite::value::{Applicability, Edit};

/// The variable; the name that NVIDIA's images use too.
const NAME: &str = "CUDA_VERSION";

/// The repositories with such tags, whatever registry holds them.
const REPOSITORY: &str = "nvidia/cuda";

/// A version that the file has in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rewrite) struct VersionArgument {
    /// The version, such as `12.4.1`.
    pub(in crate::rewrite) version: String,
    /// The edits that put the variable in, and into the `FROM`s.
    pub(in crate::rewrite) edits: Vec<Edit>,
}

impl VersionArgument {
    /// A reference of the same repositories and version with the variable in its tag; others as they are.
    pub(in crate::rewrite) fn in_reference(&self, reference: &str) -> String {
        match version(reference).map(|at| (reference.get(at.clone()), at)) {
            Some((Some(found), at)) if found == self.version => {
                let (before, after) = (reference.get(..at.start), reference.get(at.end..));
                format!("{}${{{NAME}}}{}", before.unwrap_or_default(), after.unwrap_or_default())
            }
            _ => reference.to_owned(),
        }
    }
}

/// Where a reference names a version of CUDA in its tag: `nvidia/cuda:12.4.1-devel-ubuntu22.04`. `None` for
/// references with a digest, which says which image is meant, and for tags with variables.
fn version(reference: &str) -> Option<Span> {
    let (repository, tag) = reference.rsplit_once(':')?;
    let is_ours =
        repository.strip_suffix(REPOSITORY).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    if !is_ours || reference.contains(['@', '$']) {
        return None;
    }
    let (version, flavor) = tag.split_once('-')?;
    let mut parts = version.split('.');
    let is_number =
        |part: &str| !part.is_empty() && part.len() < 4 && part.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = parts.clone().count();
    let is_flavor = ["base", "runtime", "devel", "cudnn"].iter().any(|known| flavor.starts_with(known));
    let is_version = (2..=3).contains(&numbers) && parts.all(is_number) && is_flavor;
    let start = repository.len() + 1;
    is_version.then(|| start..start + version.len())
}

/// The version that most `FROM`s name, as an `ARG` before the first of them; `None` when fewer than `least` do,
/// or the name of the variable is taken.
pub(in crate::rewrite) fn version_argument(file: &Dockerfile, least: usize) -> Option<VersionArgument> {
    let mut places: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
    for from in file.instructions.iter().filter(|one| one.keyword == Keyword::From) {
        let Some(word) = from.words.first().filter(|word| file.slice(&word.span) == word.text) else {
            continue;
        };
        if let Some(at) = version(&word.text)
            && let Some(version) = word.text.get(at.clone())
        {
            places.entry(version).or_default().push(word.span.start + at.start..word.span.start + at.end);
        }
    }
    let (version, places) = places.into_iter().max_by_key(|(_, places)| places.len())?;
    if places.len() < least.max(1) {
        return None;
    }
    let first = file.instructions.iter().position(|one| one.keyword == Keyword::From)?;
    let edit = |at: Span, with: String, reason: &str| Edit {
        at,
        with,
        reason: reason.to_owned(),
        applicability: Applicability::Review,
        bytes: None,
    };
    let mut edits = Vec::new();
    match declared(file, first) {
        Declared::Not => {
            let from = file.instructions.get(first)?;
            let is_lower = file.slice(&from.keyword_span).chars().all(char::is_lowercase);
            let keyword = if is_lower { "arg" } else { "ARG" };
            edits.push(edit(
                from.span.start..from.span.start,
                format!("{keyword} {NAME}={version}{}", file.line_end()),
                "The version of CUDA in one place: all stages change together.",
            ));
        }
        Declared::As(value) if value == version => {}
        Declared::As(_) | Declared::Elsewhere => return None,
    }
    let reason = format!("The version of CUDA is that of {NAME}.");
    edits.extend(places.into_iter().map(|at| edit(at, format!("${{{NAME}}}"), &reason)));
    Some(VersionArgument { version: version.to_owned(), edits })
}

/// Where the variable is declared already.
enum Declared<'a> {
    Not,
    /// Before the first `FROM`, once, with this value.
    As(&'a str),
    /// Somewhere where another value would be seen.
    Elsewhere,
}

fn declared(file: &Dockerfile, first: usize) -> Declared<'_> {
    let declares = |(place, one): (usize, &'_ Instruction)| -> Option<(usize, String)> {
        let mut words = one.words.iter().filter(|_| one.keyword == Keyword::Arg);
        let word = words.find(|word| word.text.split('=').next() == Some(NAME))?;
        Some((place, word.text.clone()))
    };
    let mut found = file.instructions.iter().enumerate().filter_map(declares);
    match (found.next(), found.next()) {
        (None, _) => Declared::Not,
        (Some((place, _)), None) if place < first => {
            let words = file.instructions.get(place).map(|one| one.words.as_slice()).unwrap_or_default();
            let value = words.iter().find_map(|word| word.text.strip_prefix(NAME)?.strip_prefix('='));
            value.map_or(Declared::Elsewhere, Declared::As)
        }
        _ => Declared::Elsewhere,
    }
}
