//! Checks this machine's GPU.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use serde::Serialize;

use super::arguments::Format;
use super::gpu_arguments::GpuPlan;
use super::gpu_text::{step_line, to_text};
use super::output::write;
use super::run::{TROUBLE, message};
use crate::gpu::{Check, CheckRequest, SCHEMA, check, run_child};
use crate::jobs::CancelToken;
use crate::report::to_json;

/// A check as the contract has it.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    generator: Generator,
    #[serde(flatten)]
    check: &'a Check,
}

#[derive(Serialize)]
struct Generator {
    name: &'static str,
    version: &'static str,
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
