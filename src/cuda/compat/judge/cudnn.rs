//! cuDNN against the GPU.

use super::host::Host;
use crate::cuda::compat::versions::capability;
use crate::cuda::compat::{Needs, Reason, RuleId, RunVerdict};

/// GPUs that are too old for a cuDNN. Those that are newer than it are left to its GPU code.
pub(super) fn judge(needs: &Needs, host: &Host<'_>) -> Vec<Reason> {
    let sm = host.target.sm;
    let judged = needs.cudnn.iter().filter_map(|cudnn| {
        let known = host.catalog.cudnn_minimum(&cudnn.version, cudnn.cuda_major)?;
        let verdict = if cudnn.firm { RunVerdict::Fails } else { RunVerdict::Unknown };
        let (version, least) = (&cudnn.version, capability(known.min_sm));
        let text = format!(
            "cuDNN {version} has code from compute capability {least} on, and this is {}.",
            capability(sm)
        );
        (sm < known.min_sm).then(|| {
            let hint = format!(
                "Use a cuDNN that still has code for {}: 9.10 is the last for 5.0 to 7.0.",
                capability(sm)
            );
            let reason = Reason::new(verdict, RuleId::Cudnn, text).about(&cudnn.path);
            if (50..75).contains(&sm) { reason.with_hint(hint) } else { reason }
        })
    });
    judged.collect()
}
