//! Platforms: how one is chosen, and which machines judge an image for it.

use crate::analysis::Analysis;
use crate::base::text::{elide_end, printable};
pub use crate::cuda::catalog::Profile;
use crate::cuda::catalog::{Catalog, DriverDelivery};
use crate::cuda::compat::{Judge, Judgement, RunVerdict, TargetGpu, parse_target};

/// Id of the platform whose node an estimate assumes if none is chosen.
pub const DEFAULT_PROFILE: &str = "kubernetes";

/// Why a platform cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No profile of the catalogue has this id.
    #[error("unknown profile {0}")]
    Unknown(String),
}

impl ProfileError {
    /// Advice for the user.
    pub fn hint(&self, catalog: &Catalog) -> String {
        let ids: Vec<&str> = catalog.profiles().iter().map(|profile| profile.id.as_str()).collect();
        format!("profiles are {}", ids.join(", "))
    }
}

/// The profile with this id, in any letter case.
///
/// # Errors
/// An unknown id.
pub fn find_profile<'a>(catalog: &'a Catalog, id: &str) -> Result<&'a Profile, ProfileError> {
    let wanted = id.trim();
    let found = catalog.profiles().iter().find(|profile| profile.id.eq_ignore_ascii_case(wanted));
    found.ok_or_else(|| ProfileError::Unknown(elide_end(&printable(wanted), 40)))
}

/// The targets by which an image is judged for a platform: the given ones, else the platform's usual machines. Each gets
/// the platform's way of mounting the driver. Empty when neither names any.
pub fn judged_targets(catalog: &Catalog, profile: &Profile, given: &[TargetGpu]) -> Vec<TargetGpu> {
    let usual = || {
        let ids = profile.machines.iter().map(|machine| machine.target.as_str());
        ids.filter_map(|id| parse_target(catalog, id).ok()).collect()
    };
    let targets: Vec<TargetGpu> = if given.is_empty() { usual() } else { given.to_vec() };
    let folder = profile.driver_folder.as_ref().filter(|_| profile.driver == DriverDelivery::Folder);
    targets
        .into_iter()
        .map(|target| match folder {
            Some(folder) if target.driver_folder.is_none() => {
                TargetGpu { driver_folder: Some(folder.clone()), ..target }
            }
            _ => target,
        })
        .collect()
}

/// Whether an image runs on the machines of a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformVerdict {
    /// The platform.
    pub profile: String,
    /// Its name.
    pub name: String,
    /// Verdicts by machine, in the order of the targets; `None` if the image was not analysed completely.
    pub machines: Option<Vec<MachineVerdict>>,
}

/// Whether an image runs on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineVerdict {
    /// Id of the target.
    pub target: String,
    /// The verdict.
    pub verdict: RunVerdict,
    /// Decisive reason.
    pub why: String,
    /// What it is about: a file, a variable; `None` if it has no single subject.
    pub subject: Option<String>,
    /// Fix of the decisive reason.
    pub hint: Option<String>,
}

impl PlatformVerdict {
    /// Judges an image by the targets of its analysis, which are those of [`judged_targets`].
    pub fn of(analysis: &Analysis, profile: &Profile) -> Self {
        let judged = analysis.needs().map(|needs| {
            let judge = Judge::new(&needs, analysis.known_rules());
            analysis.targets.iter().map(|target| MachineVerdict::of(target, &judge.judge(target))).collect()
        });
        Self { profile: profile.id.clone(), name: profile.name.clone(), machines: judged }
    }

    /// Why a check fails: the image runs on none of the machines, or it is unknown.
    pub fn failure(&self) -> Option<String> {
        match &self.machines {
            None => Some(format!("profile-unknown:{}", self.profile)),
            Some(machines) if machines.is_empty() => None,
            Some(machines) => {
                let fails = machines.iter().all(|machine| machine.verdict == RunVerdict::Fails);
                fails.then(|| format!("profile:{}", self.profile))
            }
        }
    }
}

impl MachineVerdict {
    fn of(target: &TargetGpu, judgement: &Judgement) -> Self {
        let first = judgement.reasons.first();
        Self {
            target: printable(&target.id),
            verdict: judgement.verdict,
            why: judgement.why.clone(),
            subject: first.and_then(|reason| reason.subject.clone()),
            hint: first.and_then(|reason| reason.hint.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{find_profile, judged_targets};
    use crate::cuda::catalog::{Catalog, DriverDelivery};
    use crate::cuda::compat::{TargetGpu, parse_target};

    #[test]
    fn every_profile_has_known_machines_node_and_format() {
        let catalog = Catalog::builtin();
        assert_eq!(catalog.fault(), None);
        let ids: Vec<&str> = catalog.profiles().iter().map(|profile| profile.id.as_str()).collect();
        let wanted = ["docker", "kubernetes", "gke", "azureml", "cerebrium", "eks", "sagemaker", "modal"];
        assert_eq!(ids, wanted);
        for profile in catalog.profiles() {
            assert!(catalog.node(&profile.node).is_some(), "{}", profile.id);
            assert!(profile.lazy.as_deref().is_none_or(|id| catalog.lazy_format(id).is_some()));
            for machine in &profile.machines {
                assert!(parse_target(catalog, &machine.target).is_ok(), "{}", machine.target);
            }
            let prefix = profile.machine_prefix.as_deref();
            let known = |prefix: &str| TargetGpu::all(catalog).iter().any(|one| one.id.starts_with(prefix));
            assert!(prefix.is_none_or(known), "{}", profile.id);
        }
    }

    #[test]
    fn a_mounted_driver_folder_applies_to_given_targets_too() {
        let catalog = Catalog::builtin();
        let gke = find_profile(catalog, " GKE ").unwrap();
        assert_eq!(gke.driver, DriverDelivery::Folder);
        let folder = Some("/usr/local/nvidia/lib64".to_owned());
        assert!(judged_targets(catalog, gke, &[]).iter().all(|target| target.driver_folder == folder));
        let given = [parse_target(catalog, "gpu:l4").unwrap()];
        assert_eq!(judged_targets(catalog, gke, &given)[0].driver_folder, folder);
        let docker = find_profile(catalog, "docker").unwrap();
        assert_eq!(judged_targets(catalog, docker, &given), given);
        let error = find_profile(catalog, "gkee").unwrap_err();
        assert_eq!(error.to_string(), "unknown profile gkee");
        assert!(error.hint(catalog).contains("gke, azureml"));
    }
}
