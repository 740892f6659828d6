//! Requirements of the image that the container toolkit checks before start.

use super::host::Host;
use crate::base::text::{elide_end, printable};
use crate::cuda::catalog::GpuClass;
use crate::cuda::compat::require::{self, Holds, Requirement, is_true};
use crate::cuda::compat::versions::{capability, listed};
use crate::cuda::compat::{CudaVersion, Needs, Reason, RuleId, RunVerdict};

/// Maximum number of variables checked; libnvidia-container accepts no more requirements.
const MOST: usize = 32;

/// All requirements of an image.
pub(super) struct Requirements<'a> {
    named: Vec<(&'a str, Requirement)>,
    /// Whether the image has more than [`MOST`] requirements.
    more: bool,
}

impl<'a> Requirements<'a> {
    pub(super) fn new(needs: &'a Needs) -> Self {
        let value = |name: &str| {
            let found = needs.environment.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
        };
        if value("NVIDIA_DISABLE_REQUIRE").is_some_and(is_true) {
            return Self { named: Vec::new(), more: false };
        }
        let mut variables = needs.environment.iter().filter(|(name, _)| {
            name.starts_with("NVIDIA_REQUIRE_") && !name.starts_with("NVIDIA_REQUIRE_JETPACK")
        });
        let mut named: Vec<(&str, Requirement)> = variables
            .by_ref()
            .take(MOST)
            .map(|(name, value)| (name.as_str(), Requirement::parse(value)))
            .collect();
        let more = variables.next().is_some();
        // Legacy images without a requirement: their CUDA version is the requirement.
        if value("NVIDIA_REQUIRE_CUDA").is_none()
            && let Some(version) = value("CUDA_VERSION")
        {
            let version = CudaVersion::parse(version.trim_start_matches('v'));
            let wanted =
                version.map(|version| format!("cuda>={}.{}", version.major, version.minor.unwrap_or(0)));
            named.push(("CUDA_VERSION", Requirement::parse(wanted.as_deref().unwrap_or("CUDA_VERSION"))));
        }
        Self { named, more }
    }

    /// Whether the container toolkit starts the image on a machine.
    pub(super) fn judge(&self, host: &Host<'_>) -> Vec<Reason> {
        let target = host.target;
        if target.driver_folder.is_some() {
            let named = self.named.first().map(|(name, _)| {
                let text = format!("Without a container toolkit, {name} has no effect there.");
                Reason::new(RunVerdict::Runs, RuleId::Requirement, text).about(variable(name))
            });
            return named.into_iter().collect();
        }
        let brands = brands(host);
        let mut reasons: Vec<Reason> = self
            .named
            .iter()
            .filter_map(|(name, requirement)| {
                let holds = over(&brands, |brand| requirement.holds(&asked(host, brand)));
                match holds {
                    Holds::Yes => None,
                    Holds::No => Some(refused(name, requirement, host)),
                    // If the driver is unknown, one reason is sufficient.
                    Holds::Unknown if requirement.fault().is_none() && host.cuda.is_none() => None,
                    Holds::Unknown => Some(open(name, requirement, host)),
                }
            })
            .collect();
        if self.more {
            let text = format!(
                "The image has more than {MOST} NVIDIA_REQUIRE_* variables; container toolkits accept no more."
            );
            reasons.push(Reason::new(RunVerdict::Unknown, RuleId::Requirement, text));
        }
        reasons
    }
}

fn asked<'a>(host: &'a Host<'_>, brand: Option<&'a str>) -> require::Host<'a> {
    let driver = Some(host.driver.as_slice()).filter(|driver| !driver.is_empty());
    require::Host { cuda: host.cuda, cuda_or_later: host.or_later, driver, sm: host.target.sm, brand }
}

/// Brands that NVML may report for the GPU.
fn brands<'a>(host: &'a Host<'_>) -> Vec<Option<&'a str>> {
    let of = |names: &[&'static str]| names.iter().map(|name| Some(*name)).collect();
    match (&host.target.brand, host.target.class) {
        (Some(brand), _) => vec![Some(brand.as_str())],
        (None, Some(GpuClass::DataCenter)) => of(&["tesla", "nvidia"]),
        (None, Some(GpuClass::Geforce)) => of(&["geforce", "geforcertx", "titan", "titanrtx"]),
        (None, Some(GpuClass::Workstation)) => of(&["quadro", "quadrortx", "nvidiartx", "nvidia"]),
        (None, Some(GpuClass::Jetson) | None) => vec![None],
    }
}

/// The result if all brands agree, `Unknown` otherwise.
fn over(brands: &[Option<&str>], holds: impl Fn(Option<&str>) -> Holds) -> Holds {
    let mut all = brands.iter().map(|brand| holds(*brand));
    let Some(first) = all.next() else { return Holds::Unknown };
    if all.all(|other| other == first) { first } else { Holds::Unknown }
}

fn variable(name: &str) -> String {
    elide_end(&printable(&format!("ENV {name}")), 80)
}

/// The machine's driver, CUDA version and compute capability, as text.
fn has(host: &Host<'_>) -> String {
    let mut parts = vec![host.name()];
    if let (Some((major, minor)), false) = (host.cuda, host.driver.is_empty()) {
        parts.push(format!("CUDA {major}.{minor}"));
    }
    parts.push(format!("compute capability {}", capability(host.target.sm)));
    listed(&parts, 4)
}

fn refused(name: &str, requirement: &Requirement, host: &Host<'_>) -> Reason {
    let clause = elide_end(&printable(requirement.first_clause()), 80);
    let advice = if requirement.first_clause().starts_with("cuda>=") {
        ", please update your driver to a newer version, or use an earlier cuda container"
    } else {
        ""
    };
    let text = format!(
        "The container toolkit refuses to start it, by {}: unsatisfied condition: {clause}{advice}. The machine has \
        {}.",
        printable(name),
        has(host)
    );
    Reason::new(RunVerdict::Fails, RuleId::Requirement, text).about(variable(name)).with_hint(
        "Update the driver, or build on an earlier CUDA. NVIDIA_DISABLE_REQUIRE=1 disables the check, but \
            does not update the driver.",
    )
}

fn open(name: &str, requirement: &Requirement, host: &Host<'_>) -> Reason {
    let shown = printable(name);
    let text = match requirement.fault() {
        Some(_) if name == "CUDA_VERSION" => {
            format!("{shown} is not a version: unknown whether the container toolkit starts the image.")
        }
        Some(fault) => format!("{shown} {fault}: unknown whether the container toolkit starts the image."),
        None => format!(
            "Unknown whether {shown} is satisfied: it requires a brand or driver version, and the machine's {} is \
            known.",
            has(host)
        ),
    };
    Reason::new(RunVerdict::Unknown, RuleId::Requirement, text).about(variable(name))
}
