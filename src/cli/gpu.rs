//! Checks this machine's GPU.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::gpu_image::{self, ImageLoads};
use super::gpu_text::{loads_to_text, step_line, to_text};
use super::output::{Format, UsageError, code, message, write};
use super::reading::{Choice, ReadOptions};
use crate::gpu::{
    Check, CheckRequest, ChildRequest, Depth, LoaderRequest, SCHEMA, check, run_child, run_loader_child,
};
use crate::jobs::CancelToken;
use crate::report::{schema_for, to_json};
use crate::source::redacted;

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
    /// Also load the GPU code of IMAGE's libraries with the driver, container by container
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    #[command(flatten)]
    choice: Choice,
    /// Write to FILE instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run the check in this process and stream results to stdout (internal)
    #[arg(long, hide = true, value_name = "DEPTH", value_parser = depth)]
    child: Option<Depth>,
    /// Load GPU code from stdin in this process (internal)
    #[arg(long, hide = true, conflicts_with = "child")]
    loader: bool,
    /// CUDA driver library to load instead of libcuda.so.1 (for tests)
    #[arg(long, hide = true, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Time limit (for tests)
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    limit: Option<Duration>,
    /// Time limit of a container (for tests)
    #[arg(long, hide = true, value_name = "SECONDS", value_parser = seconds)]
    load_limit: Option<Duration>,
}

/// Result of a GPU check, schema `cutaway.gpu/1`.
#[derive(JsonSchema, Serialize)]
struct Document<'a> {
    /// Name and version of the schema.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// Generator of this document.
    generator: Generator,
    #[serde(flatten)]
    check: &'a Check,
    /// The GPU code of an image in the driver; null unless an image was named and a GPU is usable.
    image: Option<&'a ImageLoads>,
}

/// Generator of a document.
#[derive(JsonSchema, Serialize)]
struct Generator {
    /// Name of the program.
    name: &'static str,
    /// Version of the program.
    version: &'static str,
}

/// The JSON Schema of a GPU check.
pub(super) fn schema() -> Value {
    schema_for::<Document<'_>>()
}

/// Runs a GPU check and prints the result; in the child process, does the actual work.
pub(super) fn gpu(arguments: &GpuArguments) -> anyhow::Result<ExitCode> {
    let child = ChildRequest {
        depth: arguments.child.unwrap_or_default(),
        device: arguments.device,
        bandwidth: arguments.bandwidth,
        library: arguments.library.clone(),
    };
    if arguments.child.is_some() {
        return Ok(run_child(&child));
    }
    if arguments.loader {
        return Ok(run_loader_child(arguments.device, arguments.library.as_deref()));
    }
    let mut request = CheckRequest::new(child)?;
    if let Some(limit) = arguments.limit {
        request.limit = limit;
    }
    let listens = io::stderr().is_terminal();
    let mut shown = 0;
    let mut news = |check: &Check| {
        for step in check.steps.iter().skip(shown).filter(|_| listens) {
            message(&step_line(step));
        }
        shown = check.steps.len();
    };
    let check = check(&request, &CancelToken::new(), &mut news);
    let image = arguments.image.as_deref();
    let loads = match image.filter(|_| check.available) {
        Some(image) => Some(load_image(image, arguments)?),
        None => None,
    };
    let text = match arguments.format {
        Format::Text => {
            let mut text = to_text(&check);
            text.extend(loads.iter().map(loads_to_text));
            text
        }
        Format::Json => to_json(&Document {
            schema: SCHEMA,
            generator: Generator { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
            check: &check,
            image: loads.as_ref(),
        }),
    };
    write(text.as_bytes(), arguments.output.as_deref())?;
    if let Some(image) = image.filter(|_| loads.is_none()) {
        let image = redacted(image);
        message(&format!("error: the GPU code of {image} was not loaded: no usable GPU, see the check"));
    }
    Ok(code(check.available && loads.is_none_or(|loads| loads.all.crashed + loads.all.timed_out == 0)))
}

/// The costs of one kernel launch on this machine's first usable GPU, on a stream and in a graph, in microseconds.
///
/// # Errors
/// No usable GPU, or launches could not be measured.
pub(super) fn launch_costs() -> anyhow::Result<(f64, f64)> {
    let check = check(&CheckRequest::new(ChildRequest::default())?, &CancelToken::new(), &mut |_| ());
    let graph = check.devices.iter().find_map(|device| device.graph.as_ref());
    graph.map(|graph| (graph.stream_us_per_launch, graph.graph_us_per_launch)).ok_or_else(|| {
        let why = check.error.as_ref().map_or_else(
            || "launches were not measured".to_owned(),
            |error| format!("{}: {}", error.name, error.message),
        );
        let hint = "cutaway gpu shows all steps; without --launches no GPU is needed".to_owned();
        UsageError::new(format!("cannot measure launches on this machine: {why}"), Some(hint)).into()
    })
}

fn load_image(image: &str, arguments: &GpuArguments) -> anyhow::Result<ImageLoads> {
    let mut request = LoaderRequest::new(arguments.device, arguments.library.clone())?;
    if let Some(limit) = arguments.load_limit {
        request.limit = limit;
    }
    let how = ReadOptions { choice: arguments.choice.clone(), ..ReadOptions::default() };
    gpu_image::load_image(image, &how, request)
}

fn depth(text: &str) -> Result<Depth, String> {
    Depth::ALL
        .iter()
        .copied()
        .find(|depth| depth.as_str() == text)
        .ok_or_else(|| "expected library, devices or full".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|error| format!("{error}"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
