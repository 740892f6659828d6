//! Targets: GPUs, and the machines around them, for compatibility checks.

use crate::base::Platform;
use crate::base::labels::labelled;
use crate::base::words::words;
use crate::cuda::catalog::{Catalog, GpuClass, Machine, MachineSize, Service, Target, major_minor};

/// A GPU and its machine, for compatibility checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetGpu {
    /// Id, such as `gpu:a100-80`, or the user's input.
    pub id: String,
    /// Product name of the GPU.
    pub name: String,
    /// SM number: compute capability without the dot, such as 86.
    pub sm: u32,
    /// Product line of the GPU; `None` if unknown.
    pub class: Option<GpuClass>,
    /// Driver of the machine; `None` if unknown.
    pub driver: Option<TargetDriver>,
    /// CUDA version of the driver's libcuda, if measured or if the driver has its own version scheme
    /// (Jetson); otherwise it follows from the driver branch.
    pub cuda: Option<(u32, u32)>,
    /// Brand as in NVML and `NVIDIA_REQUIRE_*`, lower case, such as `tesla`; `None` if not measured.
    pub brand: Option<String>,
    /// CPU architecture as a `GOARCH` value; `None` if unknown.
    pub architecture: Option<String>,
    /// Number of GPUs, such as `8`, or a fraction such as `1/6`.
    pub gpus: Option<String>,
    /// Memory of one GPU, in GiB.
    pub memory_gib: Option<u32>,
    /// Folder of the mounted driver without loader configuration (GKE's device plugin); `None` with a
    /// container toolkit.
    pub driver_folder: Option<String>,
}

/// A driver version with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetDriver {
    /// Full version such as `580.159.04`, or `550` for any version of that branch.
    pub version: String,
    /// Origin of the version.
    pub from: DriverFrom,
}

/// Origin of a driver version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DriverFrom {
    /// Given by the user.
    Stated,
    /// Measured on the machine.
    Measured,
    /// Typical for the target, from the catalogue.
    Usual,
}

words!(DriverFrom {
    Stated = "stated",
    Measured = "measured",
    Usual = "usual",
});

labelled!(DriverFrom: DRIVER_SOURCES);

/// A GPU of this machine, as measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostDevice {
    /// Device index.
    pub index: u32,
    /// Name from the driver.
    pub name: String,
    /// Compute capability, such as `9.0`.
    pub compute_capability: String,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Brand as in NVML.
    pub brand: Option<String>,
    /// Driver version.
    pub driver: Option<String>,
    /// CUDA version of the driver's libcuda, such as `13.0`.
    pub cuda: Option<String>,
}

/// The GPUs of this machine, or why there is no usable one.
pub type HostTargets = Result<Vec<TargetGpu>, String>;

/// Why a target is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// `host` was requested on a machine without a usable GPU.
    #[error("cannot use the target host: {0}")]
    Host(String),
    /// Unknown id.
    #[error("unknown target {text}")]
    Unknown {
        /// The input, shortened.
        text: String,
        /// Similar ids, the most similar first.
        near: Vec<String>,
    },
    /// Not a list of `cc=`, `driver=` and `class=`.
    #[error("cannot read the target {text}: {message}")]
    Malformed {
        /// The input, shortened.
        text: String,
        /// Reason.
        message: String,
    },
}

impl TargetError {
    /// Advice for the user.
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
    /// The GPU of the catalogue with this id, without facts about its machine.
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
            cuda: target.cuda.as_deref().and_then(major_minor),
            architecture: target.architecture.clone(),
            memory_gib: target.memory_gib,
            ..Self::default()
        })
    }

    /// A cloud machine type of the catalogue.
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

    /// The same machine, under a container service.
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

    /// All GPUs, machine types and services of the catalogue, in file order.
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
        // Order: GPUs, machine types, services.
        let gpus = all.iter().take_while(|target| target.id.starts_with("gpu:")).count();
        all.splice(gpus..gpus, machines);
        all
    }

    /// A GPU of this machine. Its class is that of the GPU of the catalogue with the same name or model, or
    /// follows from the brand; `None` if its compute capability is malformed.
    pub fn host(catalog: &Catalog, device: &HostDevice, several: bool) -> Option<Self> {
        let sm = sm_of(&device.compute_capability)?;
        let brand = device.brand.as_ref().map(|brand| brand.to_ascii_lowercase());
        Some(Self {
            id: if several { format!("host:{}", device.index) } else { "host".to_owned() },
            name: device.name.clone(),
            sm,
            class: class_of(catalog, &device.name, sm, brand.as_deref()),
            driver: device.driver.clone().map(|version| TargetDriver { version, from: DriverFrom::Measured }),
            cuda: device.cuda.as_deref().and_then(major_minor),
            brand,
            architecture: Some(Platform::host().architecture),
            gpus: None,
            memory_gib: device.memory_bytes.and_then(|bytes| u32::try_from(bytes >> 30).ok()),
            driver_folder: None,
        })
    }

    /// Name without the vendor, with compute capability: `A100 80GB (8.0)`.
    pub fn title(&self) -> String {
        let name = self.name.strip_prefix("NVIDIA ").unwrap_or(&self.name);
        format!("{name} ({}.{})", self.sm / 10, self.sm % 10)
    }
}

fn usual(version: String) -> TargetDriver {
    TargetDriver { version, from: DriverFrom::Usual }
}

/// SM number of a compute capability, such as 86 for `8.6`. The minor version has one digit, as in SM
/// numbers.
pub(super) fn sm_of(capability: &str) -> Option<u32> {
    let (major, minor) = capability.split_once('.')?;
    let (major, minor) = (major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?);
    ((1..=99).contains(&major) && minor <= 9).then(|| major * 10 + minor)
}

/// Product line of a GPU by name. Names in the catalogue are shorter: drivers append form factor and memory
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
    // The brand `nvidia` denotes data-centre GPUs since Ampere, and a few others: the model name decides.
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let model = |target: &&Target| {
        let words_of = target.gpu.to_ascii_lowercase();
        let mut model = words_of.split(' ').filter(|word| !matches!(*word, "nvidia" | "tesla"));
        model.next().is_some_and(|model| words.contains(&model))
    };
    let mut alike = catalog.targets().iter().filter(|target| target.sm() == Some(sm)).filter(model);
    alike.next().map(|target| target.class)
}
