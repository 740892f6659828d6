//! Which containers load, and how two images compare.

use std::collections::BTreeMap;

/// What happened to a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadOutcome {
    /// The driver loaded it.
    Loaded,
    /// It has only PTX for this GPU, which the driver would compile: error 223, since compiling is turned off.
    Jit,
    /// It has no code for this GPU: error 209.
    NoCode,
    /// The driver refused it with this error code of this call.
    Refused(i32, String),
    /// The process ended while the driver had it: why.
    Crashed(String),
    /// The driver did not return in time.
    TimedOut,
    /// It is above the limit and was not tried.
    TooLarge,
}

impl LoadOutcome {
    /// `CUDA_ERROR_NO_BINARY_FOR_GPU`.
    pub(super) const NO_CODE: i32 = 209;
    /// `CUDA_ERROR_JIT_COMPILATION_DISABLED`.
    pub(super) const NEEDS_JIT: i32 = 223;

    /// The word of it in documents.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Jit => "jit",
            Self::NoCode => "no-code",
            Self::Refused(..) => "refused",
            Self::Crashed(_) => "crashed",
            Self::TimedOut => "timed-out",
            Self::TooLarge => "too-large",
        }
    }

    /// Whether a change from this to `after` takes code from the GPU. Code that loaded must not have to be compiled.
    fn is_lost_by(&self, after: &Self) -> bool {
        match self {
            Self::Loaded => *after != Self::Loaded,
            Self::Jit => !matches!(after, Self::Loaded | Self::Jit),
            _ => false,
        }
    }

    /// What is to be said of it beyond the word.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::Refused(code, call) => Some(format!("{call} returned error {code}")),
            Self::Crashed(how) => Some(how.clone()),
            _ => None,
        }
    }
}

/// The containers of one file, in the order of their offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLoads {
    /// Path in the merged view, escaped.
    pub path: String,
    /// Offset of each container, and what happened to it.
    pub containers: Vec<(u64, LoadOutcome)>,
}

impl FileLoads {
    /// Number of containers with this word.
    pub fn count(&self, word: &str) -> usize {
        self.containers.iter().filter(|(_, outcome)| outcome.as_str() == word).count()
    }
}

/// All containers of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loads {
    /// Name of the device.
    pub device: String,
    /// Files with GPU code.
    pub files: Vec<FileLoads>,
}

impl Loads {
    /// Number of containers with this word.
    pub fn count(&self, word: &str) -> usize {
        self.files.iter().map(|file| file.count(word)).sum()
    }

    /// Number of containers.
    pub fn containers(&self) -> usize {
        self.files.iter().map(|file| file.containers.len()).sum()
    }
}

/// A container that loaded, or had PTX to compile, before and does not after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostLoad {
    /// Path in the merged view, escaped.
    pub path: String,
    /// Number of the container in its file, from 0; `None` if the file is missing or has another number of them.
    pub container: Option<usize>,
    /// What happened to it after.
    pub after: String,
}

/// An image before and after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadComparison {
    /// Name of the device.
    pub device: String,
    /// Containers before.
    pub containers: usize,
    /// Those of them that loaded.
    pub loaded_before: usize,
    /// Those that load after.
    pub loaded_after: usize,
    /// Containers that loaded before and do not after. The change is proven when there is none.
    pub lost: Vec<LostLoad>,
}

impl LoadComparison {
    /// Compares the containers of files of the same path, by their number in the file: offsets change when a file
    /// shrinks. Files that are only in `after` do not matter.
    pub fn new(before: &Loads, after: &Loads) -> Self {
        let now: BTreeMap<&str, &FileLoads> =
            after.files.iter().map(|file| (file.path.as_str(), file)).collect();
        let mut lost = Vec::new();
        for file in before.files.iter().filter(|file| file.count("loaded") + file.count("jit") > 0) {
            let path = || file.path.clone();
            let Some(now) = now.get(file.path.as_str()) else {
                lost.push(LostLoad { path: path(), container: None, after: "missing".to_owned() });
                continue;
            };
            if now.containers.len() != file.containers.len() {
                let (is, was) = (now.containers.len(), file.containers.len());
                let after = format!("{is} containers in place of {was}");
                lost.push(LostLoad { path: path(), container: None, after });
                continue;
            }
            for (number, ((_, was), (_, is))) in file.containers.iter().zip(&now.containers).enumerate() {
                if was.is_lost_by(is) {
                    let after = is.detail().unwrap_or_else(|| is.as_str().to_owned());
                    lost.push(LostLoad { path: path(), container: Some(number), after });
                }
            }
        }
        Self {
            device: after.device.clone(),
            containers: before.containers(),
            loaded_before: before.count("loaded"),
            loaded_after: after.count("loaded"),
            lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FileLoads, LoadComparison, LoadOutcome, Loads};

    fn image(files: &[(&str, &[LoadOutcome])]) -> Loads {
        let file = |(path, outcomes): &(&str, &[LoadOutcome])| FileLoads {
            path: (*path).to_owned(),
            containers: (0_u64..).zip(outcomes.iter().cloned()).collect(),
        };
        Loads { device: "a GPU".to_owned(), files: files.iter().map(file).collect() }
    }

    #[test]
    fn code_to_compile_stays_or_becomes_code_that_loads() {
        use LoadOutcome::{Jit, Loaded, NoCode};
        let before = image(&[("/a", &[Jit, Jit, Jit, Loaded, NoCode])]);
        let after = image(&[("/a", &[Jit, Loaded, NoCode, Jit, Jit])]);
        let lost = LoadComparison::new(&before, &after).lost;
        let told: Vec<_> = lost.iter().map(|one| (one.container, &*one.after)).collect();
        assert_eq!(told, [(Some(2), "no-code"), (Some(3), "jit")]);
    }

    #[test]
    fn what_loaded_before_has_to_load_after() {
        use LoadOutcome::{Crashed, Loaded, NoCode};
        let before = image(&[("/a", &[Loaded, NoCode, Loaded]), ("/b", &[Loaded]), ("/c", &[NoCode])]);
        let same = LoadComparison::new(&before, &before);
        assert_eq!((same.containers, same.loaded_before, same.loaded_after), (5, 3, 3));
        assert!(same.lost.is_empty());

        let crash = Crashed("SIGSEGV".to_owned());
        let after = image(&[("/a", &[Loaded, Loaded, crash]), ("/b", &[])]);
        let lost = LoadComparison::new(&before, &after);
        assert_eq!((lost.loaded_before, lost.loaded_after), (3, 2));
        let told: Vec<_> = lost.lost.iter().map(|one| (&*one.path, one.container, &*one.after)).collect();
        assert_eq!(told, [("/a", Some(2), "SIGSEGV"), ("/b", None, "0 containers in place of 1")]);
        let gone = LoadComparison::new(&before, &image(&[]));
        assert_eq!(gone.lost.iter().map(|one| &*one.after).collect::<Vec<_>>(), ["missing", "missing"]);
    }
}
