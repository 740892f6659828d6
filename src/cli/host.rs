//! The GPUs of this machine as targets.

use crate::cuda::catalog::Catalog;
use crate::cuda::compat::HostTargets;

/// The GPUs of this machine, queried in a child process; or why none is available. One of several identical GPUs is
/// returned.
#[cfg(feature = "gpu")]
pub(super) fn host_targets(catalog: &Catalog) -> HostTargets {
    use std::time::Duration;

    use crate::gpu::{CheckRequest, ChildRequest, Depth, check};
    use crate::jobs::CancelToken;

    /// Loading the driver may take seconds; a report does not wait for one that hangs.
    const LIMIT: Duration = Duration::from_secs(10);
    let child = ChildRequest { depth: Depth::Devices, ..ChildRequest::default() };
    let mut request =
        CheckRequest::new(child).map_err(|error| format!("cannot start the GPU check: {error}"))?;
    request.limit = LIMIT;
    targets(catalog, &check(&request, &CancelToken::new(), &mut |_| ()))
}

/// Built without the GPU check.
#[cfg(not(feature = "gpu"))]
pub(super) fn host_targets(_catalog: &Catalog) -> HostTargets {
    Err("built without the GPU check (feature `gpu`)".to_owned())
}

#[cfg(feature = "gpu")]
fn targets(catalog: &Catalog, check: &crate::gpu::Check) -> HostTargets {
    use crate::cuda::compat::{HostDevice, TargetGpu};

    if let Some(error) = &check.error {
        let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
        return Err(format!("{}: {}{hint}", error.name, error.message));
    }
    let driver = check.driver.as_ref();
    let devices: Vec<HostDevice> = check
        .devices
        .iter()
        .map(|device| HostDevice {
            index: device.index,
            name: device.name.clone(),
            compute_capability: device.compute_capability.clone(),
            memory_bytes: device.memory_bytes,
            brand: device.nvml.as_ref().and_then(|nvml| nvml.brand.clone()),
            driver: driver.and_then(|driver| driver.version.clone()),
            cuda: driver.and_then(|driver| driver.cuda_version.clone()),
        })
        .collect();
    let mut targets: Vec<(u32, TargetGpu)> = Vec::new();
    for device in &devices {
        let Some(target) = TargetGpu::host(catalog, device, true) else { continue };
        let like = |(_, known): &(u32, TargetGpu)| {
            (known.sm, &known.name, known.class) == (target.sm, &target.name, target.class)
        };
        if !targets.iter().any(like) {
            targets.push((device.index, target));
        }
    }
    if targets.is_empty() {
        return Err("the driver does not report its GPUs".to_owned());
    }
    if let [(index, only)] = &mut targets[..] {
        // A single kind of GPU needs no number.
        let device = devices.iter().find(|device| device.index == *index);
        if let Some(named) = device.and_then(|device| TargetGpu::host(catalog, device, false)) {
            *only = named;
        }
    }
    Ok(targets.into_iter().map(|(_, target)| target).collect())
}
