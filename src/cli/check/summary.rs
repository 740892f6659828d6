//! Result of a check as a step summary in GitHub Markdown. Text from images and files is escaped.

use std::fmt::Write as _;

use super::text::{CheckSummary, amount, limit};
use crate::base::size::human;
use crate::base::text::{elide_middle, printable};
use crate::report::markdown_escape;

/// Rows per table: GitHub limits a step summary to 1 MiB.
const MOST: usize = 50;
/// Maximum characters of one text from the image.
const LONGEST: usize = 300;

pub(super) fn markdown(told: &CheckSummary<'_>) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    write_all(&mut out, told).ok();
    out
}

fn write_all(out: &mut String, told: &CheckSummary<'_>) -> std::fmt::Result {
    let outcome = told.outcome;
    writeln!(out, "## Cutaway: {}\n", safe(told.image))?;
    if outcome.passes() {
        writeln!(out, "**pass**")?;
    } else {
        let reasons: Vec<String> = outcome.reasons.iter().map(|reason| format!("`{reason}`")).collect();
        writeln!(out, "**fail**: {}", reasons.join(", "))?;
    }
    if told.policy.is_none() {
        writeln!(out, "\nNo `cutaway.toml`: the check fails only if the image is incomplete.")?;
    }
    list(out, "Incomplete", told.warnings, |one| {
        format!("- `{}` {}: {}", one.code, safe(&one.subject), safe(&one.message))
    })?;
    if !outcome.checks.is_empty() {
        writeln!(out, "\n| | budget | image | limit |\n|---|---|---:|---|")?;
        for check in &outcome.checks {
            let word = if check.ok { "ok" } else { "**fail**" };
            let actual = check.actual.map_or_else(|| "unknown".to_owned(), amount);
            writeln!(out, "| {word} | `{}` | {actual} | {} |", check.name, limit(check))?;
        }
    }
    if let Some(platform) = told.platform {
        match &platform.machines {
            Some(machines) if !machines.is_empty() => {
                writeln!(out, "\n| {} | verdict | why | fix |\n|---|---|---|---|", safe(&platform.name))?;
                for one in machines.iter().take(MOST) {
                    let (target, verdict, why) = (safe(&one.target), one.verdict.label(), safe(&one.why));
                    let fix = one.hint.as_deref().map(safe).unwrap_or_default();
                    writeln!(out, "| {target} | {verdict} | {why} | {fix} |")?;
                }
                more(out, machines.len())?;
            }
            Some(_) => {}
            None => {
                writeln!(out, "\nRuns on {}: unknown, not analysed completely.", safe(&platform.name))?;
            }
        }
    }
    if !outcome.failing.is_empty() {
        writeln!(
            out,
            "\n| denied rule | verdict | bytes | files | finding | fix |\n|---|---|---:|---:|---|---|"
        )?;
        for one in outcome.failing.iter().take(MOST) {
            // A finding without bytes has none: it is not one of zero bytes.
            let bytes = if one.bytes > 0 { human(one.bytes) } else { String::new() };
            let (rule, verdict) = (one.rule.id, one.verdict.label());
            let files = if one.files > 0 { one.files.to_string() } else { String::new() };
            let (title, fix) = (safe(&one.title), safe(&one.fix));
            writeln!(out, "| `{rule}` | {verdict} | {bytes} | {files} | {title} | {fix} |")?;
        }
        more(out, outcome.failing.len())?;
    }
    list(out, "Notes", &outcome.notes, |note: &String| format!("- {}", safe(note)))?;
    if !outcome.ignored.is_empty() {
        writeln!(out, "\n<details><summary>Ignored: {}</summary>", outcome.ignored.len())?;
        writeln!(out, "\n| rule | path | bytes | reason | until |\n|---|---|---:|---|---|")?;
        for one in outcome.ignored.iter().take(MOST) {
            let path = one.path.as_deref().map(safe).unwrap_or_default();
            let until = one.expires.map(|day| day.to_string()).unwrap_or_default();
            let (rule, bytes, reason) = (safe(&one.rule), human(one.bytes), safe(&one.reason));
            writeln!(out, "| {rule} | {path} | {bytes} | {reason} | {until} |")?;
        }
        more(out, outcome.ignored.len())?;
        writeln!(out, "\n</details>")?;
    }
    Ok(())
}

fn list<T>(out: &mut String, title: &str, list: &[T], row: impl Fn(&T) -> String) -> std::fmt::Result {
    if list.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}:\n")?;
    list.iter().take(MOST).try_for_each(|one| writeln!(out, "{}", row(one)))?;
    more(out, list.len())
}

fn more(out: &mut String, count: usize) -> std::fmt::Result {
    match count.checked_sub(MOST) {
        Some(more) if more > 0 => writeln!(out, "\n{more} more: see `cutaway report`"),
        _ => Ok(()),
    }
}

/// Escapes text from the image.
fn safe(text: &str) -> String {
    markdown_escape(&printable(&elide_middle(text, LONGEST)))
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, safe};

    #[test]
    fn texts_from_an_image_mean_only_themselves() {
        let shown = safe("</td><script>|`a`[x](http://y) @me\n![");
        for mark in ["<", ">", "|", "`", "[", "]", "@", "http:", "\n"] {
            assert!(!shown.contains(mark), "{mark:?} in {shown}");
        }
        assert_eq!(safe("/usr/lib/a-b.so (x, y)"), "/usr/lib/a-b.so (x, y)");
        assert_eq!(safe(&"x".repeat(10_000)).chars().count(), LONGEST);
    }
}
