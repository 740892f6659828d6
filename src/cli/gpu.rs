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

/// Result of a GPU check, schema `cutaway.gpu/1`.
#[derive(JsonSchema, Serialize)]
struct Document<'a> {
    /// Name and version of the schema.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// Generator of this document.
    generator: Generator,
    #[serde(flatten)]
    check: &'a Check,
}

/// Generator of a document.
#[derive(JsonSchema, Serialize)]
struct Generator {
    /// Name of the program.
    name: &'static str,
    /// Version of the program.
    version: &'static str,
}

/// The JSON Schema of a GPU check.
pub(super) fn schema() -> Value {
    schema_for::<Document<'_>>()
}

/// Runs a GPU check and prints the result; in the child process, does the actual work.
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
