//! Driver, devices and what launches cost, as facts with their words.

use super::words::digits;
use crate::base::size::{grouped, human};
use crate::base::text::printable;
use crate::gpu::{Bandwidth, Check, Device, Graph, KernelCheck, KernelVerdict};

/// A fact with its name. Both are safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFact {
    /// What it is.
    pub name: &'static str,
    /// What is known of it.
    pub value: String,
}

const UNKNOWN: &str = "unknown";

fn fact(name: &'static str, value: Option<String>) -> DeviceFact {
    DeviceFact { name, value: value.map_or_else(|| UNKNOWN.to_owned(), |value| printable(&value)) }
}

/// What is known of the driver; nothing when its library was not opened.
pub fn driver_facts(check: &Check) -> Vec<DeviceFact> {
    let Some(driver) = &check.driver else { return Vec::new() };
    let found = match driver.found_by.as_deref() {
        None | Some("loader") => None,
        Some(folder) => Some(format!("in {folder}, outside the default search path")),
    };
    let mut facts = vec![
        fact("Driver", driver.version.clone()),
        fact("Driver CUDA version", driver.cuda_version.clone()),
        fact("Library", driver.library_path.clone()),
    ];
    facts.extend(found.map(|found| fact("Found", Some(found))));
    facts
}

/// A GPU as a card.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceItem {
    /// Its number for the driver.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// What is known of it.
    pub facts: Vec<DeviceFact>,
    /// What launches cost on it.
    pub launches: Option<LaunchCost>,
    /// How fast copies are, with their names.
    pub copies: Vec<DeviceFact>,
}

impl DeviceItem {
    /// The devices of a check.
    pub fn all(check: &Check) -> Vec<Self> {
        check.devices.iter().map(Self::new).collect()
    }

    fn new(device: &Device) -> Self {
        Self {
            index: device.index,
            name: printable(&device.name),
            facts: facts(device),
            launches: device.graph.as_ref().and_then(LaunchCost::new),
            copies: device.bandwidth_gb_s.as_ref().map(copies).unwrap_or_default(),
        }
    }
}

fn facts(device: &Device) -> Vec<DeviceFact> {
    let nvml = device.nvml.clone().unwrap_or_default();
    let memory = device.memory_bytes.map(|bytes| match nvml.memory_used_bytes {
        Some(used) => format!("{}, {} in use", human(bytes), human(used)),
        None => human(bytes),
    });
    let mig = match (device.mig, nvml.mig_mode) {
        (Some(true), _) => Some("MIG slice of a GPU".to_owned()),
        (_, Some(true)) => Some("on".to_owned()),
        (_, Some(false)) => Some("off".to_owned()),
        (Some(false), None) => Some("not a MIG slice".to_owned()),
        (None, None) => None,
    };
    let mut facts = vec![
        fact("Compute capability", Some(device.compute_capability.clone()).filter(|text| !text.is_empty())),
        fact("Memory", memory),
        fact("Multiprocessors", device.multiprocessors.map(|count| count.to_string())),
        fact("MIG", mig),
        fact("UUID", device.uuid.clone()),
    ];
    facts.extend(kernel(&device.kernel_check));
    if device.integrated == Some(true) {
        facts.push(fact("Integrated", Some("shares memory with the CPU".to_owned())));
    }
    // NVML may be missing, and many of its values depend on the GPU: missing values are left out.
    let ecc = nvml.ecc_uncorrected.map(|errors| match errors {
        0 => "none uncorrected".to_owned(),
        errors => format!("{} uncorrected since driver load", grouped(errors)),
    });
    let reported = [
        ("Brand", nvml.brand),
        ("Compute mode", nvml.compute_mode),
        ("ECC errors", ecc),
        ("Temperature", nvml.temperature_c.map(|degrees| format!("{degrees} °C"))),
        ("Fabric", nvml.fabric),
    ];
    facts.extend(
        reported.into_iter().filter(|(_, value)| value.is_some()).map(|(name, value)| fact(name, value)),
    );
    facts
}

/// The kernel result; `None` where the kernel was not run.
fn kernel(kernel: &KernelCheck) -> Option<DeviceFact> {
    let numbers = kernel.elements.map(|count| format!("{} values", grouped(count)));
    let error = kernel.max_abs_error.map(|error| match (error > 0.0, kernel.tolerance) {
        (false, _) => "all equal to the CPU results".to_owned(),
        (true, Some(most)) => format!("max error {error:.1e}, tolerance {most:.1e}"),
        (true, None) => format!("max error {error:.1e}"),
    });
    let parts: Vec<String> = [numbers, error].into_iter().flatten().collect();
    let value = match kernel.verdict {
        KernelVerdict::Skipped => return None,
        KernelVerdict::Fail if parts.is_empty() => "failed".to_owned(),
        KernelVerdict::Fail => format!("wrong: {}", parts.join(", ")),
        KernelVerdict::Pass => parts.join(", "),
    };
    Some(fact("Kernel", Some(value).filter(|value| !value.is_empty())))
}

/// How fast copies are; what was not measured is left out.
pub fn copies(bandwidth: &Bandwidth) -> Vec<DeviceFact> {
    let line = |name, rate: Option<f64>| {
        rate.map(|rate| DeviceFact { name, value: format!("{} GB/s", digits(rate)) })
    };
    [
        line("Host to device", bandwidth.host_to_device),
        line("Device to host", bandwidth.device_to_host),
        line("On the device", bandwidth.device_to_device),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What a launch costs on a stream and in a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchCost {
    /// Microseconds of one launch of many on a stream.
    pub stream_us: f64,
    /// The same of one launch in a graph.
    pub graph_us: f64,
    /// How many times cheaper the graph is, such as `4.1×`; empty where it is not.
    pub factor: String,
    /// What it means for inference.
    pub sentence: String,
    /// How it was measured.
    pub how: String,
}

impl LaunchCost {
    /// A decoding step of a language model launches a few hundred kernels; this is the example.
    const EXAMPLE: f64 = 300.0;

    /// `None` when nothing sensible was measured.
    pub fn new(graph: &Graph) -> Option<Self> {
        let (stream, graphed) = (graph.stream_us_per_launch, graph.graph_us_per_launch);
        let sensible = |value: f64| value.is_finite() && value > 0.0;
        if !sensible(stream) || !sensible(graphed) {
            return None;
        }
        // Both in one unit, so that they can be compared.
        let in_ms = stream.max(graphed) * Self::EXAMPLE >= 1_000.0;
        let step = |each: f64| match each * Self::EXAMPLE {
            us if !in_ms => format!("{us:.0} µs"),
            us if us < 100.0 => format!("{:.2} ms", us / 1_000.0),
            us => format!("{:.1} ms", us / 1_000.0),
        };
        let ratio = stream / graphed;
        let (factor, sentence) = if ratio >= 1.05 {
            let sentence = format!(
                "Example: a decoding step of 300 launches takes {} of launch overhead on a stream and {} \
                 in a graph, without kernel time.",
                step(stream),
                step(graphed)
            );
            (if ratio < 10.0 { format!("{ratio:.1}×") } else { format!("{ratio:.0}×") }, sentence)
        } else {
            let sentence = format!(
                "A graph saves nothing here. Example: a decoding step of 300 launches takes {} of \
                 launch overhead either way.",
                step(stream)
            );
            (String::new(), sentence)
        };
        let mut how = format!("Median of {} rounds of {} launches", graph.rounds, graph.launches);
        if let Some(us) = graph.capture_us {
            how = format!("{how}; graph capture took {}", super::words::time(us));
        }
        Some(Self { stream_us: stream, graph_us: graphed, factor, sentence, how: format!("{how}.") })
    }
}
