//! The image's forward-compatibility driver: a libcuda newer than the kernel driver.

use super::driver::{DriverJudgement, Isa, Ptx, too_old, wants, with_compat};
use super::host::{Host, Served, serves};
use crate::cuda::catalog::{GpuClass, numbers};
use crate::cuda::compat::versions::listed;
use crate::cuda::compat::{CompatDriver, CudaNeed, Needs, Reason, RuleId, RunVerdict};

type Code = (u32, &'static str);

const MISMATCH: Code = (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
const UNSUPPORTED: Code = (804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE");

/// Whether a compatibility driver works on a machine if loaded.
enum Works {
    Yes,
    /// Unknown; contains the reason.
    Unknown(String),
    /// Does not work; contains CUDA error and reason.
    No(Code, String),
}

/// Effect of a container toolkit that loads it.
pub(super) enum CompatEffect {
    /// Not loaded, or without effect.
    No,
    /// Works and supports this CUDA version.
    Works((u32, u32)),
    /// Effect uncertain.
    Open(Reason),
}

/// Whether every program loads it and its version differs from the machine's driver.
pub(super) fn is_forced(compat: &CompatDriver, host: &Host<'_>) -> bool {
    let own = version(compat);
    compat.forced_by.is_some() && own.is_none_or(|own| own.len() < 2 || own != host.driver)
}

/// The numbers of its version, from the file name.
fn version(compat: &CompatDriver) -> Option<Vec<u32>> {
    compat.path.rsplit_once(".so.").map(|(_, version)| numbers(version.as_bytes()))
}

fn works(compat: &CompatDriver, host: &Host<'_>) -> Works {
    let branch = host.data_branch();
    if branch.is_some() && branch == compat.branch {
        return within_branch(compat, host);
    }
    match host.target.class {
        Some(GpuClass::Geforce) => {
            return Works::No(UNSUPPORTED, "forward compatibility is not supported on GeForce".to_owned());
        }
        Some(GpuClass::Jetson) => {
            return Works::Unknown("support on this board is unknown".to_owned());
        }
        Some(GpuClass::DataCenter | GpuClass::Workstation) | None => {}
    }
    let Some(branch) = branch else {
        return Works::Unknown("the driver of the machine is unknown".to_owned());
    };
    match &compat.drivers {
        Some(drivers) if !drivers.contains(&branch) => {
            let known: Vec<String> = drivers.iter().map(u32::to_string).collect();
            let known = listed(&known, 12);
            return Works::No(MISMATCH, format!("it supports driver branches {known}, not {branch}"));
        }
        Some(_) => {}
        None => match compat.branch {
            Some(own) if branch >= own => {
                let text = format!("it is for branch {own}; the driver branch {branch} is as new or newer");
                return Works::No(MISMATCH, text);
            }
            Some(_) if is_long_term(branch, host) => {}
            _ => {
                return Works::Unknown(format!("support for driver branch {branch} is unknown"));
            }
        },
    }
    match host.target.class {
        Some(GpuClass::DataCenter) => Works::Yes,
        Some(_) => Works::Unknown("only some workstation GPUs support forward compatibility".to_owned()),
        None => Works::Unknown(
            "forward compatibility requires a data center GPU, and the class of this GPU is unknown"
                .to_owned(),
        ),
    }
}

/// Within one branch, it works only if it has exactly the machine's version, whatever its note names. Observed on an
/// H200: 580.95.05 with driver 580.159.04 ends with error 803, although the note names 580.
fn within_branch(compat: &CompatDriver, host: &Host<'_>) -> Works {
    let own = version(compat);
    match own.filter(|own| own.len() > 1 && host.driver.len() > 1) {
        Some(own) if own == host.driver => Works::Yes,
        Some(_) => Works::No(MISMATCH, "same branch as the driver, but not the same version".to_owned()),
        None => Works::Unknown("same branch as the driver: works only if both versions are equal".to_owned()),
    }
}

fn is_long_term(branch: u32, host: &Host<'_>) -> bool {
    host.catalog.driver_branches().iter().any(|known| known.branch == branch && known.long_term)
}

/// Whether it is in a folder that the container toolkit searches.
fn is_in_place(compat: &CompatDriver) -> bool {
    let mut parts = compat.path.strip_prefix("/usr/local/").unwrap_or_default().split('/');
    parts.next().is_some_and(|folder| folder.starts_with("cuda")) && parts.any(|part| part == "compat")
}

/// Basis for the assumption that it works: its note, or the rule for long-term branches.
fn by(compat: &CompatDriver) -> &'static str {
    if compat.drivers.is_some() {
        "according to its note"
    } else {
        "according to the rule for long-term branches (it has no note)"
    }
}

fn brings(compat: &CompatDriver) -> String {
    let cuda = compat.cuda.map_or_else(String::new, |(major, minor)| format!(" of CUDA {major}.{minor}"));
    format!("the forward-compatibility driver{cuda} in {}", compat.path)
}

/// Effect of the compatibility drivers on a CUDA version that is too new for the machine's driver, and the
/// CUDA version of the best one.
pub(super) fn helps(needs: &Needs, need: &CudaNeed, host: &Host<'_>) -> (Reason, Option<(u32, u32)>) {
    let reaches = |compat: &&CompatDriver| {
        let served = compat.cuda.map(|cuda| serves(host.catalog, cuda, &[], need.version, false));
        served != Some(Served::No)
    };
    let serving = needs.compat.iter().filter(reaches).map(|compat| (one(compat, need, host), compat.cuda));
    let best = serving.min_by_key(|(reason, _)| reason.verdict);
    best.unwrap_or_else(|| {
        let reason = too_old(need, host);
        let newest = needs.compat.iter().max_by_key(|compat| compat.cuda);
        let Some(compat) = newest else { return (reason, None) };
        let text = format!("{} {} is older too.", reason.text, sentence_start(&brings(compat)));
        (Reason { rule: RuleId::ForwardCompat, text, ..reason }, None)
    })
}

fn sentence_start(text: &str) -> String {
    text.strip_prefix('t').map_or_else(|| text.to_owned(), |rest| format!("T{rest}"))
}

fn one(compat: &CompatDriver, need: &CudaNeed, host: &Host<'_>) -> Reason {
    let (wants, brings) = (wants(need), brings(compat));
    let older = format!("{wants} is newer than {}", host.name());
    let reason = |verdict, text: String| {
        let verdict = if need.firm { verdict } else { RunVerdict::Unknown.min(verdict) };
        Reason::new(verdict, RuleId::ForwardCompat, text).about(&compat.path)
    };
    let driver = host.least_driver(need.version).map(|least| format!("Install driver {least} or later."));
    let mut reason = match works(compat, host) {
        Works::No(error, why) => {
            let hint = driver.unwrap_or_else(|| "Install a later driver.".to_owned());
            return reason(RunVerdict::Fails, format!("{older}, and {brings} does not help: {why}."))
                .with_error(error.0, error.1)
                .with_hint(hint);
        }
        Works::Unknown(why) => {
            reason(RunVerdict::Unknown, format!("{older}; unknown whether {brings} helps: {why}."))
        }
        Works::Yes if compat.cuda.is_none() => {
            reason(RunVerdict::Unknown, format!("{older}, and the CUDA version of {brings} is unknown."))
        }
        Works::Yes if host.target.driver_folder.is_some() => reason(
            RunVerdict::Unknown,
            format!(
                "{older}, and {brings} helps only on the loader's search path: no container toolkit puts it there."
            ),
        ),
        Works::Yes if !is_in_place(compat) => reason(
            RunVerdict::Unknown,
            format!("{older}, and {brings} is not in the folder that container toolkits search."),
        ),
        Works::Yes => reason(
            RunVerdict::RunsWithCompat,
            format!("{older}; {brings} replaces it on data center GPUs, {}.", by(compat)),
        ),
    };
    reason.hint = driver;
    reason
}

/// Effect of a container toolkit, which loads it if newer than the driver, whether required or not.
pub(super) fn taken(needs: &Needs, host: &Host<'_>) -> CompatEffect {
    let (Some(branch), Some(cuda), None) = (host.data_branch(), host.cuda, &host.target.driver_folder) else {
        return CompatEffect::No;
    };
    let takes = |compat: &&CompatDriver| {
        is_in_place(compat)
            && match (&compat.drivers, compat.cuda) {
                (Some(drivers), Some(own)) => drivers.contains(&branch) && own > cuda,
                _ => compat.branch.is_some_and(|own| branch < own),
            }
    };
    let Some(compat) = needs.compat.iter().find(takes) else { return CompatEffect::No };
    match (works(compat, host), compat.cuda) {
        (Works::Yes, Some(cuda)) => CompatEffect::Works(cuda),
        (Works::No(error, why), _) => {
            CompatEffect::Open(open(compat, host, &why).with_error(error.0, error.1))
        }
        (Works::Unknown(why), _) => CompatEffect::Open(open(compat, host, &why)),
        (Works::Yes, None) => CompatEffect::No,
    }
}

fn open(compat: &CompatDriver, host: &Host<'_>, why: &str) -> Reason {
    let text = format!(
        "Container toolkits that use {} if it is newer than {} may break CUDA: {why}.",
        brings(compat),
        host.name()
    );
    Reason::new(RunVerdict::Unknown, RuleId::ForwardCompat, text)
        .about(&compat.path)
        .with_hint("Remove the package cuda-compat from the image, or install a driver that is as new.")
}

/// A compatibility driver that every program loads on every machine.
pub(super) fn forced(needs: &Needs, compat: &CompatDriver, host: &Host<'_>) -> DriverJudgement {
    let by_whom = compat.forced_by.as_deref().unwrap_or("the loader's path");
    let puts = format!("{by_whom} puts {} before {}", brings(compat), host.name());
    let told = |verdict, text: String| {
        Reason::new(verdict, RuleId::ForwardCompat, text).about(&compat.path).with_hint(format!(
            "Remove its folder from {by_whom}: the container toolkit uses it where it helps."
        ))
    };
    let open = |reason| {
        let ptx = Ptx { isa: Isa::Open, compat: None, by: host.name() };
        DriverJudgement { reasons: vec![reason], proof: None, ptx }
    };
    let cuda = match (works(compat, host), compat.cuda) {
        (Works::No(error, why), _) => {
            return open(told(RunVerdict::Fails, format!("{puts}: {why}.")).with_error(error.0, error.1));
        }
        (Works::Unknown(why), _) => return open(told(RunVerdict::Unknown, format!("{puts}: {why}."))),
        (Works::Yes, None) => {
            return open(told(RunVerdict::Unknown, format!("{puts}: its CUDA version is unknown.")));
        }
        (Works::Yes, Some(cuda)) => cuda,
    };
    let runs = told(RunVerdict::RunsWithCompat, format!("{puts}: it works there, {}.", by(compat)));
    let mut driven = DriverJudgement { reasons: vec![runs], proof: None, ptx: with_compat(host, Some(cuda)) };
    // For each verdict, the highest unsupported version is sufficient.
    let old = needs
        .versions
        .iter()
        .filter(|need| serves(host.catalog, cuda, &[], need.version, false) == Served::No);
    for need in old {
        let verdict = if need.firm { RunVerdict::Fails } else { RunVerdict::Unknown };
        if driven.reasons.iter().any(|known| known.rule == RuleId::Driver && known.verdict == verdict) {
            continue;
        }
        let text = format!("{} is newer than {}, which {by_whom} puts first.", wants(need), brings(compat));
        driven.reasons.push(
            Reason::new(verdict, RuleId::Driver, text)
                .about(&need.subject)
                .with_error(35, "cudaErrorInsufficientDriver"),
        );
        driven.ptx.isa = Isa::Open;
    }
    driven
}
