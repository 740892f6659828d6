//! Pages of the manual.

use std::fmt::Write as _;
use std::process::ExitCode;

use super::output::{TROUBLE, message, write};
use crate::findings::policy::near;
use crate::findings::{chapter, chapters, rule, rules};

/// Prints the page of a rule or chapter, or the list of pages.
pub(super) fn explain(name: Option<&str>) -> anyhow::Result<ExitCode> {
    let page = match name {
        None => contents(),
        Some(name) => match rule(name).map(|rule| rule.page).or_else(|| chapter(name)) {
            Some(page) => page.to_owned(),
            None => return Ok(unknown(name)),
        },
    };
    write(page.as_bytes(), None)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(name: &str) -> ExitCode {
    message(&format!("error: no such rule or chapter: {name:?}"));
    let near = near(name, rules().map(|rule| rule.id).chain(chapters()));
    message(&if near.is_empty() {
        "hint: list all rules and chapters with `cutaway explain`".to_owned()
    } else {
        format!("hint: did you mean {}?", near.join(" or "))
    });
    ExitCode::from(TROUBLE)
}

/// All rules by category, and the chapters, in Markdown.
fn contents() -> String {
    let mut list = String::from("# Rules\n\n");
    // Writing to a String cannot fail.
    for rule in rules() {
        writeln!(list, "- `{}`: {}", rule.id, rule.title).ok();
    }
    list.push_str("\n# Chapters\n\n");
    for name in chapters() {
        let title = chapter(name).and_then(|text| text.lines().next()).unwrap_or_default();
        writeln!(list, "- `{name}`: {}", title.trim_start_matches("# ")).ok();
    }
    list.push_str("\nShow one with `cutaway explain NAME`.\n");
    list
}
