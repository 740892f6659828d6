//! The platform of a command: `--profile`, else `profile` in `cutaway.toml`, else that of the settings; and the rates of the cold start.

use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::defaults::default_profile;
use super::output::UsageError;
use crate::cuda::catalog::Catalog;
use crate::deploy::{Calibration, Profile, find_profile, rates_file};
use crate::findings::policy::Policy;
use crate::report::Options;

/// Options of a platform.
#[derive(Args, Clone, Default)]
pub(super) struct ProfileArguments {
    /// Platform to judge by: docker, kubernetes, gke, azureml, cerebrium, eks, sagemaker, modal, or one of --catalog
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
}

/// Options of the estimated cold start.
#[derive(Args, Clone, Default)]
pub(super) struct RatesArguments {
    /// Rates of the cold start estimate
    #[arg(long, value_enum, default_value = "catalog")]
    pub(super) rates: RatesName,
}

/// Where rates are from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum RatesName {
    /// The platform's node in the catalog
    #[default]
    Catalog,
    /// This machine, as measured by cutaway calibrate; the network remains that of the catalog
    Calibrated,
}

impl ProfileArguments {
    /// The platform; `None` if none is chosen. That of the command line precedes that of the policy; without a policy
    /// it is that of the settings.
    /// `catalog` is called only if one is: the built-in one takes milliseconds to parse.
    pub(super) fn find_if_chosen<'c>(
        &self,
        catalog: impl Fn() -> &'c Catalog,
        policy: Option<&Policy>,
    ) -> anyhow::Result<Option<Arc<Profile>>> {
        if let Some(name) = &self.profile {
            let catalog = catalog();
            let found = find_profile(catalog, name);
            let found =
                found.map_err(|error| UsageError::new(error.to_string(), Some(error.hint(catalog))))?;
            return Ok(Some(Arc::new(found.clone())));
        }
        // A project is judged by its own file, the same for everybody.
        let Some(policy) = policy else { return Ok(default_profile(catalog)?) };
        if !policy.names_profile() {
            return Ok(None);
        }
        Ok(policy.profile(catalog())?.map(|profile| Arc::new(profile.clone())))
    }
}

impl RatesArguments {
    /// Adds platform and rates to the options of a report.
    pub(super) fn apply(&self, options: &mut Options, profile: Option<Arc<Profile>>) -> anyhow::Result<()> {
        options.profile = profile;
        if self.rates == RatesName::Calibrated {
            options.calibration = Some(Arc::new(Calibration::load(&rates_file()?)?));
        }
        Ok(())
    }
}
