//! GPUs that an image is meant for, and how they are written.

use crate::base::Platform;
use crate::base::labels::labelled;
use crate::base::words::words;
use crate::cuda::catalog::{Catalog, GpuClass, Machine, MachineSize, Service, Target, numbers};

/// A GPU, and the machine around it, that an image is judged against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetGpu {
    /// Its id, such as `gpu:a100-80`, or what the user wrote.
    pub id: String,
    /// What the GPU is called.
    pub name: String,
    /// Compute capability without the point, such as 86.
    pub sm: u32,
    /// What kind of GPU it is, when that is known.
    pub class: Option<GpuClass>,
    /// Driver of the machine; `None` if unknown.
    pub driver: Option<TargetDriver>,
    /// The CUDA version of the driver's libcuda where it was measured, or where the driver has versions of its own
    /// (Jetson); else it follows from the driver's branch.
    pub cuda: Option<(u32, u32)>,
    /// Brand as NVML and `NVIDIA_REQUIRE_*` have it, lower case, such as `tesla`; `None` when not measured.
    pub brand: Option<String>,
    /// Architecture of the processor in Go's names; `None` when not known.
    pub architecture: Option<String>,
    /// How many GPUs, such as `8`, or `1/6` of one.
    pub gpus: Option<String>,
    /// GPU memory in GiB, of one GPU.
    pub memory_gib: Option<u32>,
    /// The folder in which the driver is mounted without anything else being done (GKE's device plugin);
    /// `None` where the container toolkit brings it.
    pub driver_folder: Option<String>,
}

/// A driver and where it is known from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetDriver {
    /// `580.159.04`, or `550` for any later version of that branch.
    pub version: String,
    /// Where it is known from.
    pub from: DriverFrom,
}

/// Where a driver's version is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DriverFrom {
    /// Given by the user.
    Stated,
    /// It was asked.
    Measured,
    /// Usual there, according to the catalogue.
    Usual,
}

words!(DriverFrom {
    Stated = "stated",
    Measured = "measured",
    Usual = "usual",
});

labelled!(DriverFrom: DRIVER_SOURCES);

/// A GPU of this machine, as it was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostDevice {
    /// Its number.
    pub index: u32,
    /// Its name, as the driver has it.
    pub name: String,
    /// Compute capability, such as `9.0`.
    pub compute_capability: String,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Brand as NVML has it.
    pub brand: Option<String>,
    /// The driver's version.
    pub driver: Option<String>,
    /// The CUDA version of the driver's libcuda, such as `13.0`.
    pub cuda: Option<String>,
}

/// The GPUs of this machine, or why there is none to judge against.
pub type HostTargets = Result<Vec<TargetGpu>, String>;

/// Why a target cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// `host` was requested on a machine without a usable GPU.
    #[error("cannot use the target host: {0}")]
    Host(String),
    /// No GPU and no machine has this id.
    #[error("unknown target {text}")]
    Unknown {
        /// What was written.
        text: String,
        /// Ids that are like it, the nearest first.
        near: Vec<String>,
    },
    /// It is no list of `cc=`, `driver=`, `class=`.
    #[error("cannot read the target {text}: {message}")]
    Malformed {
        /// What was written.
        text: String,
        /// What is wrong.
        message: String,
    },
}

impl TargetError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Host(_) => {
                "name its GPU, such as gpu:rtx-4090, or its compute capability, such as cc=8.9".to_owned()
            }
            Self::Unknown { near, .. } if !near.is_empty() => format!("did you mean {}?", near.join(" or ")),
            Self::Unknown { .. } => {
                "targets are ids such as gpu:l4 and azure:Standard_NC24ads_A100_v4, or cc=8.9; the GPU view lists \
                 all ids"
                    .to_owned()
            }
            Self::Malformed { .. } => {
                "write it as cc=8.6,driver=535.104,class=geforce; only cc is required".to_owned()
            }
        }
    }
}

/// Default targets: five common data-centre GPUs.
pub fn default_targets(catalog: &Catalog) -> Vec<TargetGpu> {
    const COMMON: [&str; 5] = ["gpu:t4", "gpu:a10", "gpu:a100-80", "gpu:l4", "gpu:h100"];
    COMMON.iter().filter_map(|id| TargetGpu::named(catalog, id)).collect()
}

impl TargetGpu {
    /// The GPU of the catalogue with this id, in a machine that nothing more is known of.
    pub fn named(catalog: &Catalog, id: &str) -> Option<Self> {
        Self::of(catalog.target(id)?)
    }

    fn of(target: &Target) -> Option<Self> {
        Some(Self {
            id: target.id.clone(),
            name: target.gpu.clone(),
            sm: target.sm()?,
            class: Some(target.class),
            driver: target.driver.clone().map(usual),
            cuda: target.cuda.as_deref().and_then(cuda_version),
            architecture: target.architecture.clone(),
            memory_gib: target.memory_gib,
            ..Self::default()
        })
    }

    /// One size of a machine of the catalogue.
    pub(super) fn of_machine(catalog: &Catalog, machine: &Machine, size: &MachineSize) -> Option<Self> {
        let gpu = Self::named(catalog, &machine.target)?;
        Some(Self {
            id: size.id.clone(),
            driver: machine.driver.clone().map(usual).or(gpu.driver),
            architecture: machine.architecture.clone().or(gpu.architecture),
            gpus: Some(size.gpus.clone()),
            ..gpu
        })
    }

    /// The same machine under a service that runs containers on it.
    pub(super) fn under(self, service: &Service) -> Self {
        let id = match self.id.split_once(':') {
            Some((_, rest)) => format!("{}:{rest}", service.id),
            None => self.id,
        };
        Self {
            id,
            driver: service.driver.clone().map(usual).or(self.driver),
            driver_folder: service.driver_folder.clone(),
            ..self
        }
    }

    /// Every GPU, machine and service of the catalogue, in its order.
    pub fn all(catalog: &Catalog) -> Vec<Self> {
        let gpus = catalog.targets().iter().filter_map(Self::of);
        let machines: Vec<Self> = catalog
            .machines()
            .iter()
            .flat_map(|machine| machine.sizes.iter().map(move |size| (machine, size)))
            .filter_map(|(machine, size)| Self::of_machine(catalog, machine, size))
            .collect();
        let mut all: Vec<Self> = gpus.collect();
        for service in catalog.services() {
            let of_cloud = |target: &&Self| {
                target.id.split_once(':').is_some_and(|(cloud, _)| cloud == service.machines)
            };
            all.extend(machines.iter().filter(of_cloud).map(|target| target.clone().under(service)));
        }
        // Services follow the machines they run on.
        let gpus = all.iter().take_while(|target| target.id.starts_with("gpu:")).count();
        all.splice(gpus..gpus, machines);
        all
    }

    /// A GPU of this machine. Its class is that of the catalogue's GPU of the same name, else it follows from the
    /// brand; `None` when its compute capability cannot be read.
    pub fn host(catalog: &Catalog, device: &HostDevice, several: bool) -> Option<Self> {
        let sm = sm_of(&device.compute_capability)?;
        let brand = device.brand.as_ref().map(|brand| brand.to_ascii_lowercase());
        Some(Self {
            id: if several { format!("host:{}", device.index) } else { "host".to_owned() },
            name: device.name.clone(),
            sm,
            class: class_of(catalog, &device.name, sm, brand.as_deref()),
            driver: device.driver.clone().map(|version| TargetDriver { version, from: DriverFrom::Measured }),
            cuda: device.cuda.as_deref().and_then(cuda_version),
            brand,
            architecture: Some(Platform::host().architecture),
            gpus: None,
            memory_gib: device.memory_bytes.and_then(|bytes| u32::try_from(bytes >> 30).ok()),
            driver_folder: None,
        })
    }

    /// Its name without the maker's, with its compute capability: `A100 80GB (8.0)`.
    pub fn title(&self) -> String {
        let name = self.name.strip_prefix("NVIDIA ").unwrap_or(&self.name);
        format!("{name} ({}.{})", self.sm / 10, self.sm % 10)
    }
}

fn usual(version: String) -> TargetDriver {
    TargetDriver { version, from: DriverFrom::Usual }
}

/// 86 for `8.6`. The minor has one digit, since SM numbers have one for it.
pub(super) fn sm_of(capability: &str) -> Option<u32> {
    let (major, minor) = capability.split_once('.')?;
    let (major, minor) = (major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?);
    ((1..=99).contains(&major) && minor <= 9).then_some(major * 10 + minor)
}

fn cuda_version(text: &str) -> Option<(u32, u32)> {
    match numbers(text.as_bytes())[..] {
        [major, minor, ..] => Some((major, minor)),
        _ => None,
    }
}

/// What kind of GPU a name is of. Names of the catalogue are the shorter ones: drivers add form and memory
/// (`NVIDIA A100-SXM4-80GB`).
fn class_of(catalog: &Catalog, name: &str, sm: u32, brand: Option<&str>) -> Option<GpuClass> {
    let lower = name.to_ascii_lowercase();
    let known = catalog.targets().iter().find(|target| target.gpu.eq_ignore_ascii_case(name));
    if let Some(target) = known {
        return Some(target.class);
    }
    match brand {
        Some("tesla") => return Some(GpuClass::DataCenter),
        Some("geforce" | "geforcertx" | "titan" | "titanrtx") => return Some(GpuClass::Geforce),
        Some("quadro" | "quadrortx" | "nvidiartx" | "nvs") => return Some(GpuClass::Workstation),
        _ => {}
    }
    if lower.contains("geforce") || lower.contains("titan") {
        return Some(GpuClass::Geforce);
    }
    if catalog.architecture(sm).is_some_and(|architecture| architecture.tegra) {
        return Some(GpuClass::Jetson);
    }
    // The brand `nvidia` is that of data-centre GPUs since Ampere, and of a few others: the model name decides.
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let model = |target: &&Target| {
        let words_of = target.gpu.to_ascii_lowercase();
        let mut model = words_of.split(' ').filter(|word| !matches!(*word, "nvidia" | "tesla"));
        model.next().is_some_and(|model| words.contains(&model))
    };
    let mut alike = catalog.targets().iter().filter(|target| target.sm() == Some(sm)).filter(model);
    alike.next().map(|target| target.class)
}
