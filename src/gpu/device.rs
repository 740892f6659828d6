//! Lists the devices and checks each.

use std::time::Instant;

use super::api::{Attribute, Cuda, Ordinal};
use super::fault::Fault;
use super::kernel::{self, compare, numbers, ptx};
use super::merge::micros;
use super::nvml::{Management, hyphenated};
use super::protocol::Message;
use super::resources::{Context, Memory, Module, Stream};
use super::work::{Attempt, ChildRequest, Failed, Work};
use super::{Device, Graph, KernelVerdict, Stage, bandwidth, launches};

/// Maximum devices checked. The largest machines have some dozens, MIG instances included.
const MOST: u32 = 128;

/// A device and its facts.
pub(super) struct Listed {
    ordinal: Ordinal,
    device: Device,
}

/// Lists the devices.
pub(super) fn list(
    work: &mut Work,
    cuda: &'static Cuda,
    management: Option<&Management>,
    request: &ChildRequest,
) -> Result<Vec<Listed>, Failed> {
    work.step(Stage::Devices, None, |work| {
        let count = u32::try_from(cuda.device_count()?).unwrap_or_default();
        work.machine.devices = Some(count);
        if count == 0 {
            return Err(Fault::Cuda { code: 100, call: "cuDeviceGetCount" });
        }
        let mut listed = Vec::new();
        if count > MOST {
            work.note(format!("Checked: the first {MOST} of {count} devices, and the requested one."));
        }
        let asked = request.device.filter(|asked| (MOST..count).contains(asked));
        for index in (0..count.min(MOST)).chain(asked) {
            let ordinal = cuda.device(index)?;
            let device = describe(cuda, management, index, ordinal)?;
            work.tell(&Message::Device(Box::new(device.clone())));
            listed.push(Listed { ordinal, device });
        }
        if request.device.is_some_and(|asked| asked >= count) {
            return Err(Fault::Cuda { code: 101, call: "cuDeviceGet" });
        }
        Ok((listed, Some(crate::base::text::counted(u64::from(count), "device"))))
    })
}

fn describe(
    cuda: &'static Cuda,
    management: Option<&Management>,
    index: u32,
    ordinal: Ordinal,
) -> Result<Device, Fault> {
    let major = cuda.attribute(ordinal, Attribute::Major)?;
    let minor = cuda.attribute(ordinal, Attribute::Minor)?;
    let (uuid, bus) = (cuda.device_uuid(ordinal).ok(), cuda.device_pci(ordinal).ok());
    let facts = management.and_then(|nvml| nvml.facts(uuid, bus.as_deref()));
    let (known, mig, nvml) =
        facts.map_or((None, None, None), |facts| (facts.uuid, facts.mig, Some(facts.nvml)));
    let name = cuda.device_name(ordinal)?;
    // The driver names MIG instances `NVIDIA A100-SXM4-40GB MIG 1g.5gb`.
    let mig = mig.or_else(|| name.contains(" MIG ").then_some(true));
    let kind = if mig == Some(true) { "MIG" } else { "GPU" };
    Ok(Device {
        index,
        name,
        compute_capability: format!("{major}.{minor}"),
        memory_bytes: cuda.device_memory(ordinal).ok(),
        multiprocessors: cuda.attribute(ordinal, Attribute::Multiprocessors).ok(),
        uuid: known.or_else(|| Some(format!("{kind}-{}", hyphenated(&uuid?)))),
        mig,
        integrated: cuda.attribute(ordinal, Attribute::Integrated).ok().map(|value| value != 0),
        nvml,
        ..Device::default()
    })
}

/// Checks the requested devices, each independent of the results of others.
pub(super) fn check_all(work: &mut Work, cuda: &Cuda, devices: Vec<Listed>, request: &ChildRequest) {
    for Listed { ordinal, mut device } in devices {
        if request.device.is_some_and(|asked| asked != device.index) {
            continue;
        }
        cuda.mend();
        let checked = check(work, cuda, ordinal, &mut device, request.bandwidth);
        if checked.is_err() && device.kernel_check.verdict != KernelVerdict::Pass {
            device.kernel_check.verdict = KernelVerdict::Fail;
        }
        work.tell(&Message::Device(Box::new(device)));
    }
}

fn check(
    work: &mut Work,
    cuda: &Cuda,
    ordinal: Ordinal,
    device: &mut Device,
    copies: bool,
) -> Result<(), Failed> {
    let index = Some(device.index);
    let context = work.step(Stage::Context, index, |_| Ok((Context::retain(cuda, ordinal)?, None)))?;
    let module = work.step(Stage::Module, index, |_| {
        let start = Instant::now();
        let module = Module::load(&context, ptx())?;
        device.kernel_check.module_load_us = Some(micros(start.elapsed()));
        Ok((module, None))
    })?;
    verify(work, &context, &module, device)?;
    let stream = launch_costs(work, &context, &module, device)?;
    work.tell(&Message::Device(Box::new(device.clone())));
    if copies {
        let measured =
            work.attempt(Stage::Bandwidth, index, |_| Ok((bandwidth::measure(&context, &stream)?, None)));
        device.bandwidth_gb_s =
            optional(work, measured, &format!("Copies of device {} not measured", device.index))?;
    }
    Ok(())
}

/// Runs the kernel over many elements and compares every result.
fn verify(
    work: &mut Work,
    context: &Context<'_>,
    module: &Module<'_>,
    device: &mut Device,
) -> Result<(), Failed> {
    let index = Some(device.index);
    let ((x, y), mut results) = (numbers(), Vec::new());
    let (stream, kernel, on_device) = work.step(Stage::Memory, index, |_| {
        let kernel = module.kernel(kernel::FMA)?;
        let stream = Stream::create(context)?;
        let bytes = size_of_val(x.as_slice());
        let memory = (Memory::take(context, bytes)?, Memory::take(context, bytes)?);
        // NaN in host and device memory: a copy or kernel without effect is detected, even if an earlier check left the
        // correct results in this memory.
        results = vec![f32::NAN; x.len()];
        memory.0.fill(&results)?;
        memory.1.fill(&results)?;
        memory.0.fill(&x)?;
        memory.1.fill(&y)?;
        Ok(((stream, kernel, memory), None))
    })?;
    work.step(Stage::Launch, index, |_| {
        let start = Instant::now();
        let (x, y) = &on_device;
        stream.start_fma(kernel, kernel::GRID, (x, y), kernel::FACTOR, kernel::ELEMENTS)?;
        stream.wait()?;
        device.kernel_check.launch_us = Some(micros(start.elapsed()));
        Ok(((), None))
    })?;
    work.step(Stage::Verify, index, |work| {
        on_device.1.read(&mut results)?;
        let comparison = compare(&x, &y, &results);
        let kernel_check = &mut device.kernel_check;
        kernel_check.elements = Some(u64::from(kernel::ELEMENTS));
        kernel_check.max_abs_error = comparison.max_abs_error;
        kernel_check.tolerance = Some(kernel::TOLERANCE);
        if let Some((place, expected, result)) = comparison.first {
            let (wrong, all) = (comparison.wrong, kernel::ELEMENTS);
            let message = format!(
                "{wrong} of {all} elements are wrong; the first is element {place}: {result} instead of {expected}"
            );
            return Err(Fault::own("wrong-numbers", message));
        }
        kernel_check.verdict = KernelVerdict::Pass;
        // Reported at once: releasing memory may end this process.
        work.tell(&Message::Device(Box::new(device.clone())));
        Ok(((), Some(format!("{} elements", kernel::ELEMENTS))))
    })
}

/// Measures launch latency; returns the stream for further use.
fn launch_costs<'a>(
    work: &mut Work,
    context: &'a Context<'_>,
    module: &Module<'_>,
    device: &mut Device,
) -> Result<Stream<'a>, Failed> {
    let index = Some(device.index);
    let (stream, kernel) = work.step(Stage::StreamLaunches, index, |_| {
        let (stream, kernel) = (Stream::create(context)?, module.kernel(kernel::NOTHING)?);
        launches::warm_up(&stream, kernel)?;
        Ok(((stream, kernel), Some(format!("{} launches", launches::LAUNCHES))))
    })?;
    let captured = work.attempt(Stage::GraphCapture, index, |_| {
        let start = Instant::now();
        let graph = stream.capture(|| launches::capture(&stream, kernel))?;
        let program = graph.instantiate()?;
        let us = micros(start.elapsed());
        program.upload(&stream)?;
        stream.wait()?;
        Ok(((program, us), None))
    });
    let Some((program, capture_us)) =
        optional(work, captured, &format!("Graphs of device {} not measured", device.index))?
    else {
        return Ok(stream);
    };
    let measured = work.step(Stage::GraphLaunches, index, |_| {
        let measured = launches::measure(&stream, kernel, &program)?;
        let (streamed, replayed) = (measured.stream_us_per_launch, measured.graph_us_per_launch);
        Ok((measured, Some(format!("{replayed:.2} us each, {streamed:.2} us on stream"))))
    })?;
    drop(program);
    device.graph = Some(Graph { capture_us: Some(capture_us), ..measured });
    Ok(stream)
}

/// Result of a measurement; `None`, with a note, if this driver or machine does not support it.
fn optional<T>(work: &mut Work, measured: Result<T, Attempt>, what: &str) -> Result<Option<T>, Failed> {
    let attempt = match measured {
        Ok(measured) => return Ok(Some(measured)),
        Err(attempt) => attempt,
    };
    let why = match &attempt.fault {
        Fault::Missing(symbol) => format!("the driver is too old: no {symbol}"),
        Fault::Own { name: "no-memory", message } => message.clone(),
        _ => return Err(work.fail(attempt)),
    };
    work.note(format!("{what}: {why}."));
    Ok(None)
}
