//! cuDNN against the GPU architecture.

use super::host::Host;
use crate::cuda::catalog::CudnnSupport;
use crate::cuda::compat::versions::capability;
use crate::cuda::compat::{Needs, Reason, RuleId, RunVerdict, UsedCudnn};

/// Checks each cuDNN in use against its support matrix.
pub(super) fn judge(needs: &Needs, host: &Host<'_>) -> Vec<Reason> {
    let known = |cudnn: &UsedCudnn| {
        let support = host.catalog.cudnn_support_of(&cudnn.version, cudnn.cuda_major)?;
        Some(one(cudnn, support, host.target.sm))
    };
    needs.cudnn.iter().filter_map(known).collect()
}

fn one(cudnn: &UsedCudnn, support: &CudnnSupport, sm: u32) -> Reason {
    let (version, gpu, least) = (&cudnn.version, capability(sm), capability(support.min_sm));
    let reason = |verdict, text: String| Reason::new(verdict, RuleId::Cudnn, text).about(cudnn.path.as_str());
    if sm < support.min_sm {
        let verdict = if cudnn.firm { RunVerdict::Fails } else { RunVerdict::Unknown };
        let text = format!("cuDNN {version} requires compute capability {least} or later; this is {gpu}.");
        let reason = reason(verdict, text);
        let dropped = (50..75).contains(&sm);
        return if dropped {
            reason.with_hint("Use cuDNN 9.10, the last version for 5.0 to 7.0.")
        } else {
            reason
        };
    }
    // Code for a major version runs on its later minors; support of the next major version is unknown.
    match support.max_sm.filter(|newest| sm / 10 > newest / 10 && cudnn.firm) {
        Some(newest) => {
            let text = format!(
                "cuDNN {version} is documented for compute capabilities up to {}; this is {gpu}.",
                capability(newest)
            );
            reason(RunVerdict::Unknown, text).with_hint("Use a later cuDNN.")
        }
        None => reason(
            RunVerdict::Runs,
            format!("cuDNN {version} supports compute capability {least} and later."),
        ),
    }
}
