//! The arguments of `cutaway gpu`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::arguments::Format;
use crate::gpu::{ChildRequest, Depth};

#[derive(Args)]
pub(super) struct GpuArguments {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Check only device N [default: all]
    #[arg(long, value_name = "N")]
    device: Option<u32>,
    /// Measure copy bandwidth: host to device, device to host, on the device
    #[arg(long)]
    bandwidth: bool,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run the check in this process and stream results to stdout (internal)
    #[arg(long, hide = true, value_name = "DEPTH", value_parser = depth)]
    child: Option<Depth>,
    /// CUDA driver library to load instead of libcuda.so.1 (for tests)
    #[arg(long, hide = true, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Time limit (for tests)
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    limit: Option<Duration>,
}

/// A GPU check to run.
pub struct GpuPlan {
    pub(super) child: ChildRequest,
    /// Whether this process does the check itself.
    pub(super) is_child: bool,
    pub(super) limit: Option<Duration>,
    pub(super) format: Format,
    pub(super) output: Option<PathBuf>,
}

impl GpuArguments {
    pub(super) fn plan(self) -> GpuPlan {
        GpuPlan {
            is_child: self.child.is_some(),
            child: ChildRequest {
                depth: self.child.unwrap_or_default(),
                device: self.device,
                bandwidth: self.bandwidth,
                library: self.library,
            },
            limit: self.limit,
            format: self.format,
            output: self.output,
        }
    }
}

fn depth(text: &str) -> Result<Depth, String> {
    let all = [Depth::Library, Depth::Devices, Depth::Full];
    all.into_iter()
        .find(|depth| depth.as_str() == text)
        .ok_or_else(|| "expected library, devices or full".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|error| format!("{error}"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
