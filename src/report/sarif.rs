//! The findings of a report as SARIF 2.1.0, for code scanning.
//!
//! GitHub rejects a whole file if one result has no location with an artifact, accepts 25,000 results and 10 MB, and
//! shows the first location of a result. So each result has an artifact: the Dockerfile if the user gave it, with the
//! line of the instruction that added the bytes, else the image itself, without a line.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::findings::FindingLine;
use super::json::to_json;
use super::model::Report;
use super::proposal::DockerfilePart;
use crate::base::digest::sha256_of;
use crate::base::labels::VERDICTS;
use crate::base::redact::REDACTED;
use crate::base::size::human;
use crate::base::text::{counted, elide_end, printable, sentence};
use crate::findings::{Rule, Severity, rule};

/// Maximum results per run on GitHub.
const RESULTS: usize = 25_000;
/// Bytes of all results, before they are compressed and without the blanks that put them in.
const BYTES: usize = 6 << 20;
/// Locations of a result, and notifications of a run.
const LOCATIONS: usize = 10;
const NOTIFICATIONS: usize = 500;
/// Paths of a result: JSON has all.
const PATHS: usize = 20;
/// Characters of one text.
const TEXT: usize = 2_000;
/// A file without a name that GitHub would know: the Dockerfile came from standard input.
const DOCKERFILE: &str = "Dockerfile";

/// The findings as SARIF 2.1.0.
pub fn to_sarif(report: &Report) -> String {
    let findings = report.findings.as_deref().unwrap_or_default();
    let place = SarifLocation::of(report);
    let mut rules = Rules::default();
    let mut results = Vec::new();
    let mut bytes = 0;
    for finding in findings.iter().take(RESULTS) {
        let result = place.result(finding, rules.index(finding));
        bytes += to_json(&result).len();
        if bytes > BYTES {
            break;
        }
        results.push(result);
    }
    let left_out = findings.len() - results.len();
    to_json(&json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": text(&report.generator.name),
                "version": text(&report.generator.version),
                "rules": rules.list,
            }},
            "columnKind": "utf16CodeUnits",
            "redactionTokens": [REDACTED],
            "invocations": [{
                "executionSuccessful": report.totals.complete,
                "toolExecutionNotifications": notifications(report, left_out),
            }],
            "results": results,
            "properties": {
                "totals": report.totals,
                "reclaimable": report.reclaimable,
                "plan": report.plan,
                "targets": targets(report),
                "results_left_out": left_out,
            },
        }],
    }))
}

fn targets(report: &Report) -> Vec<Value> {
    let targets = report.compatibility.iter().flat_map(|part| &part.targets);
    targets.map(|target| json!({ "target": target.target, "verdict": target.verdict })).collect()
}

fn notifications(report: &Report, left_out: usize) -> Vec<Value> {
    let notification = |code: &str, subject: &str, message: &str| {
        json!({
            "level": if report.totals.complete { "warning" } else { "error" },
            "descriptor": { "id": text(code) },
            "message": message_of(&format!("{subject}: {message}")),
        })
    };
    let warnings = report.warnings.iter().take(NOTIFICATIONS);
    let mut list: Vec<Value> =
        warnings.map(|warning| notification(&warning.code, &warning.subject, &warning.message)).collect();
    let more = report.warnings.len().saturating_sub(NOTIFICATIONS);
    for (count, what) in [(more, "warnings"), (left_out, "findings")] {
        if count > 0 {
            let said = format!("{count} more {what} omitted: the JSON report is complete");
            list.push(json!({ "level": "note", "message": { "text": said } }));
        }
    }
    list
}

/// The rules that have results, each once.
#[derive(Default)]
struct Rules {
    list: Vec<Value>,
    known: BTreeMap<String, usize>,
}

impl Rules {
    fn index(&mut self, finding: &FindingLine) -> usize {
        let id = finding.rule.to_string();
        *self.known.entry(id).or_insert_with_key(|id| {
            // A report of another version may have rules that this one lacks.
            self.list.push(rule(id).map_or_else(|| json!({ "id": text(id) }), descriptor));
            self.list.len() - 1
        })
    }
}

fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.detects() },
        "help": { "text": rule.page, "markdown": rule.page },
        "defaultConfiguration": { "level": level(rule.severity.as_str()) },
        "properties": { "tags": ["container", rule.category.as_str()], "severity": rule.severity.as_str() },
    })
}

fn level(severity: &str) -> &'static str {
    match Severity::ALL.iter().find(|one| one.as_str() == severity) {
        Some(Severity::High) => "error",
        Some(Severity::Low | Severity::Info) => "note",
        Some(Severity::Medium) | None => "warning",
    }
}

/// What results are located in.
struct SarifLocation<'a> {
    artifact: Value,
    /// The Dockerfile that the user gave.
    dockerfile: Option<&'a DockerfilePart>,
}

impl<'a> SarifLocation<'a> {
    fn of(report: &'a Report) -> Self {
        let dockerfile = report.dockerfile.as_ref().filter(|file| file.origin == "given");
        let artifact = match dockerfile {
            Some(file) => {
                let name = file.name.as_deref().filter(|name| *name != "standard input");
                json!({ "uri": uri(name.unwrap_or(DOCKERFILE)) })
            }
            None => json!({ "uri": uri(&report.image.reference), "description": { "text": "the image" } }),
        };
        Self { artifact, dockerfile }
    }

    fn result(&self, finding: &FindingLine, rule: usize) -> Value {
        let mut result = json!({
            "ruleId": text(&finding.rule),
            "ruleIndex": rule,
            "message": message_of(&message(finding)),
            "locations": self.locations(finding),
            "partialFingerprints": {
                "finding/v1": text(&finding.id),
                // GitHub's fingerprint of a result: without it, GitHub would search the line in a file that may not
                // exist.
                "primaryLocationLineHash": format!("{:.16}:1", sha256_of(finding.id.as_bytes()).trim_start_matches("sha256:")),
            },
            "properties": {
                "verdict": finding.verdict,
                "severity": finding.severity,
                "category": finding.category,
                "bytes": finding.bytes,
                "merged_bytes": finding.merged_bytes,
                "potential_bytes": finding.potential_bytes,
                "files": finding.files,
                "layers": finding.layers,
                "paths_left_out": finding.paths.len().saturating_sub(PATHS),
            },
        });
        let (kind, level) = match &*finding.verdict {
            // It is used at run time: known, and nothing to mend.
            "needed" => ("informational", "none"),
            // A question is open.
            "unsure" if level(&finding.severity) == "error" => ("fail", "warning"),
            _ => ("fail", level(&finding.severity)),
        };
        result["kind"] = json!(kind);
        result["level"] = json!(level);
        result
    }

    /// Lines of the Dockerfile that added the bytes, largest first; the paths are with the first.
    fn locations(&self, finding: &FindingLine) -> Vec<Value> {
        let mut lines: BTreeMap<Option<u32>, (u64, Vec<u16>)> = BTreeMap::new();
        for share in &finding.layer_bytes {
            let (bytes, layers) = lines.entry(self.line(share.layer)).or_default();
            *bytes = bytes.saturating_add(share.bytes);
            layers.push(share.layer);
        }
        if lines.is_empty() {
            lines.insert(None, (0, Vec::new()));
        }
        let mut lines: Vec<_> = lines.into_iter().collect();
        // Bytes without a line come last.
        lines.sort_by_key(|(line, (bytes, _))| (line.is_none(), std::cmp::Reverse(*bytes)));
        let mut paths = finding.paths.iter().take(PATHS).map(|path| logical("", path)).peekable();
        let mut locations = Vec::new();
        for (line, (_, layers)) in lines.into_iter().take(LOCATIONS) {
            let mut place = json!({ "artifactLocation": self.artifact });
            if let Some(line) = line {
                place["region"] = json!({ "startLine": line });
            }
            let layers = layers.iter().map(|layer| logical("layer/", &layer.to_string()));
            let logical: Vec<Value> = layers.chain(paths.by_ref()).collect();
            let mut location = json!({ "physicalLocation": place });
            if !logical.is_empty() {
                location["logicalLocations"] = logical.into();
            }
            locations.push(location);
        }
        locations
    }

    fn line(&self, layer: u16) -> Option<u32> {
        let mut instructions = self.dockerfile?.instructions.iter();
        let made = instructions.find(|instruction| instruction.layers.contains(&layer))?;
        Some(made.line).filter(|line| *line > 0)
    }
}

fn logical(kind: &str, name: &str) -> Value {
    let mut place = Map::new();
    place.insert("fullyQualifiedName".to_owned(), json!(format!("{kind}{}", text(name))));
    place.insert("kind".to_owned(), json!(if kind.is_empty() { "resource" } else { "module" }));
    place.into()
}

/// What, how much, why, and the fix.
fn message(finding: &FindingLine) -> String {
    let mut parts = vec![sentence(&text(&finding.title))];
    if finding.bytes > 0 {
        let verdict = VERDICTS.shown(&finding.verdict);
        parts.push(format!("{verdict}: {} in {}.", human(finding.bytes), counted(finding.files, "file")));
    }
    let texts = [Some(&finding.reason), finding.question.as_ref(), Some(&finding.fix)];
    let texts = texts.into_iter().flatten().filter(|text| !text.is_empty());
    parts.extend(texts.map(|part| sentence(&text(part))));
    parts.join(" ")
}

/// Escapes placeholders and links of SARIF in a message.
fn message_of(text: &str) -> Value {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '{' | '}' => plain.extend([character, character]),
            '[' | ']' => plain.extend(['\\', character]),
            other => plain.push(other),
        }
    }
    json!({ "text": plain })
}

/// A text of an image: safe, and not endless.
fn text(text: &str) -> String {
    elide_end(&printable(text), TEXT)
}

/// A path as a URI reference: relative where the path is.
fn uri(path: &str) -> String {
    use std::fmt::Write as _;
    let path = path.trim_start_matches("./");
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            uri.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            write!(uri, "%{byte:02X}").ok();
        }
    }
    if uri.is_empty() { "image".to_owned() } else { uri }
}
