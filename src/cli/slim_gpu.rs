//! `cutaway slim --verify-gpu`: the GPU code of both images in the driver.

use anyhow::bail;
use clap::Args;

use super::gpu_image::load_all;
use super::output::message;
use super::progress::with_bar;
use super::reading::ImageReader;
use crate::analysis::{Analysis, AnalysisError, Options};
use crate::base::text::counted;
use crate::gpu::{LoadComparison, LoaderRequest, Loads};
use crate::jobs::{CancelToken, Progress};
use crate::report::SlimGpuLoads;
use crate::source::Reference;

/// Lost containers that are named.
const NAMED: usize = 20;

#[derive(Args)]
pub(super) struct VerifyGpu {
    /// Load the GPU code of both images with the driver of this machine, container by container
    #[arg(long, conflicts_with = "dry_run")]
    verify_gpu: bool,
    /// CUDA driver library to load instead of libcuda.so.1 (for tests)
    #[arg(long, hide = true, value_name = "FILE")]
    gpu_library: Option<std::path::PathBuf>,
}

impl VerifyGpu {
    /// Loads the code of the image, before anything is written; `None` if that was not asked for.
    pub(super) fn before(
        &self,
        analysis: &Analysis,
        opened: &Options,
        verbose: bool,
    ) -> anyhow::Result<Option<Loads>> {
        self.verify_gpu.then(|| self.load(analysis, opened, verbose)).transpose()
    }

    fn load(&self, analysis: &Analysis, opened: &Options, verbose: bool) -> anyhow::Result<Loads> {
        let request = LoaderRequest::new(None, self.gpu_library.clone())?;
        let (cancel, progress) = (CancelToken::new(), Progress::default());
        let (mut unreferenced, mut notes) = (0, Vec::new());
        let beside = (&mut unreferenced, &mut notes);
        let work = || load_all(analysis, opened, request, &progress, &cancel, beside);
        with_bar(&progress, verbose, work)
    }

    /// Loads the code of the written image, and compares.
    ///
    /// # Errors
    /// The image cannot be read again, or the driver no longer loads what it loaded before.
    pub(super) fn after(
        &self,
        before: &Loads,
        written: &str,
        reader: &ImageReader<'_>,
        verbose: bool,
    ) -> anyhow::Result<SlimGpuLoads> {
        let options = Options { verify: true, cache: None, ..reader.options(None)? };
        let reference = Reference::parse(written).map_err(AnalysisError::from)?;
        let analysis = reader.analyse_with(&reference, &options)?;
        let after = self.load(&analysis, &options, verbose)?;
        let LoadComparison { device, containers, loaded_before, loaded_after, lost } =
            LoadComparison::new(before, &after);
        for one in lost.iter().take(NAMED) {
            let place = one.container.map_or_else(String::new, |number| format!(", container {number}"));
            message(&format!("error: {}{place}: {}", one.path, one.after));
        }
        if !lost.is_empty() {
            let count = counted(lost.len(), "container");
            bail!("{count} of {written} loaded on {device} before and not now; do not use this image");
        }
        let number = |count: usize| count as u64;
        Ok(SlimGpuLoads {
            device,
            containers: number(containers),
            loaded_before: number(loaded_before),
            loaded_after: number(loaded_after),
        })
    }
}
