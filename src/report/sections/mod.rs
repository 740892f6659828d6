//! A report as a page: its sections, wording, and list bounds.

mod code;
mod compatibility;
mod contents;
mod cuda;
mod evidence;
mod findings;
mod layers;
mod lead;
mod libraries;
pub(super) mod make;
mod plan;
mod settings;
pub(super) mod sizes;

use super::model::Report;
use super::page::{Block, Line, Page, Part, Section};

/// The page of a report.
pub fn page(report: &Report) -> Page {
    let made = [
        (Part::Sizes, sizes::section(report)),
        (Part::Findings, findings::section(report)),
        (Part::Plan, plan::section(report)),
        (Part::Compatibility, compatibility::section(report)),
        (Part::Layers, layers::section(report)),
        (Part::Cuda, cuda::section(report)),
        (Part::GpuCode, code::gpu_code(report)),
        (Part::Duplicates, code::duplicates(report)),
        (Part::Packages, contents::packages(report)),
        (Part::Files, contents::files(report)),
        (Part::Settings, settings::section(report)),
        (Part::Warnings, contents::warnings(report)),
    ];
    let section = |(part, (note, blocks)): (Part, Content)| Section { part, note, blocks };
    Page {
        title: lead::title(report),
        generator: lead::generator(report),
        facts: lead::facts(report),
        lead: lead::lead(report),
        sections: made.into_iter().map(section).filter(|section| !section.blocks.is_empty()).collect(),
    }
}

/// Note and blocks of a section; none if it has no contents.
type Content = (String, Vec<Block>);

/// What text says below a row, of its details: why, or the question, of a finding; how a layer was read in part.
pub(super) fn remark(part: Part, details: &[Block]) -> Option<&Line> {
    let names: &[&str] = match part {
        Part::Findings => &[evidence::QUESTION, evidence::WHY],
        Part::Layers => &[layers::TOC, layers::CLAIMED],
        _ => &[],
    };
    let facts = || {
        details.iter().filter_map(|block| if let Block::Facts(facts) = block { Some(facts) } else { None })
    };
    names.iter().find_map(|name| facts().flatten().find(|(known, _)| known == name).map(|(_, line)| line))
}
