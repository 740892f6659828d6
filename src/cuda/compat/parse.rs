//! Parser of targets.

use super::targets::sm_of;
use super::{DriverFrom, HostTargets, TargetDriver, TargetError, TargetGpu};
use crate::base::text::{elide_end, printable};
use crate::cuda::catalog::{Catalog, GpuClass};

/// Parses a target from the command line or `cutaway.toml`: `host`, possibly several GPUs; an id of the
/// catalogue (`gpu:a100-80`, `azure:Standard_NC24ads_A100_v4`, `gke:a2-highgpu-1g`, case-insensitive),
/// optionally with a driver (`azure:Standard_NC24ads_A100_v4,driver=580.95`); or
/// `cc=8.6,driver=535.104,class=geforce`, of which only `cc` is required. `host` is called for this machine's
/// GPUs if needed.
///
/// # Errors
/// `host` without a GPU; an unknown id; a malformed list.
pub fn parse_targets(
    catalog: &Catalog,
    text: &str,
    host: &dyn Fn() -> HostTargets,
) -> Result<Vec<TargetGpu>, TargetError> {
    if text.trim().eq_ignore_ascii_case("host") {
        return host().map_err(TargetError::Host);
    }
    parse_target(catalog, text).map(|target| vec![target])
}

/// As [`parse_targets`], without `host`.
///
/// # Errors
/// Those of [`parse_targets`].
pub fn parse_target(catalog: &Catalog, text: &str) -> Result<TargetGpu, TargetError> {
    let text = text.trim();
    let (id, settings) = match text.split_once(',') {
        Some((id, settings)) if !id.contains('=') => (id.trim(), Some(settings)),
        None if !text.contains('=') => (text, None),
        _ => ("", Some(text)),
    };
    let settings = settings.map(|settings| read(text, settings)).transpose()?.unwrap_or_default();
    if id.is_empty() {
        let sm = settings.sm.ok_or_else(|| fault(text, "missing cc".to_owned()))?;
        let name = format!("GPU of compute capability {}.{}", sm / 10, sm % 10);
        let driver = settings.driver;
        return Ok(TargetGpu {
            id: text.to_owned(),
            name,
            sm,
            class: settings.class,
            driver,
            ..TargetGpu::default()
        });
    }
    if settings.sm.is_some() || settings.class.is_some() {
        return Err(fault(text, format!("{} has its own GPU: only driver= can be added", shown(id))));
    }
    let target = known(catalog, id)
        .ok_or_else(|| TargetError::Unknown { text: shown(id), near: near(catalog, id) })?;
    Ok(match settings.driver {
        // The CUDA version belongs to the default driver, which the given one replaces.
        Some(driver) => TargetGpu {
            id: format!("{},driver={}", target.id, driver.version),
            driver: Some(driver),
            cuda: None,
            ..target
        },
        None => target,
    })
}

/// The target of the catalogue with this id.
fn known(catalog: &Catalog, id: &str) -> Option<TargetGpu> {
    // A GPU is known without the prefix too: h100 is gpu:h100.
    let is = |target: &str| match target.split_once(':') {
        Some(("gpu", name)) if name.eq_ignore_ascii_case(id) => true,
        _ => target.eq_ignore_ascii_case(id),
    };
    let gpu = catalog.targets().iter().find(|target| is(&target.id));
    if let Some(target) = gpu {
        return TargetGpu::named(catalog, &target.id);
    }
    let (cloud, size) = id.split_once(':')?;
    let service = catalog.services().iter().find(|service| service.id.eq_ignore_ascii_case(cloud));
    let wanted = service.map_or_else(|| id.to_owned(), |service| format!("{}:{size}", service.machines));
    let sizes =
        catalog.machines().iter().flat_map(|machine| machine.sizes.iter().map(move |size| (machine, size)));
    let found = sizes.into_iter().find(|(_, size)| size.id.eq_ignore_ascii_case(&wanted));
    let target = found.and_then(|(machine, size)| TargetGpu::of_machine(catalog, machine, size))?;
    Some(match service {
        Some(service) => target.under(service),
        None => target,
    })
}

/// Values of the list.
#[derive(Default)]
struct Settings {
    sm: Option<u32>,
    driver: Option<TargetDriver>,
    class: Option<GpuClass>,
}

fn fault(text: &str, message: String) -> TargetError {
    TargetError::Malformed { text: shown(text), message }
}

fn read(whole: &str, text: &str) -> Result<Settings, TargetError> {
    let fault = |message: String| fault(whole, message);
    let mut settings = Settings::default();
    for part in text.split(',') {
        let Some((name, value)) = part.split_once('=') else {
            return Err(fault(format!("{} is not NAME=VALUE", shown(part))));
        };
        let (name, value) = (name.trim(), value.trim());
        let twice = match name {
            "cc" => {
                let read = sm_of(value);
                let read =
                    read.ok_or_else(|| fault(format!("{} is not a compute capability", shown(value))))?;
                settings.sm.replace(read).is_some()
            }
            "driver" => {
                let mut numbers = value.split('.');
                if numbers.clone().count() > 3 || !numbers.all(|part| part.parse::<u32>().is_ok()) {
                    return Err(fault(format!("{} is not a driver version", shown(value))));
                }
                let stated = TargetDriver { version: value.to_owned(), from: DriverFrom::Stated };
                settings.driver.replace(stated).is_some()
            }
            "class" => {
                let read = match value.to_ascii_lowercase().as_str() {
                    "data-center" | "datacenter" | "data-centre" => GpuClass::DataCenter,
                    "workstation" => GpuClass::Workstation,
                    "geforce" => GpuClass::Geforce,
                    "jetson" => GpuClass::Jetson,
                    _ => {
                        let wanted = "data-center, workstation, geforce or jetson";
                        return Err(fault(format!("unknown class {}, expected {wanted}", shown(value))));
                    }
                };
                settings.class.replace(read).is_some()
            }
            _ => return Err(fault(format!("{} is not cc, driver or class", shown(name)))),
        };
        if twice {
            return Err(fault(format!("{name} given twice")));
        }
    }
    Ok(settings)
}

/// User input, shortened and safe to show.
fn shown(text: &str) -> String {
    elide_end(&printable(text), 80)
}

/// Known ids that differ in few characters, or contain the input.
fn near(catalog: &Catalog, text: &str) -> Vec<String> {
    /// Longer than any id; longer input has no suggestions.
    const LONGEST: usize = 64;
    let asked = text.to_ascii_lowercase();
    if asked.is_empty() || asked.len() > LONGEST {
        return Vec::new();
    }
    let bare = asked.split_once(':').map_or(asked.as_str(), |(_, name)| name);
    // A third of the characters may differ, at least 1 and at most 3.
    let most = (bare.len() / 3).clamp(1, 3);
    let mut found: Vec<(bool, usize, String)> = TargetGpu::all(catalog)
        .into_iter()
        .filter_map(|target| {
            let id = target.id;
            let lower = id.to_ascii_lowercase();
            let distance = distance_of(&asked, &lower);
            let holds = bare.len() > 1 && lower.contains(bare);
            (distance <= most || holds).then_some((!holds, distance, id))
        })
        .collect();
    found.sort();
    found.into_iter().take(3).map(|(.., id)| id).collect()
}

/// Levenshtein distance, in characters.
fn distance_of(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.chars().enumerate() {
        let mut next = vec![place + 1];
        for (column, (wanted, pair)) in other.iter().zip(row.windows(2)).enumerate() {
            let left = next.get(column).copied().unwrap_or(usize::MAX);
            let replaced = pair[0] + usize::from(letter != *wanted);
            next.push(replaced.min(pair[1] + 1).min(left.saturating_add(1)));
        }
        row = next;
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::{HostDevice, HostTargets, TargetError, TargetGpu, default_targets};
    use super::{parse_target as parse, parse_targets};
    use crate::cuda::catalog::{Catalog, GpuClass};

    #[test]
    fn targets_are_read_as_the_contract_writes_them() {
        let catalog = Catalog::builtin();
        let sm = |text: &str| parse(catalog, text).map(|target| target.sm);
        assert_eq!(sm("gpu:a100-80"), Ok(80));
        assert_eq!(sm("GPU:L4"), Ok(89));
        assert_eq!(sm("azure:standard_nc24ads_a100_v4"), Ok(80));
        let azure = parse(catalog, "azure:Standard_NC4as_T4_v3").unwrap();
        assert_eq!((azure.id.as_str(), azure.title().as_str()), ("azure:Standard_NC4as_T4_v3", "T4 (7.5)"));
        let one = parse(catalog, "cc=8.6, driver=535.104,class=geforce").unwrap();
        assert_eq!(
            (one.sm, one.driver.as_ref().map(|driver| driver.version.as_str()), one.class),
            (86, Some("535.104"), Some(GpuClass::Geforce))
        );
        assert_eq!(sm("cc=12.0"), Ok(120));
        assert_eq!(default_targets(catalog).len(), 5);
    }

    #[test]
    fn errors_say_what_is_near_and_what_to_write() {
        let catalog = Catalog::builtin();
        let error = |text: &str| parse(catalog, text).unwrap_err();
        let near = error("gpu:a100-8");
        assert!(near.hint().contains("gpu:a100-80"), "{}", near.hint());
        assert_eq!(
            parse(catalog, "H100").map(|target| target.id),
            Ok("gpu:h100".to_owned()),
            "as people say it"
        );
        assert!(error("h10").hint().contains("gpu:h100"));
        assert!(error("gpu:nothing-like-it").hint().contains("cc=8.9"));
        for text in [
            "cc=",
            "cc=8",
            "cc=8.66",
            "driver=535",
            "cc=8.6,cc=8.6",
            "cc=8.6,x=1",
            "cc=8.6,class=fast",
            "cc=8.6,8.9",
        ] {
            assert!(matches!(error(text), TargetError::Malformed { .. }), "{text}");
        }
        assert!(error("cc=8.6,driver=5.x").to_string().contains("driver"));
    }

    #[test]
    fn every_machine_has_a_known_gpu_and_can_be_named() {
        let catalog = Catalog::builtin();
        for machine in catalog.machines() {
            assert!(catalog.target(&machine.target).is_some(), "{machine:?}");
            assert!(machine.sizes.iter().all(|size| size.id.contains(':')), "{machine:?}");
        }
        for target in TargetGpu::all(catalog) {
            assert_eq!(parse(catalog, &target.id).as_ref(), Ok(&target));
        }
    }

    #[test]
    fn a_driver_can_be_said_of_a_machine() {
        let catalog = Catalog::builtin();
        let target = parse(catalog, "azure:standard_nc24ads_a100_v4,driver=580.95").unwrap();
        assert_eq!(target.id, "azure:Standard_NC24ads_A100_v4,driver=580.95");
        assert_eq!(target.driver.map(|driver| driver.version).as_deref(), Some("580.95"));
        assert!(parse(catalog, "gpu:l4,cc=8.9").is_err());
    }

    #[test]
    fn the_host_is_what_was_asked_of_it() {
        let catalog = Catalog::builtin();
        let none: HostTargets = Err("no libcuda.so.1".to_owned());
        let error = parse_targets(catalog, "host", &|| none.clone()).unwrap_err();
        assert_eq!(error, TargetError::Host("no libcuda.so.1".to_owned()));
        let device = |name: &str, capability: &str, brand: Option<&str>| HostDevice {
            name: name.to_owned(),
            compute_capability: capability.to_owned(),
            brand: brand.map(str::to_owned),
            driver: Some("580.159.04".to_owned()),
            cuda: Some("13.0".to_owned()),
            ..HostDevice::default()
        };
        for (device, class) in [
            (device("NVIDIA H200", "9.0", Some("Nvidia")), Some(GpuClass::DataCenter)),
            (device("NVIDIA A100-SXM4-80GB", "8.0", Some("Nvidia")), Some(GpuClass::DataCenter)),
            (device("Tesla V100-SXM2-16GB", "7.0", Some("Tesla")), Some(GpuClass::DataCenter)),
            (device("NVIDIA GeForce RTX 5060", "12.0", Some("GeForce")), Some(GpuClass::Geforce)),
            (device("Orin", "8.7", None), Some(GpuClass::Jetson)),
            (device("NVIDIA Something", "9.0", None), None),
        ] {
            let target = TargetGpu::host(catalog, &device, false).unwrap();
            assert_eq!(target.class, class, "{device:?}");
            assert_eq!((target.id.as_str(), target.cuda), ("host", Some((13, 0))));
        }
    }
}
