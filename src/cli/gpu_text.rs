//! A GPU check as text in 80 columns.

use std::fmt::Write as _;

use super::gpu_image::ImageLoads;
use crate::base::size::{grouped, human};
use crate::base::text::{counted, elide_middle, printable, sentence};
use crate::base::wrap::wrap;
use crate::gpu::{Bandwidth, Check, Device, Driver, GpuError, Graph, KernelVerdict, Nvml, Step};

const WIDTH: usize = 80;
/// Maximum lines of JIT log or of the output of a crashed process.
const LOG_LINES: usize = 20;

/// A check as text, without control characters.
pub(super) fn to_text(check: &Check) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    write_all(&mut out, check).ok();
    out
}

/// The GPU code of an image as text.
pub(super) fn loads_to_text(loads: &ImageLoads) -> String {
    let mut out = String::new();
    write_loads(&mut out, loads).ok();
    out
}

fn write_loads(out: &mut String, loads: &ImageLoads) -> std::fmt::Result {
    writeln!(out)?;
    paragraph(out, "", &format!("GPU code of {} on {}", printable(&loads.reference), loads.device))?;
    let all = &loads.all;
    let mut parts = vec![
        format!("{} loaded", grouped(all.loaded as u64)),
        format!("{} without code for this GPU", grouped(all.no_code as u64)),
    ];
    let others = [
        (all.jit, "with only PTX for it (not compiled here)"),
        (all.refused, "refused"),
        (all.crashed, "crashed the driver"),
        (all.timed_out, "timed out"),
        (all.too_large, "too large to try"),
    ];
    parts.extend(
        others
            .iter()
            .filter(|one| one.0 > 0)
            .map(|(count, what)| format!("{} {what}", grouped(*count as u64))),
    );
    let count = counted(all.containers as u64, "container");
    paragraph(out, "  ", &format!("{count}: {}", parts.join(", ")))?;
    if loads.unreferenced_libraries > 0 {
        let count = loads.unreferenced_libraries as u64;
        paragraph(out, "  ", &format!("Not tried: {} that nothing known loads", counted(count, "library")))?;
    }
    if !loads.libraries.is_empty() {
        writeln!(out, "\n{:>12} {:>10} {:>10} {:>10}  File", "Containers", "Loaded", "Only PTX", "No code")?;
    }
    for library in &loads.libraries {
        let counts = &library.counts;
        let number = |count: usize| grouped(count as u64);
        let head = format!(
            "{:>12} {:>10} {:>10} {:>10}  ",
            number(counts.containers),
            number(counts.loaded),
            number(counts.jit),
            number(counts.no_code)
        );
        writeln!(out, "{head}{}", elide_middle(&library.path, WIDTH.saturating_sub(head.len())))?;
    }
    for fault in loads.faults.iter().take(LOG_LINES) {
        let detail = fault.detail.as_ref().map_or_else(String::new, |detail| format!(": {detail}"));
        paragraph(out, "  ", &format!("{} at {} {}{detail}", fault.path, fault.offset, fault.outcome))?;
    }
    if loads.faults.len() > LOG_LINES {
        writeln!(out, "  and {} more", loads.faults.len() - LOG_LINES)?;
    }
    for note in &loads.notes {
        paragraph(out, "  ", note)?;
    }
    Ok(())
}

/// One step as a line.
pub(super) fn step_line(step: &Step) -> String {
    let device = step.device.map_or_else(String::new, |device| format!("device {device}: "));
    let title = format!("{device}{}", step.name.title());
    let outcome = if step.ok { step.detail.clone().unwrap_or_default() } else { "failed".to_owned() };
    let head = format!("{:>10}  {title:<32} ", duration(step.us));
    let room = WIDTH.saturating_sub(head.chars().count());
    format!("{head}{}", elide_middle(&printable(&outcome), room)).trim_end().to_owned()
}

fn write_all(out: &mut String, check: &Check) -> std::fmt::Result {
    writeln!(out, "{}", headline(check))?;
    if let Some(error) = &check.error {
        write_error(out, error)?;
    }
    if let Some(driver) = &check.driver {
        write_driver(out, driver)?;
    }
    for device in &check.devices {
        write_device(out, device)?;
    }
    // With a driver, its path says where it was found.
    if check.driver.is_none() && !check.tried.is_empty() {
        writeln!(out, "\nSearched for libcuda.so.1")?;
        for tried in &check.tried {
            let line = format!("{}: {}", printable(&tried.path), printable(&tried.outcome));
            paragraph(out, "  ", &line)?;
        }
    }
    if !check.steps.is_empty() {
        writeln!(out, "\nSteps, {} in all", duration(check.total_us))?;
        for step in &check.steps {
            writeln!(out, "{}", step_line(step))?;
        }
    }
    if !check.notes.is_empty() {
        writeln!(out, "\nNotes")?;
        for note in &check.notes {
            paragraph(out, "  ", &printable(note))?;
        }
    }
    Ok(())
}

fn headline(check: &Check) -> String {
    let count =
        |verdict| check.devices.iter().filter(|device| device.kernel_check.verdict == verdict).count();
    let (passed, skipped) = (count(KernelVerdict::Pass), count(KernelVerdict::Skipped));
    // Consistent with exit code 2 when no GPU is available.
    let works = if check.available { check.devices.iter().filter(|one| check.works(one)).count() } else { 0 };
    let verb = if works == 1 { "works" } else { "work" };
    let mut failed = check.devices.iter().filter(|device| device.kernel_check.verdict == KernelVerdict::Fail);
    let text = match (works, &check.error) {
        (1, None) => "The GPU works".to_owned(),
        (2.., None) => format!("{works} GPUs work"),
        (1.., Some(_)) => format!("{works} of {} GPUs {verb}", check.devices.len()),
        (0, _) if passed > 0 => "Some checks failed".to_owned(),
        (0, _) => match (failed.next(), failed.next()) {
            (Some(one), None) if skipped > 0 => format!("Device {} does not work", one.index),
            _ => "No working GPU".to_owned(),
        },
    };
    let name = check.error.as_ref().map_or_else(String::new, |error| match error.name.as_str() {
        "no-library" => ": libcuda.so.1 not found (no-library)".to_owned(),
        name => format!(": {name}"),
    });
    printable(&format!("{text}{name}"))
}

fn write_error(out: &mut String, error: &GpuError) -> std::fmt::Result {
    writeln!(out, "\nFailed step: {}", printable(&error.stage))?;
    paragraph(out, "  ", &printable(&sentence(&error.message)))?;
    if let Some(hint) = &error.hint {
        paragraph(out, "  ", &printable(&format!("hint: {}", sentence(hint))))?;
    }
    if let Some(log) = &error.log {
        writeln!(out, "  Output:")?;
        let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        // The last lines are the most useful.
        for line in lines.iter().skip(lines.len().saturating_sub(LOG_LINES)) {
            writeln!(out, "    {}", elide_middle(&printable(line), WIDTH - 4))?;
        }
    }
    Ok(())
}

fn write_driver(out: &mut String, driver: &Driver) -> std::fmt::Result {
    writeln!(out, "\nDriver")?;
    fact(out, "version", driver.version.as_deref().unwrap_or("unknown"))?;
    fact(out, "CUDA", driver.cuda_version.as_deref().unwrap_or("unknown"))?;
    fact(out, "library", driver.library_path.as_deref().unwrap_or("unknown"))?;
    let by = match driver.found_by.as_deref() {
        Some("loader") => "the dynamic loader",
        Some("given") => "command line option",
        Some(folder) => &format!("searching {folder}, which the dynamic loader does not search"),
        None => "unknown",
    };
    fact(out, "found by", by)
}

fn write_device(out: &mut String, device: &Device) -> std::fmt::Result {
    writeln!(out, "\nDevice {}: {}", device.index, elide_middle(&printable(&device.name), WIDTH - 14))?;
    let mut what = vec![format!("compute capability {}", device.compute_capability)];
    what.extend(device.multiprocessors.map(|count| format!("{count} multiprocessors")));
    what.extend(device.memory_bytes.map(|bytes| format!("{} memory", human(bytes))));
    what.extend(device.mig.filter(|mig| *mig).map(|_| "MIG instance".to_owned()));
    what.extend(device.integrated.filter(|shares| *shares).map(|_| "shared memory with the host".to_owned()));
    fact(out, "is", &what.join(", "))?;
    if let Some(uuid) = &device.uuid {
        fact(out, "UUID", uuid)?;
    }
    if let Some(nvml) = &device.nvml {
        let state = state(nvml);
        if !state.is_empty() {
            fact(out, "state", &state)?;
        }
    }
    let kernel = &device.kernel_check;
    let verdict = match kernel.verdict {
        KernelVerdict::Pass => {
            let all = kernel
                .elements
                .map_or_else(|| "all elements".to_owned(), |all| format!("{} elements", grouped(all)));
            let off = match kernel.max_abs_error {
                Some(0.0) => "match the CPU result".to_owned(),
                Some(error) => format!("correct, maximum error {error:.1e}"),
                None => "right".to_owned(),
            };
            let times = [("JIT compiled in", kernel.module_load_us), ("ran in", kernel.launch_us)];
            let times = times.iter().filter_map(|(what, us)| Some(format!("; {what} {}", duration((*us)?))));
            format!("{all} {off}{}", times.collect::<String>())
        }
        KernelVerdict::Fail => "failed".to_owned(),
        KernelVerdict::Skipped => "not run".to_owned(),
    };
    fact(out, "kernel", &verdict)?;
    if let Some(graph) = &device.graph {
        write_graph(out, graph)?;
    }
    if let Some(bandwidth) = &device.bandwidth_gb_s {
        fact(out, "copies", &copies(bandwidth))?;
    }
    Ok(())
}

fn state(nvml: &Nvml) -> String {
    let mut parts = Vec::new();
    parts.extend(nvml.memory_used_bytes.map(|bytes| format!("{} in use", human(bytes))));
    parts.extend(nvml.temperature_c.map(|degrees| format!("{degrees} °C")));
    parts.extend(nvml.compute_mode.as_ref().map(|mode| format!("compute mode {mode}")));
    parts.extend(nvml.mig_mode.map(|on| if on { "MIG on" } else { "MIG off" }.to_owned()));
    parts.extend(nvml.ecc_uncorrected.map(|count| format!("{count} uncorrected ECC errors")));
    parts.extend(nvml.fabric.as_ref().map(|fabric| format!("fabric {fabric}")));
    parts.join(", ")
}

/// Launch latency, and its effect on an inference step.
fn write_graph(out: &mut String, graph: &Graph) -> std::fmt::Result {
    let (stream, replayed, launches) =
        (graph.stream_us_per_launch, graph.graph_us_per_launch, graph.launches);
    let line = format!(
        "{stream:.2} us per launch on a stream, {replayed:.2} us in a graph ({launches} launches, median of {} rounds)",
        graph.rounds
    );
    fact(out, "launches", &line)?;
    let (before, after) = (stream * f64::from(launches) / 1e3, replayed * f64::from(launches) / 1e3);
    let meaning = if graph.speedup >= 1.05 {
        format!(
            "An inference step of {launches} small kernels takes about {before:.1} ms to launch one by one, and \
            {after:.1} ms as a CUDA graph ({:.1} times less).",
            graph.speedup
        )
    } else {
        "A CUDA graph does not reduce launch latency on this machine.".to_owned()
    };
    fact(out, "", &meaning)
}

fn copies(bandwidth: &Bandwidth) -> String {
    let rates = [
        ("host to device", bandwidth.host_to_device),
        ("device to host", bandwidth.device_to_host),
        ("on the device (read and write)", bandwidth.device_to_device),
    ];
    let rates = rates.iter().map(|(what, rate)| {
        rate.map_or_else(|| format!("{what} unknown"), |rate| format!("{what} {rate:.1} GB/s"))
    });
    rates.collect::<Vec<_>>().join(", ")
}

/// A duration with about three digits.
fn duration(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}

fn fact(out: &mut String, name: &str, value: &str) -> std::fmt::Result {
    let value = printable(value);
    for (count, line) in wrap(&value, WIDTH - 12).into_iter().enumerate() {
        writeln!(out, "  {:<9} {line}", if count == 0 { name } else { "" })?;
    }
    Ok(())
}

fn paragraph(out: &mut String, indent: &str, text: &str) -> std::fmt::Result {
    wrap(text, WIDTH - indent.len()).into_iter().try_for_each(|line| writeln!(out, "{indent}{line}"))
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, step_line};
    use crate::gpu::{Stage, Step};

    #[test]
    fn a_long_path_is_cut_and_never_what_the_step_is() {
        for (device, us) in [(None, 3), (Some(0), 59_999_999), (Some(127), 999)] {
            let detail = Some("/usr/local/nvidia/lib64/very/long/libcuda.so.580.159.04".to_owned());
            let line = step_line(&Step { name: Stage::Library, ok: true, us, device, detail });
            assert!(line.contains("Find libcuda.so.1") && line.ends_with("libcuda.so.580.159.04"), "{line}");
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
