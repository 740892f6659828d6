//! The driver against the GPU, and against the CUDA versions that files were built for.

use super::compat::{self, CompatEffect};
use super::host::{Host, Served};
use crate::cuda::catalog::DriverBranch;
use crate::cuda::compat::versions::capability;
use crate::cuda::compat::{CudaNeed, CudaVersion, Needs, Reason, RuleId, RunVerdict};

/// Newest PTX ISA version that the loaded driver compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isa {
    /// Exactly this version.
    UpTo((u16, u16)),
    /// At least this version.
    AtLeast((u16, u16)),
    /// Unknown, and already reported.
    Open,
}

/// Support of PTX on a machine.
pub(super) struct Ptx {
    pub(super) isa: Isa,
    /// The version of the image's compatibility driver, if the container toolkit loads it.
    pub(super) compat: Option<(u16, u16)>,
    /// Name of the compiling driver.
    pub(super) by: String,
}

/// Result of the driver check.
pub(super) struct DriverJudgement {
    pub(super) reasons: Vec<Reason>,
    /// Reason for a positive verdict, as a sentence without capital and full stop.
    pub(super) proof: Option<(RuleId, String)>,
    pub(super) ptx: Ptx,
}

/// A driver that is too new or too old for this GPU.
pub(super) fn dropped(host: &Host<'_>) -> Option<Reason> {
    let branch = host.data_branch()?;
    let architecture = host.catalog.architecture(host.target.sm).filter(|known| !known.tegra)?;
    let (name, capability) = (&architecture.name, capability(host.target.sm));
    let fails = |text: String, hint: String| {
        Some(
            Reason::new(RunVerdict::Fails, RuleId::DriverDropped, text)
                .about(host.name())
                .with_error(100, "CUDA_ERROR_NO_DEVICE")
                .with_hint(hint),
        )
    };
    if let Some(last) = architecture.last_driver.filter(|last| *last < branch) {
        let text = format!(
            "Driver branch {last} is the last one for {name} ({capability}): {} does not find the GPU.",
            host.name()
        );
        return fails(text, format!("Keep driver branch {last} on the machine."));
    }
    let introduced = CudaVersion::parse(&architecture.introduced)?;
    let first = host.catalog.first_driver_branch((introduced.major, introduced.minor?))?.branch;
    if branch >= first {
        return None;
    }
    let text = format!(
        "{name} ({capability}) requires CUDA {introduced} and driver branch {first}: {} does not find the GPU.",
        host.name()
    );
    fails(text, format!("Install driver {first} or later."))
}

/// Checks the driver against all required CUDA versions.
pub(super) fn judge(needs: &Needs, host: &Host<'_>) -> DriverJudgement {
    if let Some(forced) = needs.compat.iter().find(|one| compat::is_forced(one, host)) {
        return compat::forced(needs, forced, host);
    }
    if host.cuda.is_none() && host.data_branch().is_none() {
        return unknown(needs, host);
    }
    let mut driven = DriverJudgement { reasons: Vec::new(), proof: None, ptx: ptx(host) };
    let mut full = None;
    let mut by_minor = None;
    for need in &needs.versions {
        let reason = match host.serves(need.version) {
            Served::Fully => {
                full.get_or_insert(need);
                continue;
            }
            Served::ByMinor => {
                by_minor.get_or_insert(need);
                continue;
            }
            Served::Unknown => untold(need, host),
            Served::No => {
                let (reason, cuda) = compat::helps(needs, need, host);
                if reason.verdict == RunVerdict::RunsWithCompat {
                    driven.ptx = with_compat(host, cuda);
                } else if reason.verdict == RunVerdict::Fails {
                    // The driver is already reported as the cause.
                    driven.ptx.isa = Isa::Open;
                }
                reason
            }
        };
        // Of reasons with equal verdict and rule, the one for the highest version is sufficient.
        let told = |known: &Reason| (known.verdict, known.rule) == (reason.verdict, reason.rule);
        if !driven.reasons.iter().any(told) {
            driven.reasons.push(reason);
        }
    }
    if needs.versions.is_empty() && !needs.code.is_empty() {
        any_version(&mut driven, host);
        return driven;
    }
    driven.proof = by_minor.map(|need| minor(need, host)).or_else(|| full.map(|need| enough(need, host)));
    let bad = driven.reasons.iter().any(|reason| reason.rule == RuleId::ForwardCompat);
    match compat::taken(needs, host) {
        CompatEffect::Works(cuda) => driven.ptx.compat = host.catalog.ptx_isa(cuda),
        CompatEffect::Open(reason) if !bad => driven.reasons.push(reason),
        _ => {}
    }
    driven
}

/// GPU code without a known CUDA version: sufficient is a driver that runs all known versions.
fn any_version(driven: &mut DriverJudgement, host: &Host<'_>) {
    let newest = host.catalog.majors().iter().map(|known| known.major).max();
    let all = newest.map(|major| (major, host.serves(CudaVersion { major, minor: None })));
    if let Some((major, Served::Fully | Served::ByMinor)) = all {
        // Without a requirement for the driver, the GPU code determines the verdict.
        let text = format!("{} runs all known versions up to CUDA {major}", host.name());
        driven.proof = Some((RuleId::GpuCode, text));
        return;
    }
    let text = format!("CUDA version of the image unknown, and {} is too old for some.", host.name());
    driven.reasons.push(Reason::new(RunVerdict::Unknown, RuleId::Driver, text));
}

fn enough(need: &CudaNeed, host: &Host<'_>) -> (RuleId, String) {
    let (driver, version) = (host.name(), need.version);
    let text = match host.cuda.filter(|_| !host.is_from_release_of(version)) {
        Some((major, minor)) => {
            format!("{driver} supports CUDA {major}.{minor}, CUDA {version} is required")
        }
        None => format!("{driver} supports CUDA {version}"),
    };
    (RuleId::Driver, text)
}

fn minor(need: &CudaNeed, host: &Host<'_>) -> (RuleId, String) {
    let (version, major) = (need.version, need.version.major);
    let from = host.catalog.major(major).map_or_else(String::new, |known| {
        format!(" (CUDA {major} from driver {}, without JIT compilation of newer PTX)", known.min_driver)
    });
    (
        RuleId::MinorVersion,
        format!("{} runs CUDA {version} by minor-version compatibility{from}", host.name()),
    )
}

/// Required version and its origin, as text.
pub(super) fn wants(need: &CudaNeed) -> String {
    format!("CUDA {} ({})", need.version, need.who)
}

/// Required driver as text: the minimum, and the one for JIT compilation of PTX.
fn takes(need: &CudaNeed, host: &Host<'_>) -> Option<String> {
    let least = host.least_driver(need.version)?;
    let shipped =
        need.version.minor.and_then(|minor| host.catalog.shipped_driver((need.version.major, minor)));
    Some(match shipped.filter(|shipped| *shipped != least) {
        Some(shipped) => format!("driver {least} or later ({shipped} for JIT compilation of PTX)"),
        None => format!("driver {least} or later"),
    })
}

/// The driver is too old, and no compatibility driver of the image helps.
pub(super) fn too_old(need: &CudaNeed, host: &Host<'_>) -> Reason {
    let verdict = if need.firm { RunVerdict::Fails } else { RunVerdict::Unknown };
    let cuda = host.cuda.filter(|_| !host.driver.is_empty());
    let cuda = cuda.map_or_else(String::new, |(major, minor)| format!(" (CUDA {major}.{minor})"));
    let jetson = host.is_jetson();
    let takes = takes(need, host).filter(|_| !jetson);
    let asks = takes.clone().unwrap_or_else(|| "a driver of that version".to_owned());
    let name = format!("{}{cuda}", host.name()).replace(") (", ", ");
    let mut text = format!("{} requires {asks}; {name} is older", wants(need));
    text.push_str(if need.firm { "." } else { "; whether it is used is unknown." });
    let hint = match takes {
        Some(takes) => format!("Install {takes}, or use a build for an earlier CUDA."),
        None => "Use a build for an earlier CUDA.".to_owned(),
    };
    Reason::new(verdict, RuleId::Driver, text)
        .about(&need.subject)
        .with_error(35, "cudaErrorInsufficientDriver")
        .with_hint(hint)
}

/// Unknown whether the driver is new enough.
fn untold(need: &CudaNeed, host: &Host<'_>) -> Reason {
    let text = if host.is_jetson() {
        format!(
            "{} is newer than {}: unknown whether this Jetson runs it.",
            wants(need),
            host.cuda
                .map_or_else(|| host.name(), |(major, minor)| format!("CUDA {major}.{minor} of the board"))
        )
    } else {
        format!("Unknown whether {} is new enough for {}.", host.name(), wants(need))
    };
    Reason::new(RunVerdict::Unknown, RuleId::Driver, text).about(&need.subject)
}

fn unknown(needs: &Needs, host: &Host<'_>) -> DriverJudgement {
    let need = needs.versions.iter().find(|need| need.firm).or_else(|| needs.versions.first());
    let jetson = host.is_jetson();
    let what = if jetson { "CUDA version of the board" } else { "Driver version of the machine" };
    let takes = need.filter(|_| !jetson).and_then(|need| Some((need, takes(need, host)?)));
    let text = match (takes, need) {
        (Some((need, takes)), _) => format!("{what} unknown: {} requires {takes}.", wants(need)),
        (None, Some(need)) => format!("{what} unknown: the image requires {}.", wants(need)),
        (None, None) => format!("{what} unknown."),
    };
    let mut reason = Reason::new(RunVerdict::Unknown, RuleId::Driver, text);
    reason.subject = need.map(|need| need.subject.clone());
    if !jetson {
        reason.hint = Some("Append driver=VERSION to the target.".to_owned());
    }
    let ptx = Ptx { isa: Isa::Open, compat: None, by: host.name() };
    DriverJudgement { reasons: vec![reason], proof: None, ptx }
}

fn ptx(host: &Host<'_>) -> Ptx {
    let known = host.cuda.and_then(|cuda| host.catalog.ptx_isa(cuda));
    let isa = match known {
        Some(isa) if host.or_later || newest(host) => Isa::AtLeast(isa),
        Some(isa) => Isa::UpTo(isa),
        None => Isa::Open,
    };
    Ptx { isa, compat: None, by: host.name() }
}

/// Whether its libcuda is newer than every known driver branch.
fn newest(host: &Host<'_>) -> bool {
    let known = host.catalog.driver_branches().iter().filter_map(DriverBranch::cuda_version).max();
    host.cuda > known
}

/// PTX support of a compatibility driver with this CUDA version.
pub(super) fn with_compat(host: &Host<'_>, cuda: Option<(u32, u32)>) -> Ptx {
    let isa = cuda.and_then(|cuda| host.catalog.ptx_isa(cuda)).map_or(Isa::Open, Isa::UpTo);
    let by = cuda.map_or_else(
        || "the forward-compatibility driver".to_owned(),
        |(major, minor)| format!("the forward-compatibility driver of CUDA {major}.{minor}"),
    );
    Ptx { isa, compat: None, by }
}
