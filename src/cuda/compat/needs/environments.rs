//! Python environments that the image's start command does not use.

use super::look::Look;
use crate::cuda::Framework;
use crate::cuda::links::{DEFAULT_PATH, file_name, folder_of};
use crate::formats::string_references::is_wrapper;

/// Package folders that the started program does not use, or possibly not: those of other virtual
/// environments. If the environment is unknown, those of frameworks that occur in several environments.
pub(super) fn aside(look: &Look<'_>) -> Vec<Vec<u8>> {
    let list = &look.inventory.frameworks;
    let places: Vec<(&Framework, Option<&[u8]>)> =
        list.iter().map(|framework| (framework, environment(look, &framework.path))).collect();
    if places.iter().all(|(_, environment)| environment.is_none()) {
        return Vec::new();
    }
    let home = home(look);
    // Environments may have several paths.
    let same = |one: Option<&[u8]>, other: Option<&[u8]>| match (one, other) {
        (Some(one), Some(other)) => one == other || look.paths.lookup(one) == look.paths.lookup(other),
        (None, None) => true,
        _ => false,
    };
    let is_aside = |(framework, place): &(&Framework, Option<&[u8]>)| {
        let elsewhere = |at: Option<&[u8]>| {
            places.iter().any(|(other, environment)| other.name == framework.name && same(*environment, at))
        };
        match &home {
            Some(home) if same(*place, Some(home)) => false,
            // System packages may be visible from an environment, which takes precedence.
            Some(home) => place.is_some() || elsewhere(Some(home)),
            None => places
                .iter()
                .any(|(other, environment)| other.name == framework.name && !same(*environment, *place)),
        }
    };
    let mut found: Vec<Vec<u8>> =
        places.iter().filter(|place| is_aside(place)).map(|(framework, _)| framework.path.clone()).collect();
    found.sort();
    found.dedup();
    found
}

/// The environment of a package folder: `/opt/venv` for `/opt/venv/lib/python3.12/site-packages`.
fn environment<'p>(look: &Look<'_>, folder: &'p [u8]) -> Option<&'p [u8]> {
    const LIBRARIES: &[u8] = b"/lib/python";
    let at = folder.windows(LIBRARIES.len()).rposition(|part| part == LIBRARIES)?;
    let prefix = folder.get(..at)?;
    let has = |name: &str| look.paths.lookup(&[prefix, b"/", name.as_bytes()].concat()).is_some();
    (has("pyvenv.cfg") || has("conda-meta")).then_some(prefix)
}

/// The prefix of the Python that the image starts; `None` if it starts another program, which may start any
/// Python.
fn home(look: &Look<'_>) -> Option<Vec<u8>> {
    let config = look.input.image.run_config()?;
    let mut words = config.entrypoint().iter().chain(config.cmd()).flatten().map(String::as_bytes);
    // Another first word, such as a script or `conda run`, may select another environment.
    let is_before = |word: &&[u8]| word.starts_with(b"-") || is_wrapper(file_name(word));
    let python = words.find(|word| !is_before(word)).filter(|word| file_name(word).starts_with(b"python"))?;
    let path = look.variable("PATH");
    let folders: Vec<&[u8]> = match path {
        "" => DEFAULT_PATH.to_vec(),
        path => path.split(':').map(str::as_bytes).collect(),
    };
    let found = if python.contains(&b'/') {
        python.to_vec()
    } else {
        let mut files = folders.iter().map(|folder| [folder, &b"/"[..], python].concat());
        files.find(|file| look.paths.lookup(file).is_some())?
    };
    let folder = folder_of(&found);
    found.starts_with(b"/").then(|| folder.strip_suffix(b"/bin").unwrap_or(folder).to_vec())
}
