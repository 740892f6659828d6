//! Arguments of all commands that read images, and how they read them.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::Context as _;
use clap::Args;

use super::defaults::{default_targets, defaults};
use super::host::host_targets;
use super::network::Network;
use super::output::{message, read_file};
use super::profile::ProfileArguments;
use super::progress::with_bar;
use crate::analysis::{Analysis, AnalysisError, Depth, Options, analyze};
use crate::base::size::{grouped, human};
use crate::base::{Limits, Platform, clock};
use crate::cache::Cache;
use crate::cuda::catalog::{self, Catalog};
use crate::cuda::compat::{TargetGpu, parse_targets};
use crate::deploy::{Profile, judged_targets};
use crate::findings::policy::{Date, Policy};
use crate::jobs::{CancelToken, Progress};
use crate::settings::Overrides;
use crate::source::{Access, Reference, engine, redacted, registry};

/// Arguments of the window and of all commands that read images.
#[derive(Args, Clone, Default)]
pub struct Choice {
    /// Platform to choose from an image index [default: linux on this machine's architecture]
    #[arg(long, value_name = "OS/ARCH[/VARIANT]")]
    pub platform: Option<Platform>,
    /// Extend the catalog of components, frameworks and targets (format of assets/catalog/*.toml)
    #[arg(long, value_name = "FILE")]
    pub catalog: Vec<PathBuf>,
    /// Do not read or write the cache
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    network: Network,
}

impl Choice {
    /// Index cache; `None` with `--no-cache`.
    pub fn cache(&self) -> Option<Cache> {
        if self.no_cache { None } else { Cache::of_user(defaults().cache_limit) }
    }

    /// Access to registries and engines.
    pub fn access(&self) -> Access {
        self.network.access()
    }

    /// Which settings have no effect because of options or the environment.
    pub fn overrides(&self) -> Overrides {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let cache_limit = self.no_cache || is_set("CUTAWAY_NO_CACHE") || is_set("CUTAWAY_CACHE_SIZE");
        Overrides { cache_limit, ..self.network.overrides() }
    }
}

/// Arguments of all commands that read one image.
#[derive(Args, Default)]
pub(super) struct Reading {
    /// Image to read, see `cutaway --help`
    pub(super) image: String,
    #[command(flatten)]
    pub(super) how: ReadOptions,
}

/// How images are read.
#[derive(Args, Default)]
pub(super) struct ReadOptions {
    #[command(flatten)]
    pub(super) choice: Choice,
    /// Target GPU or machine, such as gpu:a100-80 or cc=8.6 [default: five common data center GPUs; compatibility also uses this machine's]
    #[arg(long, value_name = "TARGET")]
    pub(super) target: Vec<String>,
    #[command(flatten)]
    pub(super) profile: ProfileArguments,
    /// Read every byte and verify all digests and diff IDs
    #[arg(long)]
    pub(super) verify: bool,
    /// How much of an image to read; less means less traffic at a registry
    #[arg(long, value_enum, default_value = "full")]
    pub(super) depth: Depth,
    /// Verbose output
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// Date to use instead of today (for tests)
    #[arg(long, hide = true, value_name = "YYYY-MM-DD")]
    pub(super) today: Option<Date>,
}

impl Reading {
    /// Analyses the image. Targets on the command line override those of `policy`.
    pub(super) fn analyse(&self, policy: Option<&Policy>) -> anyhow::Result<Arc<Analysis>> {
        ImageReader::new(&self.how).analyse(&self.image, policy)
    }

    /// The platform that the image is judged by; `None` if none is chosen.
    pub(super) fn profile(
        &self,
        analysis: &Analysis,
        policy: Option<&Policy>,
    ) -> anyhow::Result<Option<Arc<Profile>>> {
        self.how.profile.find_if_chosen(|| analysis.known_rules(), policy)
    }

    /// Why there is no result when the layers were not read.
    pub(super) fn unread(&self) -> anyhow::Error {
        anyhow::anyhow!("layers of {} not read because of --depth", redacted(&self.image))
    }
}

impl ReadOptions {
    /// Whether notes are printed.
    pub(super) fn listens(&self) -> bool {
        self.verbose || io::stderr().is_terminal()
    }

    /// Days since 1970, from `--today` or the clock; `None` if the clock is not set.
    pub(super) fn today(&self) -> Option<u32> {
        self.today.map(|date| date.0).or_else(clock::today)
    }

    /// Queries the GPUs of this machine while images are read; none if the query fails.
    pub(super) fn host_in_background(&self) -> Option<JoinHandle<Vec<TargetGpu>>> {
        let files = self.choice.catalog.clone();
        let ask = move || {
            // Errors in the files are reported where the image is read.
            let catalog = read_catalog(&files).unwrap_or_default();
            host_targets(catalog.as_deref().unwrap_or_else(|| Catalog::builtin())).unwrap_or_default()
        };
        std::thread::Builder::new().name("host".to_owned()).spawn(ask).ok()
    }
}

/// Reads images, with one cache and one access to registries and engines.
pub(super) struct ImageReader<'a> {
    how: &'a ReadOptions,
    cache: Option<Cache>,
    access: Access,
}

impl<'a> ImageReader<'a> {
    pub(super) fn new(how: &'a ReadOptions) -> Self {
        Self { how, cache: how.choice.cache(), access: how.choice.access() }
    }

    /// Analyses an image. Targets on the command line override those of `policy`.
    pub(super) fn analyse(&self, image: &str, policy: Option<&Policy>) -> anyhow::Result<Arc<Analysis>> {
        let reference = Reference::parse(image).map_err(AnalysisError::from)?;
        self.analyse_with(&reference, &self.options(policy)?)
    }

    /// The options of an analysis. Targets on the command line override those of `policy`.
    pub(super) fn options(&self, policy: Option<&Policy>) -> anyhow::Result<Options> {
        let how = self.how;
        let catalog = read_catalog(&how.choice.catalog)?;
        // The built-in catalogue takes milliseconds to parse: in parallel with reading the image.
        let known = || catalog.as_deref().unwrap_or_else(|| Catalog::builtin());
        let host = || host_targets(known());
        let mut targets = Vec::new();
        for text in &how.target {
            targets.extend(parse_targets(known(), text, &host)?);
        }
        if let Some(policy) = policy.filter(|_| targets.is_empty()) {
            targets = policy.targets(known(), &host)?;
        }
        let profile = how.profile.find_if_chosen(known, policy)?;
        // A project is judged by its own file, the same for everybody, and a platform by its machines.
        if targets.is_empty() && policy.is_none() && profile.is_none() {
            targets = default_targets(known, &host)?;
        }
        if let Some(profile) = profile {
            targets = judged_targets(known(), &profile, &targets);
        }
        Ok(Options {
            platform: how.choice.platform.clone(),
            verify: how.verify,
            limits: Limits::default(),
            catalog,
            targets,
            today: how.today(),
            cache: self.cache.clone(),
            access: self.access.clone(),
            depth: how.depth,
        })
    }

    /// Analyses an image with these options.
    pub(super) fn analyse_with(
        &self,
        reference: &Reference,
        options: &Options,
    ) -> anyhow::Result<Arc<Analysis>> {
        let how = self.how;
        let local = note_registry(how, reference);
        let (cancel, progress) = (CancelToken::new(), Progress::default());
        let result =
            with_bar(&progress, how.verbose, || analyze(reference, options, &cancel, &progress, &|_| ()));
        if how.listens() {
            self.cache.iter().flat_map(Cache::take_notes).for_each(|note| message(&format!("note: {note}")));
        }
        if let Some(name) = local.and_then(|asked| asked.join().ok()).flatten() {
            message(&format!("note: a local engine also has an image of this name: {name}"));
        }
        let analysis = result?;
        if how.verbose {
            self.tell_counts(&progress);
        }
        Ok(analysis)
    }

    /// Prints what was read.
    fn tell_counts(&self, progress: &Progress) {
        let done = progress.snapshot();
        message(&format!(
            "read {} bytes of {} ({} of {}), {} entries",
            done.bytes_read,
            done.bytes_total,
            human(done.bytes_read),
            human(done.bytes_total),
            grouped(done.entries)
        ));
        if self.cache.is_some() && !self.how.verify {
            message(&format!("{} of {} layers loaded from cache", done.layers_known, done.layers_total));
        }
        if done.bytes_compared > 0 {
            let (bytes, size) = (done.bytes_compared, human(done.bytes_compared));
            message(&format!(
                "then read {bytes} bytes ({size}) of single files, to compare them and to find GPU code and names of \
                tools"
            ));
        }
    }
}

/// Notes that a name without a transport is read from a registry, and asks in the background whether a local engine has
/// an image of this name.
fn note_registry(how: &ReadOptions, reference: &Reference) -> Option<JoinHandle<Option<String>>> {
    let host = registry::host(reference)?;
    if reference.text == reference.location {
        let shown = redacted(&reference.text);
        message(&format!("no local path {shown}; reading from the registry {host}"));
    }
    if !how.listens() {
        return None;
    }
    let name = reference.location.clone();
    let ask = move || engine::holds(&name, &CancelToken::new());
    std::thread::Builder::new().name("engines".into()).spawn(ask).ok()
}

/// The catalogue extended by the user's files; `None` without files.
pub(super) fn read_catalog(files: &[PathBuf]) -> anyhow::Result<Option<Arc<Catalog>>> {
    let mut texts = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let bytes = read_file(file, catalog::FILE_BYTES as u64)
            .with_context(|| format!("cannot read the catalog {name}"))?;
        let text = String::from_utf8(bytes).with_context(|| format!("the catalog {name} is not UTF-8"))?;
        texts.push((name, text));
    }
    if texts.is_empty() {
        return Ok(None);
    }
    let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    Ok(Some(Arc::new(Catalog::with_user_files(&texts)?)))
}
