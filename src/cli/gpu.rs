//! Checks this machine's GPU.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::arguments::Format;
use super::gpu_arguments::GpuPlan;
use super::gpu_text::{step_line, to_text};
use super::output::write;
use super::run::{TROUBLE, message};
use crate::gpu::{Check, CheckRequest, SCHEMA, check, run_child};
use crate::jobs::CancelToken;
use crate::report::{schema_for, to_json};

/// What came of a check of this machine's GPU.
#[derive(JsonSchema, Serialize)]
struct Document<'a> {
    /// Name and version of this schema.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// What made it.
    generator: Generator,
    #[serde(flatten)]
    check: &'a Check,
}

/// The program that made it.
#[derive(JsonSchema, Serialize)]
struct Generator {
    /// `cutaway`.
    name: &'static str,
    /// Its version.
    version: &'static str,
}

/// The schema of what a check writes.
pub(super) fn schema() -> Value {
    schema_for::<Document<'_>>()
}

/// Runs a check and prints what came of it; or does the work of one, in the child of another.
pub(super) fn gpu(plan: &GpuPlan) -> anyhow::Result<ExitCode> {
    if plan.is_child {
        return Ok(run_child(&plan.child));
    }
    let mut request = CheckRequest::new(plan.child.clone())?;
    if let Some(limit) = plan.limit {
        request.limit = limit;
    }
    let listens = io::stderr().is_terminal();
    let mut shown = 0;
    let mut news = |check: &Check| {
        for step in check.steps.iter().skip(shown).filter(|_| listens) {
            message(&step_line(step));
        }
        shown = check.steps.len();
    };
    let check = check(&request, &CancelToken::new(), &mut news);
    let text = match plan.format {
        Format::Text => to_text(&check),
        Format::Json => to_json(&Document {
            schema: SCHEMA,
            generator: Generator { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
            check: &check,
        }),
    };
    write(text.as_bytes(), plan.output.as_deref())?;
    Ok(if check.available { ExitCode::SUCCESS } else { ExitCode::from(TROUBLE) })
}
