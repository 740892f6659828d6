//! Cutaway opens a container image and shows what is in it, what is wasted, and what is removable.
//!
//! Data flows one way, through modules that may each use only those above them:
//!
//! | module | input | output |
//! |---|---|---|
//! | [`base`] | | sizes, digests, limits, warnings, escaped text |
//! | [`settings`] | the user's settings file | its values, and the file with values changed |
//! | [`jobs`] | closures | progress, cancellation, the newest result |
//! | [`cache`] | verified keys, bytes | the same bytes in a later run |
//! | [`formats`] | bytes | facts: tar members, ELF, GPU code, package databases |
//! | [`source`] | an image reference | manifest, config, access to the layers |
//! | [`layer`] | the bytes of one layer | its index, facts of its files |
//! | [`rootfs`] | all indexes | the merged view, what each layer shadows |
//! | [`cuda`] | the merged view, facts of files | libraries, GPU code, links, packages |
//! | [`findings`] | the inventory | findings with verdicts and proof; plans, policies |
//! | [`rewrite`] | findings, a Dockerfile | proposed Dockerfiles, their sizes and proof |
//! | [`analysis`] | a reference | all of it, published stage by stage |
//! | [`slim`] | an analysis, a plan | a smaller image, verified after writing |
//! | [`contents`] | an analysis, paths | bytes of files, on disk or in a tar archive |
//! | [`compare`] | several analyses | shared and different content |
//! | [`deploy`] | an analysis, a plan, a platform | seconds of a cold start, advice |
//! | [`report`] | an analysis, a comparison | text, JSON, Markdown, HTML, SARIF, CSV |
//! | `fuzzing` | any bytes | nothing, or a panic if an invariant is violated (feature `fuzzing`) |
//! | `gpu` | a device | whether this machine's GPU works, checked in a child process |
//! | [`cli`] | arguments | output and an exit code |
//! | `gui` | an analysis | the window |
//!
//! `tests/all/architecture.rs` checks this order; `ARCHITECTURE.md` has the reasons.

pub mod analysis;
pub mod base;
pub mod cache;
pub mod cli;
pub mod compare;
pub mod contents;
pub mod cuda;
pub mod deploy;
pub mod findings;
pub mod formats;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "gui")]
pub mod gui;
pub mod jobs;
pub mod layer;
pub mod report;
pub mod rewrite;
pub mod rootfs;
pub mod settings;
pub mod slim;
pub mod source;
