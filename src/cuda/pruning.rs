//! In: the GPU code of one file, and target GPUs.
//! Out: which entries stay for those targets, with a ledger; the new file; the proof that it is the old one otherwise.
//! Must not know: layers, images, how a file is read.
//!
//! # Rules
//!
//! For each container and each target:
//!
//! 1. SASS stays for the same major version and every minor version up to the target's, not only the best: cuBLAS
//!    refuses to work on 8.6 without its code for 8.0. SASS for Tegra stays for that GPU only, see [`fit`].
//! 2. SASS with suffix `a` stays for exactly its architecture, with `f` for its family.
//! 3. Where no SASS of the container runs on the target, the driver compiles: PTX of the highest architecture up to the
//!    target's stays, of each suffix that fits. LTO-IR counts like PTX, beside it. SASS without a kernel, that of a
//!    flag or kind unknown here, or of a 32-bit process does not count as SASS for the target.
//! 4. Entries whose kind, architecture or flags are unknown stay. With [`PruneRule::keep_ptx`] all PTX and LTO-IR stays.
//!
//! The driver chooses by header alone, without a fallback, so these headers determine what it can load.

mod check;
mod estimate;
mod ledger;

use super::runs::{Fit, fit, is_tegra, numbered_as};
use crate::formats::fatbin::{Entry, GpuKind, LocatedGpuCode, compacted};
use crate::formats::pieces::Pieces;

pub use crate::formats::elf::{GpuCodeLocator, locate_gpu_code};
pub use check::{PruneCheck, PruneMismatch};
pub use estimate::{CodeRatios, EstimateRow, PruneEstimate};
pub use ledger::{PruneLedger, PruneRow};

/// For which GPUs code is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruneRule {
    targets: Vec<u32>,
    keep_ptx: bool,
}

impl PruneRule {
    /// Keeps the code for GPUs with these SM numbers (86 for 8.6), and with `keep_ptx` all that a driver can compile for
    /// others. Without a target everything stays.
    pub fn new(targets: impl IntoIterator<Item = u32>, keep_ptx: bool) -> Self {
        let mut targets: Vec<u32> = targets.into_iter().collect();
        targets.sort_unstable();
        targets.dedup();
        Self { targets, keep_ptx }
    }

    /// SM numbers of the targets, sorted.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// Whether all PTX and LTO-IR stays.
    pub fn keep_ptx(&self) -> bool {
        self.keep_ptx
    }

    /// Which entries of one container stay.
    pub fn stays(&self, container: &[Entry]) -> Vec<bool> {
        if self.targets.is_empty() {
            return vec![true; container.len()];
        }
        let mut stays: Vec<bool> = container.iter().map(|entry| self.always(entry)).collect();
        for sm in &self.targets {
            if container.iter().any(|entry| runs_without_compiler(entry, *sm)) {
                continue;
            }
            for (stay, entry) in stays.iter_mut().zip(container) {
                *stay |= is_compiled(entry, *sm)
                    && container.iter().all(|other| {
                        (other.kind, other.suffix) != (entry.kind, entry.suffix)
                            || numbered_as(*sm, other.arch) <= numbered_as(*sm, entry.arch)
                            || !is_compiled(other, *sm)
                    });
            }
        }
        stays
    }

    /// What the rule does to a file.
    pub fn plan(&self, code: &LocatedGpuCode) -> PrunePlan {
        // Entries of containers that cannot be changed are in no container, and stay.
        let mut stays = vec![true; code.entries.len()];
        for container in &code.containers {
            let decided = self.stays(code.entries_of(container));
            if let Some(places) = stays.get_mut(container.entries.clone()) {
                places.copy_from_slice(&decided);
            }
        }
        let ledger = PruneLedger::of(code, &stays);
        PrunePlan { stays, ledger }
    }

    /// Whether an entry stays whatever else its container has.
    fn always(&self, entry: &Entry) -> bool {
        !entry.is_known()
            || match entry.kind {
                GpuKind::Sass => self.targets.iter().any(|sm| sass_stays(entry, *sm)),
                _ => self.keep_ptx,
            }
    }
}

/// Whether SASS stays for a target.
fn sass_stays(entry: &Entry, sm: u32) -> bool {
    // Tegra runs only its own SASS, as far as is known; what its libraries look for is not, so lower minors stay.
    let lower =
        entry.suffix.is_none() && entry.arch / 10 == sm / 10 && entry.arch <= sm && !is_tegra(entry.arch);
    lower || fit(sm, entry.kind, entry.arch, entry.suffix) == Fit::Native
}

/// Whether the driver loads this SASS for a target, and so compiles nothing.
fn runs_without_compiler(entry: &Entry, sm: u32) -> bool {
    entry.is_known()
        && !entry.is_without_kernel()
        && fit(sm, entry.kind, entry.arch, entry.suffix) == Fit::Native
}

/// Whether a driver or linker can compile the entry for a target.
fn is_compiled(entry: &Entry, sm: u32) -> bool {
    matches!(entry.kind, GpuKind::Ptx | GpuKind::Lto)
        && entry.is_known()
        && fit(sm, GpuKind::Ptx, entry.arch, entry.suffix) == Fit::Jit
}

/// Which entries of a file stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunePlan {
    stays: Vec<bool>,
    ledger: PruneLedger,
}

impl PrunePlan {
    /// Whether each entry of [`LocatedGpuCode::entries`] stays.
    pub fn stays(&self) -> &[bool] {
        &self.stays
    }

    /// Sums of what stays and of what is removed.
    pub fn ledger(&self) -> &PruneLedger {
        &self.ledger
    }

    /// Whether the file changes.
    pub fn is_change(&self) -> bool {
        self.ledger.removed_entries() > 0
    }

    /// The new file. It is as long as the old one; what is removed became zeros.
    pub fn pieces(&self, code: &LocatedGpuCode) -> Pieces {
        compacted(code, &self.stays)
    }
}

#[cfg(test)]
mod tests;
