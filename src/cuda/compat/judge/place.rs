//! Rules for the environment of the container: CPU architecture, mounts, the libcuda that the loader finds.

use crate::base::Platform;
use crate::base::text::{elide_end, printable};
use crate::cuda::catalog::GpuClass;
use crate::cuda::compat::{Needs, Reason, RuleId, RunVerdict, TargetGpu};

/// Whether the image is for another CPU architecture or operating system.
pub(super) fn platform(needs: &Needs, target: &TargetGpu) -> Option<Reason> {
    let image = needs.platform.as_ref()?;
    let reason = |verdict, text: String| {
        Some(Reason::new(verdict, RuleId::Platform, text).about(printable(&image.to_string())))
    };
    let shown = |text: &str| elide_end(&printable(text), 40);
    if !image.os.is_empty() && !image.os.eq_ignore_ascii_case("linux") {
        let text = format!("The image is for {}, the machine runs Linux.", shown(&image.os));
        return reason(RunVerdict::Fails, text);
    }
    let architecture = target.architecture.as_ref().filter(|known| !known.is_empty())?;
    if image.architecture.is_empty() {
        return None;
    }
    let plain = |architecture: &str| Platform {
        os: "linux".to_owned(),
        architecture: architecture.to_owned(),
        variant: None,
    };
    if plain(architecture).accepts(&plain(&image.architecture)) {
        return None;
    }
    let text =
        format!("The image is for {}, the machine is {}.", shown(&image.architecture), shown(architecture));
    let narrow = matches!(
        (image.architecture.as_str(), architecture.as_str()),
        ("386", "amd64" | "x86_64") | ("arm" | "armhf", "arm64" | "aarch64")
    );
    // 64-bit CPUs may run code for their 32-bit predecessors.
    reason(if narrow { RunVerdict::Unknown } else { RunVerdict::Fails }, text)
        .map(|reason| reason.with_hint(format!("Build the image for linux/{}.", shown(architecture))))
}

/// Checks the mounted driver and its visibility to the loader.
pub(super) fn judge(needs: &Needs, target: &TargetGpu) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some(folder) = &target.driver_folder {
        reasons.extend(driver_path(needs, folder));
    } else {
        reasons.extend(capabilities(needs, target));
        reasons.extend(visible_devices(needs));
    }
    reasons.extend(own_driver(needs));
    reasons
}

fn variable<'a>(needs: &'a Needs, name: &str) -> Option<&'a str> {
    needs.environment.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn capabilities(needs: &Needs, target: &TargetGpu) -> Option<Reason> {
    let value = variable(needs, "NVIDIA_DRIVER_CAPABILITIES")?;
    let mut named = value.split(',').map(str::trim).filter(|name| !name.is_empty()).peekable();
    // Unset and empty mean `compute,utility`. Jetson's libraries are always mounted.
    named.peek()?;
    if named.any(|name| matches!(name, "compute" | "all")) || target.class == Some(GpuClass::Jetson) {
        return None;
    }
    let text = format!(
        "NVIDIA_DRIVER_CAPABILITIES is {} and lacks compute: a container toolkit in legacy mode does not mount \
        libcuda.so.1, and CUDA fails; in CDI mode it mounts the whole driver.",
        elide_end(&printable(value), 60)
    );
    Some(
        Reason::new(RunVerdict::Unknown, RuleId::Capabilities, text)
            .about("ENV NVIDIA_DRIVER_CAPABILITIES")
            .with_hint("Set NVIDIA_DRIVER_CAPABILITIES=compute,utility."),
    )
}

fn visible_devices(needs: &Needs) -> Option<Reason> {
    let value = variable(needs, "NVIDIA_VISIBLE_DEVICES")?;
    let value = if value.trim().is_empty() { "empty" } else { value.trim() };
    if !matches!(value, "empty" | "void" | "none") {
        return None;
    }
    let text = format!(
        "NVIDIA_VISIBLE_DEVICES is {value} in the image: a container sees a GPU only on request, as with Kubernetes and \
        docker --gpus."
    );
    Some(
        Reason::new(RunVerdict::Runs, RuleId::Capabilities, text)
            .about("ENV NVIDIA_VISIBLE_DEVICES")
            .with_hint("Start it with --gpus, or with nvidia.com/gpu in its limits."),
    )
}

/// Without loader configuration on the machine, the image must configure the driver's folder.
fn driver_path(needs: &Needs, folder: &str) -> Option<Reason> {
    fn bare(path: &str) -> &str {
        path.trim_end_matches('/')
    }
    // The device plugin mounts a folder; its libraries are in that folder or in a folder below it.
    let folder = bare(folder);
    let mut named = needs.loader_folders.iter().filter(|known| bare(&known.path) == folder).peekable();
    if let Some(first) = named.peek().copied() {
        if named.any(|known| known.by.starts_with("ENV ")) {
            return None;
        }
        let text = format!(
            "Only {} names {folder}, where the driver is mounted: the ldconfig cache predates the driver, unless \
            ldconfig runs when the container starts.",
            first.by
        );
        return Some(
            Reason::new(RunVerdict::Unknown, RuleId::DriverPath, text)
                .about(&first.by)
                .with_hint(format!("Add to the image: ENV LD_LIBRARY_PATH={folder}:${{LD_LIBRARY_PATH}}")),
        );
    }
    let text = format!(
        "The driver is mounted at {folder}, which the loader does not search: libcuda.so.1 is not found."
    );
    Some(
        Reason::new(RunVerdict::Fails, RuleId::DriverPath, text)
            .about("libcuda.so.1")
            .with_error(35, "cudaErrorInsufficientDriver")
            .with_hint(format!("Add to the image: ENV LD_LIBRARY_PATH={folder}:${{LD_LIBRARY_PATH}}")),
    )
}

/// Libraries of the image that replace the driver; stubs take precedence.
fn own_driver(needs: &Needs) -> Option<Reason> {
    let own = needs.own_drivers.iter().find(|own| own.stub).or_else(|| needs.own_drivers.first())?;
    let (path, by) = (&own.path, &own.by);
    let hint = format!("Remove its folder from {by}, or the file from the image.");
    let reason = if own.stub {
        let text = format!("{by} puts the stub {path} before the driver: every call into a stub fails.");
        Reason::new(RunVerdict::Fails, RuleId::OwnDriver, text).with_error(34, "CUDA_ERROR_STUB_LIBRARY")
    } else {
        let text = format!(
            "{by} puts {path} of the image before the machine's driver: it works only if the kernel module has exactly \
            the same version."
        );
        Reason::new(RunVerdict::Unknown, RuleId::OwnDriver, text)
            .with_error(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH")
    };
    Some(reason.about(path).with_hint(hint))
}
