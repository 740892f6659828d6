//! What a check finds. Field names are those of schema `cutaway.gpu/1`; times are in microseconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The schema of a check.
pub const SCHEMA: &str = "cutaway.gpu/1";

/// All that a check found out, in the order in which it did. What could not be had is `None`.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Check {
    /// Whether there is a GPU that did everything that was asked of it, whatever came of others. Where only the library
    /// was asked for it is false: no GPU was looked at.
    pub available: bool,
    /// The driver, once its library was opened.
    pub driver: Option<Driver>,
    /// What was done, in order, the last one failed when there is an error.
    pub steps: Vec<Step>,
    /// The devices that the driver has.
    pub devices: Vec<Device>,
    /// Why it ended early, or what failed first on a device; the others were checked all the same, and what failed
    /// on them is in the notes.
    pub error: Option<GpuError>,
    /// Places where the driver's library was looked for, in order.
    pub tried: Vec<TriedLibrary>,
    /// What is worth knowing and no error, in sentences.
    pub notes: Vec<String>,
    /// From the start of the child to its end.
    pub total_us: u64,
}

impl Check {
    /// Whether a device did everything that was asked of it.
    pub fn works(&self, device: &Device) -> bool {
        let failed = |step: &Step| !step.ok && step.device == Some(device.index);
        device.kernel_check.verdict == KernelVerdict::Pass && !self.steps.iter().any(failed)
    }
}

/// The driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Driver {
    /// Its version, such as `580.159.04`, by NVML or the kernel module; `None` when neither says.
    pub version: Option<String>,
    /// The CUDA version of its libcuda (`cuDriverGetVersion`), such as `13.0`.
    pub cuda_version: Option<String>,
    /// The file that was opened, links resolved.
    pub library_path: Option<String>,
    /// How it was found: `loader` (what every program gets), or the folder that was tried after that.
    pub found_by: Option<String>,
}

/// Where a step stands in a check. The names in reports are those of [`Stage::as_str`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The child was started.
    Start,
    /// The driver's library was found and opened.
    Library,
    /// `cuInit`.
    Init,
    /// `cuDriverGetVersion`, and the version of the driver.
    Driver,
    /// The devices were listed, with what NVML says of them.
    Devices,
    /// The primary context of a device was retained.
    Context,
    /// The kernel was compiled from PTX and loaded.
    Module,
    /// Memory was taken and the numbers were copied.
    Memory,
    /// The kernel ran over all numbers.
    Launch,
    /// Every number was compared with the processor's.
    Verify,
    /// Many small launches on a stream.
    StreamLaunches,
    /// The same launches were captured in a graph and instantiated.
    GraphCapture,
    /// The graph was replayed.
    GraphLaunches,
    /// Copies were timed.
    Bandwidth,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Self; 14] = [
        Self::Start,
        Self::Library,
        Self::Init,
        Self::Driver,
        Self::Devices,
        Self::Context,
        Self::Module,
        Self::Memory,
        Self::Launch,
        Self::Verify,
        Self::StreamLaunches,
        Self::GraphCapture,
        Self::GraphLaunches,
        Self::Bandwidth,
    ];

    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Library => "library",
            Self::Init => "init",
            Self::Driver => "driver",
            Self::Devices => "devices",
            Self::Context => "context",
            Self::Module => "module",
            Self::Memory => "memory",
            Self::Launch => "launch",
            Self::Verify => "verify",
            Self::StreamLaunches => "stream-launches",
            Self::GraphCapture => "graph-capture",
            Self::GraphLaunches => "graph-launches",
            Self::Bandwidth => "bandwidth",
        }
    }

    /// What it does, in a few words for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Start => "Check started",
            Self::Library => "Library found",
            Self::Init => "Driver initialized",
            Self::Driver => "Driver version",
            Self::Devices => "Devices listed",
            Self::Context => "Context",
            Self::Module => "Kernel compiled",
            Self::Memory => "Input copied",
            Self::Launch => "Kernel executed",
            Self::Verify => "Results verified",
            Self::StreamLaunches => "Launches on a stream",
            Self::GraphCapture => "Graph captured",
            Self::GraphLaunches => "Launches in a graph",
            Self::Bandwidth => "Copies measured",
        }
    }
}

/// One step of a check.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Step {
    /// Which.
    pub name: Stage,
    /// Whether it did what it should.
    pub ok: bool,
    /// How long it took.
    pub us: u64,
    /// The device that it was done on, for those that are done on one.
    #[serde(default)]
    pub device: Option<u32>,
    /// What came of it, in a few words: the path of the library, the number of devices.
    #[serde(default)]
    pub detail: Option<String>,
}

/// A GPU.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// Its number for the driver, which `CUDA_VISIBLE_DEVICES` may have changed.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Such as `9.0`.
    pub compute_capability: String,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// How many streaming multiprocessors.
    pub multiprocessors: Option<u32>,
    /// Its UUID, such as `GPU-…`, or `MIG-…` for a part of one.
    pub uuid: Option<String>,
    /// Whether it is a part of a GPU (MIG).
    pub mig: Option<bool>,
    /// Whether it shares memory with the processor.
    pub integrated: Option<bool>,
    /// What NVML says of it; `None` without NVML.
    pub nvml: Option<Nvml>,
    /// The kernel.
    pub kernel_check: KernelCheck,
    /// Launch costs; `None` when they were not measured.
    pub graph: Option<Graph>,
    /// Copies; `None` when they were not asked for, or not measured.
    pub bandwidth_gb_s: Option<Bandwidth>,
}

/// What NVML says of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Nvml {
    /// Brand as `NVIDIA_REQUIRE_*` has it, such as `tesla`, `nvidia`, `geforce`.
    pub brand: Option<String>,
    /// Memory in use, by all processes; with drivers before 510 also what the driver keeps for itself.
    pub memory_used_bytes: Option<u64>,
    /// Whether MIG is switched on.
    pub mig_mode: Option<bool>,
    /// Compute mode: `default`, `exclusive-process`, `prohibited`.
    pub compute_mode: Option<String>,
    /// ECC errors that could not be corrected, since the driver was loaded.
    pub ecc_uncorrected: Option<u64>,
    /// Degrees Celsius.
    pub temperature_c: Option<u32>,
    /// State of the fabric of GPUs with `NVSwitch`, such as `completed`, `in-progress`.
    pub fabric: Option<String>,
}

/// What came of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelVerdict {
    /// Every number was right.
    Pass,
    /// One was not, or it did not run.
    Fail,
    /// It was not tried: another device was asked for, or a step before failed.
    #[default]
    Skipped,
}

/// The kernel on one device: `y = a*x + y` over random numbers, and the processor's own result beside it.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelCheck {
    /// What came of it.
    pub verdict: KernelVerdict,
    /// Compiling and loading the PTX.
    pub module_load_us: Option<u64>,
    /// From the launch to the end of the kernel.
    pub launch_us: Option<u64>,
    /// How many numbers were compared.
    pub elements: Option<u64>,
    /// The largest difference to the processor's result; `None` when a result was no finite number.
    pub max_abs_error: Option<f64>,
    /// Up to which difference a number counts as right.
    pub tolerance: Option<f64>,
}

/// What a launch costs on a stream, and the same launches in a graph.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Graph {
    /// Launches in one round.
    pub launches: u32,
    /// Rounds of which the median is taken, after those for warming up.
    pub rounds: u32,
    /// One launch of many on a stream, median.
    pub stream_us_per_launch: f64,
    /// One launch of the same many in a graph, median.
    pub graph_us_per_launch: f64,
    /// How many times cheaper the graph is.
    pub speedup: f64,
    /// Capturing and instantiating the graph, once.
    pub capture_us: Option<u64>,
}

/// Copies in GB (10⁹ bytes) a second, the best of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Bandwidth {
    /// From pinned memory of the host.
    pub host_to_device: Option<f64>,
    /// To pinned memory of the host.
    pub device_to_host: Option<f64>,
    /// On the device: bytes read and bytes written both count.
    pub device_to_device: Option<f64>,
}

/// Why a check ended early.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuError {
    /// The step that failed, by the name in reports.
    #[schemars(extend("enum" = Stage::ALL.map(Stage::as_str)))]
    pub stage: String,
    /// The code of CUDA, when it is one of CUDA.
    pub code: Option<i32>,
    /// Its name, such as `CUDA_ERROR_NO_DEVICE`, or one of ours in small letters: `no-library`, `stub`,
    /// `not-a-library`, `too-old`, `wrong-numbers`, `crashed`, `timed-out`, `no-answer`, `garbage`, `cannot-start`,
    /// `cancelled`.
    pub name: String,
    /// What happened and what it means.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// What the compiler of the driver wrote, when the kernel could not be loaded; the end of what the process wrote
    /// on standard error, when it came to a bad end.
    pub log: Option<String>,
}

/// A place where the driver's library was looked for.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct TriedLibrary {
    /// The name or path.
    pub path: String,
    /// What came of it: `taken`, or why not.
    pub outcome: String,
}

/// How far a check goes. Each holds what stands before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Depth {
    /// Finds and opens the driver's library; no call into CUDA.
    Library,
    /// Starts the driver and lists the devices; takes no context.
    Devices,
    /// Runs and verifies the kernel, measures launches.
    #[default]
    Full,
}

impl Depth {
    /// The name on the child's command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Devices => "devices",
            Self::Full => "full",
        }
    }
}
