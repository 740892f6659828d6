//! The report for people, in 80 columns, sizes first.

use std::fmt::Write as _;

use super::model::{LayerLine, Report};
use crate::base::size::{grouped, human, human_or_dash};
use crate::base::text::{elide_end, elide_middle, printable};

pub(super) const WIDTH: usize = 80;
/// Layers, files and warnings beyond these are counted; JSON has them all.
const MOST_LAYERS: usize = 200;
const MOST_WARNINGS: usize = 50;

/// The report as text. Nothing in it can steer a terminal.
pub fn to_text(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    write_all(&mut out, report).ok();
    out
}

fn write_all(out: &mut String, report: &Report) -> std::fmt::Result {
    head(out, report)?;
    totals(out, report)?;
    layers(out, report)?;
    super::text_findings::write(out, report)?;
    super::text_compatibility::write(out, report)?;
    super::text_rewrite::write(out, report)?;
    super::text_cuda::write(out, report)?;
    largest(out, report)?;
    warnings(out, report)
}

fn head(out: &mut String, report: &Report) -> std::fmt::Result {
    let image = &report.image;
    let name = image.tags.first().unwrap_or(&image.reference);
    writeln!(out, "{}", elide_middle(&printable(name), WIDTH))?;
    let mut facts = vec![printable(&image.source)];
    if let Some(platform) = &image.platform {
        let parts = [Some(&platform.os), Some(&platform.architecture), platform.variant.as_ref()];
        facts.push(printable(&parts.into_iter().flatten().cloned().collect::<Vec<_>>().join("/")));
    }
    if let Some(created) = &image.created {
        facts.push(format!("created {}", printable(created)));
    }
    writeln!(out, "{}", elide_end(&facts.join(", "), WIDTH))?;
    for (what, digest) in [("manifest", &image.manifest_digest), ("config", &image.config_digest)] {
        if let Some(digest) = digest {
            writeln!(out, "{what:<8} {digest}")?;
        }
    }
    if let Some(config) = &image.config {
        let words = |words: &Option<Vec<String>>| words.as_ref().map(|words| words.join(" "));
        let lines = [
            ("starts", words(&config.entrypoint)),
            ("with", words(&config.cmd)),
            ("in", config.working_dir.clone()),
            ("as", config.user.clone()),
        ];
        for (what, text) in lines {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                writeln!(out, "{what:<8} {}", elide_end(&printable(&text), WIDTH - 9))?;
            }
        }
    }
    Ok(())
}

fn totals(out: &mut String, report: &Report) -> std::fmt::Result {
    let totals = &report.totals;
    let note = if totals.complete { "" } else { " (incomplete: see the warnings)" };
    writeln!(out, "\nSizes{note}")?;
    let mut line = |bytes: Option<u64>, what: &str, meaning: &str| {
        writeln!(out, "{:>10}  {what:<13} {meaning}", human_or_dash(bytes))
    };
    let noun = if totals.layers == 1 { "layer" } else { "layers" };
    let layers = format!("{} {noun} as stored, transferred by a first pull", totals.layers);
    line(totals.compressed_bytes, "compressed", &layers)?;
    line(totals.uncompressed_bytes, "uncompressed", "tar streams of the layers")?;
    line(totals.content_bytes, "content", "regular files of all layers")?;
    let noun = if totals.merged_files == Some(1) { "file" } else { "files" };
    let files = totals.merged_files.map_or_else(|| "–".to_owned(), grouped);
    line(totals.merged_bytes, "merged", &format!("visible in the container: {files} {noun}"))?;
    let efficiency = totals
        .efficiency
        .map_or_else(String::new, |efficiency| format!(", efficiency {:.1} %", floor_percent(efficiency)));
    line(totals.wasted_bytes, "wasted", &format!("not visible in the container{efficiency}"))
}

/// Tenths of a percent, rounded down: 100 % means no waste.
pub(super) fn floor_percent(ratio: f64) -> f64 {
    (ratio * 1000.0).floor() / 10.0
}

fn layers(out: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(out, "\nLayers, bottom first")?;
    writeln!(out, "{:>10} {:>8} {:>8} {:>7}   #  instruction", "compressed", "content", "wasted", "files")?;
    for layer in report.layers.iter().take(MOST_LAYERS) {
        writeln!(
            out,
            "{:>10} {:>8} {:>8} {:>7} {:>3}  {}",
            human_or_dash(layer.compressed_bytes),
            human_or_dash(layer.content_bytes),
            human_or_dash(layer.wasted_bytes),
            layer.files.map_or_else(|| "–".into(), grouped),
            layer.index,
            elide_end(&instruction(layer), WIDTH - 42),
        )?;
    }
    more(out, report.layers.len(), MOST_LAYERS, "layers")?;
    for layer in report.layers.iter().take(MOST_LAYERS) {
        if let Some(table) = &layer.toc {
            let (number, format) = (layer.index, printable(&table.format));
            let (fetched, all) = (human(table.fetched_bytes), human_or_dash(layer.compressed_bytes));
            writeln!(
                out,
                "  layer {number} by its table of contents ({format}): {fetched} of {all} fetched"
            )?;
        } else if let (None, Some(bytes)) = (layer.compressed_bytes, layer.claimed_bytes) {
            writeln!(out, "  layer {}: {} compressed, claimed by the manifest", layer.index, human(bytes))?;
        }
    }
    Ok(())
}

/// The instruction without the shell that every RUN has, or the digest where there is none.
fn instruction(layer: &LayerLine) -> String {
    let text = match &layer.created_by {
        Some(text) => short_instruction(text),
        None => layer.diff_id.clone().or_else(|| layer.digest.clone()).unwrap_or_default(),
    };
    printable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// An instruction as one reads it in a Dockerfile: no `/bin/sh -c`, no `#(nop)`, no `# buildkit`.
pub fn short_instruction(created_by: &str) -> String {
    let text = created_by.trim().trim_end_matches("# buildkit").trim_end();
    if let Some(nop) = text.strip_prefix("/bin/sh -c #(nop)") {
        return nop.trim_start().to_owned();
    }
    let command = text.strip_prefix("RUN ").unwrap_or(text);
    match command.find("/bin/sh -c ") {
        // Build arguments may precede the shell: `|1 A=b /bin/sh -c …`.
        Some(place) if place == 0 || command.starts_with('|') => {
            format!("RUN {}", command[place + "/bin/sh -c ".len()..].trim_start())
        }
        _ => text.to_owned(),
    }
}

fn largest(out: &mut String, report: &Report) -> std::fmt::Result {
    if report.largest_files.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nLargest files in the merged view")?;
    writeln!(out, "{:>10}  layer  path", "size")?;
    for file in &report.largest_files {
        writeln!(
            out,
            "{:>10}  {:>5}  {}",
            human(file.bytes),
            file.layer,
            elide_middle(&file.path, WIDTH - 19)
        )?;
    }
    Ok(())
}

fn warnings(out: &mut String, report: &Report) -> std::fmt::Result {
    if report.warnings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWarnings")?;
    for warning in report.warnings.iter().take(MOST_WARNINGS) {
        let text =
            format!("{}: {}: {}", warning.code, printable(&warning.subject), printable(&warning.message));
        for (number, line) in wrap(&text, WIDTH - 4).into_iter().enumerate() {
            writeln!(out, "{}{line}", if number == 0 { "  " } else { "    " })?;
        }
    }
    more(out, report.warnings.len(), MOST_WARNINGS, "warnings")
}

pub(super) fn more(out: &mut String, all: usize, shown: usize, what: &str) -> std::fmt::Result {
    if all > shown {
        writeln!(out, "  {} more {what}: see --format json", all - shown)?;
    }
    Ok(())
}

pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::{floor_percent, short_instruction};

    #[test]
    fn instructions_read_like_a_dockerfile() {
        let cases = [
            ("/bin/sh -c #(nop)  ENV A=b", "ENV A=b"),
            ("/bin/sh -c #(nop) ADD file:abc in / ", "ADD file:abc in /"),
            ("RUN /bin/sh -c apt-get update # buildkit", "RUN apt-get update"),
            ("RUN |1 A=b /bin/sh -c make # buildkit", "RUN make"),
            ("|1 A=b /bin/sh -c make", "RUN make"),
            ("/bin/sh -c make", "RUN make"),
            ("COPY a /b # buildkit", "COPY a /b"),
            ("bazel build //x", "bazel build //x"),
        ];
        for (text, shown) in cases {
            assert_eq!(short_instruction(text), shown);
        }
    }

    #[test]
    fn a_hundred_percent_means_no_waste() {
        assert!((floor_percent(0.9999) - 99.9).abs() < 1e-9);
        assert!((floor_percent(1.0) - 100.0).abs() < 1e-9);
    }
}
