//! Result of a check. Field names are those of schema `cutaway.gpu/1`; times are in microseconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::words::words;

/// Schema of a check.
pub const SCHEMA: &str = "cutaway.gpu/1";

/// Result of a GPU check, in the order of the steps. Unavailable values are null.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Check {
    /// Whether a GPU passed everything that was requested, regardless of other GPUs. False if only the library was
    /// requested: no GPU was checked.
    pub available: bool,
    /// The driver, once its library is loaded.
    pub driver: Option<Driver>,
    /// Steps in order; the last one failed if there is an error.
    pub steps: Vec<Step>,
    /// Devices reported by the driver.
    pub devices: Vec<Device>,
    /// Why the check ended early, or the first failure on a device; other devices are checked anyway, and their
    /// failures are notes.
    pub error: Option<GpuError>,
    /// Locations that were searched for the driver library, in order.
    pub tried: Vec<TriedLibrary>,
    /// Remarks that are not errors, in sentences.
    pub notes: Vec<String>,
    /// Time from the start of the child process to its end.
    pub total_us: u64,
}

impl Check {
    /// Whether a device passed everything that was requested.
    pub fn works(&self, device: &Device) -> bool {
        let failed = |step: &Step| !step.ok && step.device == Some(device.index);
        device.kernel_check.verdict == KernelVerdict::Pass && !self.steps.iter().any(failed)
    }
}

/// The driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Driver {
    /// Driver version, such as `580.159.04`, from NVML or the kernel module; null if neither reports it.
    pub version: Option<String>,
    /// CUDA version of libcuda (`cuDriverGetVersion`), such as `13.0`.
    pub cuda_version: Option<String>,
    /// Path of the loaded library, links resolved.
    pub library_path: Option<String>,
    /// How the library was found: `loader` (the dynamic loader), or the folder searched after that.
    pub found_by: Option<String>,
}

/// Step of a check. Names in reports are those of [`Stage::as_str`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Start of the child process.
    Start,
    /// Search and loading of the driver library.
    Library,
    /// `cuInit`.
    Init,
    /// `cuDriverGetVersion`, and the version of the driver.
    Driver,
    /// List of the devices, with their state from NVML.
    Devices,
    /// Primary context of a device.
    Context,
    /// JIT compilation and loading of the kernel.
    Module,
    /// Allocation and copy of the input.
    Memory,
    /// Run of the kernel.
    Launch,
    /// Comparison of every result with the CPU's.
    Verify,
    /// Small launches on a stream.
    StreamLaunches,
    /// Capture and instantiation of the same launches as a graph.
    GraphCapture,
    /// Replay of the graph.
    GraphLaunches,
    /// Measurement of copies.
    Bandwidth,
}

words!(Stage {
    Start = "start",
    Library = "library",
    Init = "init",
    Driver = "driver",
    Devices = "devices",
    Context = "context",
    Module = "module",
    Memory = "memory",
    Launch = "launch",
    Verify = "verify",
    StreamLaunches = "stream-launches",
    GraphCapture = "graph-capture",
    GraphLaunches = "graph-launches",
    Bandwidth = "bandwidth",
});

impl Stage {
    /// Title for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Start => "Start check",
            Self::Library => "Find libcuda.so.1",
            Self::Init => "Initialize driver",
            Self::Driver => "Read driver version",
            Self::Devices => "List devices",
            Self::Context => "Create context",
            Self::Module => "Compile kernel",
            Self::Memory => "Copy input",
            Self::Launch => "Run kernel",
            Self::Verify => "Verify results",
            Self::StreamLaunches => "Measure stream launches",
            Self::GraphCapture => "Capture graph",
            Self::GraphLaunches => "Measure graph launches",
            Self::Bandwidth => "Measure copies",
        }
    }
}

/// One step of a check.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Step {
    /// Name of the step.
    pub name: Stage,
    /// Whether the step succeeded.
    pub ok: bool,
    /// Duration.
    pub us: u64,
    /// Device of the step, for steps on one device.
    #[serde(default)]
    pub device: Option<u32>,
    /// Result in a few words: path of the library, number of devices.
    #[serde(default)]
    pub detail: Option<String>,
}

/// A GPU.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// Device number of the driver, affected by `CUDA_VISIBLE_DEVICES`.
    pub index: u32,
    /// Device name.
    pub name: String,
    /// Compute capability, such as `9.0`.
    pub compute_capability: String,
    /// Total memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Number of streaming multiprocessors.
    pub multiprocessors: Option<u32>,
    /// UUID, such as `GPU-…`, or `MIG-…` for a MIG instance.
    pub uuid: Option<String>,
    /// Whether the device is a MIG instance.
    pub mig: Option<bool>,
    /// Whether the device shares memory with the host.
    pub integrated: Option<bool>,
    /// State from NVML; null without NVML.
    pub nvml: Option<Nvml>,
    /// Result of the kernel.
    pub kernel_check: KernelCheck,
    /// Launch latency; null if not measured.
    pub graph: Option<Graph>,
    /// Copy bandwidth; null if not requested or not measured.
    pub bandwidth_gb_s: Option<Bandwidth>,
}

/// State of a device from NVML.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Nvml {
    /// Brand as `NVIDIA_REQUIRE_*` has it, such as `tesla`, `nvidia`, `geforce`.
    pub brand: Option<String>,
    /// Memory in use by all processes; with drivers before 510 including the driver's reserve.
    pub memory_used_bytes: Option<u64>,
    /// Whether MIG mode is on.
    pub mig_mode: Option<bool>,
    /// Compute mode: `default`, `exclusive-process`, `prohibited`.
    pub compute_mode: Option<String>,
    /// Uncorrectable ECC errors since the driver was loaded.
    pub ecc_uncorrected: Option<u64>,
    /// Degrees Celsius.
    pub temperature_c: Option<u32>,
    /// State of the fabric of GPUs with `NVSwitch`, such as `completed`, `in-progress`.
    pub fabric: Option<String>,
}

/// Verdict on the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelVerdict {
    /// Every result is correct.
    Pass,
    /// A result is wrong, or the kernel did not run.
    Fail,
    /// Not run: another device was requested, or an earlier step failed.
    #[default]
    Skipped,
}

/// The kernel on one device: `y = a*x + y` over pseudo-random elements, compared with the CPU's result.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelCheck {
    /// Verdict.
    pub verdict: KernelVerdict,
    /// Time to compile and load the PTX.
    pub module_load_us: Option<u64>,
    /// Time from the launch to the end of the kernel.
    pub launch_us: Option<u64>,
    /// Number of compared elements.
    pub elements: Option<u64>,
    /// Largest difference to the CPU's result; null if a result is not finite.
    pub max_abs_error: Option<f64>,
    /// Largest difference that counts as correct.
    pub tolerance: Option<f64>,
}

/// Launch latency on a stream, and of the same launches in a graph.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Graph {
    /// Launches in one round.
    pub launches: u32,
    /// Measured rounds, without warm-up; the median is reported.
    pub rounds: u32,
    /// Time per launch on a stream, median.
    pub stream_us_per_launch: f64,
    /// Time per launch in a graph, median.
    pub graph_us_per_launch: f64,
    /// Stream time divided by graph time.
    pub speedup: f64,
    /// Time to capture and instantiate the graph, once.
    pub capture_us: Option<u64>,
}

/// Copy bandwidth in GB (10⁹ bytes) per second, the best of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Bandwidth {
    /// From pinned host memory.
    pub host_to_device: Option<f64>,
    /// To pinned host memory.
    pub device_to_host: Option<f64>,
    /// On the device: bytes read and bytes written both count.
    pub device_to_device: Option<f64>,
}

/// Why a check ended early.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuError {
    /// Name of the failed step.
    #[schemars(extend("enum" = Stage::ALL.iter().map(|stage| stage.as_str()).collect::<Vec<_>>()))]
    pub stage: String,
    /// CUDA error code, if it is a CUDA error.
    pub code: Option<i32>,
    /// CUDA error name, such as `CUDA_ERROR_NO_DEVICE`, or one of the check's own in lower case: `no-library`, `stub`,
    /// `not-a-library`, `too-old`, `wrong-numbers`, `crashed`, `timed-out`, `no-answer`, `garbage`, `cannot-start`,
    /// `cancelled`.
    pub name: String,
    /// What happened and what it means.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// JIT log if the kernel could not be loaded; last lines of standard error if the child process failed.
    pub log: Option<String>,
}

/// A location that was searched for the driver library.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TriedLibrary {
    /// Name or path.
    pub path: String,
    /// Outcome: `taken`, or the reason for skipping it.
    pub outcome: String,
}

/// Depth of a check. Each includes the ones before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Depth {
    /// Finds and loads the driver library, without a CUDA call.
    Library,
    /// Initializes the driver and lists the devices, without a context.
    Devices,
    /// Runs and verifies the kernel, measures launches.
    #[default]
    Full,
}

words!(Depth {
    Library = "library",
    Devices = "devices",
    Full = "full",
});
