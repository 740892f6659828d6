//! A report as a page: its sections, wording, and list bounds.

mod code;
pub(super) mod cold_start;
mod compatibility;
mod contents;
mod cuda;
mod evidence;
mod findings;
pub(super) mod graphs;
mod layers;
pub(super) mod lead;
mod libraries;
pub(super) mod make;
mod plan;
mod settings;
pub(super) mod sizes;

use super::model::Report;
use super::page::{Block, Line, Page, Part};
use make::Content;

/// The page of a report.
pub fn page(report: &Report) -> Page {
    let made = [
        (Part::Sizes, sizes::section(report)),
        (Part::Findings, findings::section(report)),
        (Part::Plan, plan::section(report)),
        (Part::Compatibility, compatibility::section(report)),
        (Part::ColdStart, cold_start::section(report)),
        (Part::Layers, layers::section(report)),
        (Part::Cuda, cuda::section(report)),
        (Part::GpuCode, code::gpu_code(report)),
        (Part::CudaGraphs, graphs::content(report.cuda_graphs.as_ref())),
        (Part::Duplicates, code::duplicates(report)),
        (Part::Packages, contents::packages(report)),
        (Part::Files, contents::files(report)),
        (Part::Settings, settings::section(report)),
        (Part::Warnings, contents::warnings(report)),
    ];
    Page {
        title: lead::title(report),
        generator: lead::generator(report),
        facts: lead::facts(report),
        lead: lead::lead(report),
        sections: make::sections(made),
    }
}

/// The details of a row that text has below it: id and question, or reason, of a finding; how a layer was read in part.
pub(super) fn remark(part: Part, details: &[Block]) -> Option<Line> {
    let facts = |block: &'_ Block| match block {
        Block::Facts(facts) => facts.clone(),
        _ => Vec::new(),
    };
    let facts: Vec<(String, Line)> = details.iter().flat_map(facts).collect();
    let first = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| facts.iter().find(|(known, _)| known == name).map(|(_, line)| line.clone()))
    };
    match part {
        Part::Findings => {
            let id = first(&[evidence::ID])?;
            let why = first(&[evidence::QUESTION, evidence::WHY])?;
            Some(Line { text: format!("[{}] {}", id.text, why.text), ..why })
        }
        Part::Layers => first(&[layers::TOC, layers::CLAIMED]),
        _ => None,
    }
}
