//! What the settings page shows beside the settings: drafts of typed values, and the size of the cache.

use std::path::PathBuf;

use crate::base::size;
use crate::base::text::counted;
use crate::cache::{Blobs, Cache, Usage};
use crate::gui::models::background::Background;
use crate::jobs::Waker;
use crate::settings::{Settings, Written};

/// A setting that is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedSetting {
    /// Targets, separated by semicolons: a target may contain commas.
    Targets,
    /// Id of the deployment platform.
    Profile,
    /// Limit of the index cache.
    CacheLimit,
    /// Limit of the blob cache.
    BlobLimit,
    /// Address of Docker.
    DockerHost,
    /// Address of Podman.
    PodmanHost,
    /// File of certificates.
    CaFile,
}

impl TypedSetting {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Targets,
        Self::Profile,
        Self::CacheLimit,
        Self::BlobLimit,
        Self::DockerHost,
        Self::PodmanHost,
        Self::CaFile,
    ];

    /// Its value as text; empty for the default.
    pub fn text(self, settings: &Settings) -> String {
        let limit = |bytes: u64| size::exact(bytes);
        match self {
            Self::Targets => {
                settings.targets.iter().map(|target| target.text.as_str()).collect::<Vec<_>>().join("; ")
            }
            Self::Profile => {
                settings.profile.as_ref().map(|profile| profile.text.clone()).unwrap_or_default()
            }
            Self::CacheLimit => settings.cache_limit.map(limit).unwrap_or_default(),
            Self::BlobLimit if settings.blob_limit == 0 => String::new(),
            Self::BlobLimit => limit(settings.blob_limit),
            Self::DockerHost => settings.docker_host.clone().unwrap_or_default(),
            Self::PodmanHost => settings.podman_host.clone().unwrap_or_default(),
            Self::CaFile => {
                settings.ca_file.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
            }
        }
    }

    /// Puts a text into the settings; an empty one is the default.
    ///
    /// # Errors
    /// Why the text is no value.
    pub fn put(self, text: &str, settings: &mut Settings) -> Result<(), String> {
        let text = text.trim();
        let given = (!text.is_empty()).then(|| text.to_owned());
        match self {
            Self::Targets => {
                let targets = text.split(';').map(str::trim).filter(|target| !target.is_empty());
                settings.targets = targets.map(Written::from).collect();
            }
            Self::Profile => settings.profile = given.as_deref().map(Written::from),
            Self::CacheLimit => settings.cache_limit = given.as_deref().map(size::parse).transpose()?,
            Self::BlobLimit => {
                settings.blob_limit = given.as_deref().map(size::parse).transpose()?.unwrap_or_default();
            }
            Self::DockerHost => settings.docker_host = given,
            Self::PodmanHost => settings.podman_host = given,
            Self::CaFile => settings.ca_file = given.map(PathBuf::from),
        }
        settings.check()
    }
}

/// Entries and cached blobs of the cache, or why they are unknown.
type CacheSize = Result<(Usage, Usage), String>;

/// The size of the cache, found out in the background.
#[derive(Default)]
pub struct CacheUsage {
    job: Background<CacheSize>,
    size: Option<CacheSize>,
    asked: bool,
}

impl CacheUsage {
    /// Measures the cache, once, or clears it first.
    pub fn start(&mut self, cache: &Cache, clear: bool, waker: &Waker) {
        if self.asked && !clear {
            return;
        }
        self.asked = true;
        let cache = cache.clone();
        self.job.start(waker, false, move |_| {
            let blobs = Blobs::new(cache.folder().to_owned(), 0);
            let size = || -> std::io::Result<(Usage, Usage)> {
                if clear {
                    cache.prune(0)?;
                    blobs.clear()?;
                }
                Ok((cache.usage()?, blobs.usage()?))
            };
            Ok(size().map_err(|error| error.to_string()))
        });
    }

    /// Whether it is being measured or cleared.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    /// The size in words.
    pub fn words(&mut self) -> String {
        self.size = self.job.result().map(|result| result.and_then(|size| size)).or(self.size.take());
        match &self.size {
            None => "Measuring…".to_owned(),
            Some(Err(reason)) => format!("Cannot read the cache: {reason}"),
            Some(Ok((index, blobs))) => format!(
                "{} in {}, {} in {}",
                size::human(index.bytes),
                counted(index.files, "entry"),
                size::human(blobs.bytes),
                counted(blobs.files, "cached blob")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TypedSetting;
    use crate::settings::Settings;

    #[test]
    fn texts_become_values_and_values_texts() {
        for (typed, text, shown) in [
            (TypedSetting::Targets, " gpu:h100 ;cc=8.6,driver=535.104; ", "gpu:h100; cc=8.6,driver=535.104"),
            (TypedSetting::Profile, "serverless", "serverless"),
            (TypedSetting::CacheLimit, "4GiB", "4 GiB"),
            (TypedSetting::CacheLimit, "0", "0"),
            (TypedSetting::BlobLimit, "1234567", "1234567"),
            (TypedSetting::BlobLimit, "0", ""),
            (TypedSetting::DockerHost, "unix:///d", "unix:///d"),
            (TypedSetting::PodmanHost, "tcp://p:1", "tcp://p:1"),
            (TypedSetting::CaFile, "/ca.pem", "/ca.pem"),
        ] {
            let mut settings = Settings::default();
            typed.put(text, &mut settings).unwrap();
            assert_eq!(typed.text(&settings), shown, "{typed:?}");
            typed.put(" ", &mut settings).unwrap();
            assert_eq!(settings, Settings::default(), "{typed:?}");
        }
        for (typed, text, reason) in [
            (TypedSetting::CacheLimit, "much", "invalid size"),
            (TypedSetting::CaFile, "ca.pem", "not an absolute path"),
        ] {
            let error = typed.put(text, &mut Settings::default()).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
