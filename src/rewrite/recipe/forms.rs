//! Forms in which builders write copied files and health checks.

use super::redaction_policy::RedactionPolicy;
use super::values::{exec, string, strings};

/// A builder's record of copied files.
pub(super) struct Added<'a> {
    /// Flags, with a space at the end.
    pub(super) flags: &'a str,
    /// The kind of source, in words.
    pub(super) what: &'static str,
    /// The destination.
    pub(super) to: &'a str,
}

/// `file:… in /to`, as docker's classic builder and buildah write it.
pub(super) fn added(text: &str) -> Option<Added<'_>> {
    let mut start = 0;
    while text[start..].starts_with("--") {
        start += text[start..].find(' ')? + 1;
    }
    let (flags, rest) = text.split_at(start);
    let (source, to) = rest.split_once(" in ").or_else(|| rest.strip_prefix("in ").map(|to| ("", to)))?;
    let what = match source.split(':').next().unwrap_or_default() {
        "file" => "file",
        "dir" => "folder",
        "multi" => "set of files",
        "" => "file or folder",
        _ => return None,
    };
    (!source.contains(' ')).then_some(Added { flags, what, to: to.trim() })
}

/// `&{["CMD-SHELL" "text"] "30s" "5s" "0s" "0s" '\x03'}`, as docker prints it.
pub(super) fn healthcheck(text: &str, redaction_policy: RedactionPolicy) -> Option<String> {
    let rest = text.trim_start_matches('&').strip_prefix('{')?.strip_suffix('}')?;
    let mut end = 1;
    while let Some(place) = rest.get(end..)?.find(['"', ']']) {
        end += place;
        let left = rest.get(end..)?;
        if left.starts_with(']') {
            break;
        }
        end += string(left)?.1;
    }
    let mut command = strings(rest.get(..=end)?)?;
    let mut flags = String::new();
    let mut values = rest.get(end + 1..)?.split_whitespace();
    let names: &[&str] = match values.clone().count() {
        4 => &["interval", "timeout", "start-period"],
        _ => &["interval", "timeout", "start-period", "start-interval"],
    };
    for name in names {
        let value = values.next().unwrap_or_default().trim_matches('"');
        if !value.is_empty() && value != "0s" {
            flags.extend(["--", name, "=", value, " "]);
        }
    }
    let retries = values.next().unwrap_or_default().trim_matches('\'');
    let retries = match retries.strip_prefix("\\x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => retries.parse().ok(),
    };
    if let Some(retries) = retries.filter(|retries| *retries > 0) {
        flags.extend(["--retries=", &retries.to_string(), " "]);
    }
    if command.is_empty() {
        return None;
    }
    let kind = command.remove(0);
    match kind.as_str() {
        "NONE" => Some("NONE".to_owned()),
        "CMD-SHELL" => Some(format!("{flags}CMD {}", redaction_policy.instruction(&command.join(" ")))),
        "CMD" => Some(format!("{flags}CMD {}", exec(&redaction_policy.words(&command)))),
        _ => None,
    }
}
