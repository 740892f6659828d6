//! What the program calls safe, needed and unsure on images like those that people build: on small ones that
//! are made by code, and on real CUDA content from the wheels of `PyPI`, judged by `tests/oracle/findings.py`.

mod devel;
mod frameworks;
mod oracle;
mod places;
mod plan;
mod questions;
mod real;
mod samples;
mod scene;
mod sums;
