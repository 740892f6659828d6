//! Cutaway opens a container image and shows what it is made of.
//!
//! Data flows one way, through rooms that may each use only those above it:
//!
//! | room | takes | gives |
//! |---|---|---|
//! | [`base`] | | sizes, digests, limits, warnings, text that is safe to show |
//! | [`jobs`] | closures | progress, cancellation, the newest result |
//! | [`cache`] | verified keys, bytes | the same bytes in a later run |
//! | [`formats`] | bytes | facts: tar members, ELF, GPU code, package databases |
//! | [`source`] | an image reference | manifest, config, where the layers lie |
//! | [`layer`] | the bytes of one layer | its index, facts of its files |
//! | [`rootfs`] | all indexes | what a container sees, what each layer hides |
//! | [`cuda`] | the merged view, facts of files | libraries, GPU code, links, packages |
//! | [`findings`] | the inventory | what should not be there, with verdicts and proof; plans, policies |
//! | [`rewrite`] | findings, a Dockerfile | proposed Dockerfiles, their sizes and proof |
//! | [`analysis`] | a reference | all of it, published stage by stage |
//! | [`compare`] | several analyses | what they share, where they differ |
//! | [`report`] | an analysis, a comparison | text, JSON, Markdown, HTML, SARIF, CSV |
//! | `fuzzing` | any bytes | nothing, or a panic where a promise of another room is broken |
//! | `gpu` | which device | whether this machine's GPU works, in a child process |
//! | [`cli`] | arguments | output and an exit code |
//! | `gui` | an analysis | the window |
//!
//! `tests/all/architecture.rs` holds the rooms to it; `ARCHITECTURE.md` says why.

pub mod analysis;
pub mod base;
pub mod cache;
pub mod cli;
pub mod compare;
pub mod cuda;
pub mod findings;
pub mod formats;
#[doc(hidden)]
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
pub mod source;
