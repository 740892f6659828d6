//! The GPU view: what it makes of checks and verdicts, and how people meet them.

pub(crate) mod scene;
