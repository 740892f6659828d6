//! In: an analysis, a plan, and a platform of the catalogue.
//! Out: seconds of a cold start as intervals, before and after the plan; advice; rates of this machine.
//! Must not know: how a report or the window shows them.

pub mod files;
pub mod graphs;
mod profile;
pub mod snippets;

pub use profile::{Profile, ProfileError, find_profile, judged_targets};
