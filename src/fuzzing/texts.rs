//! Texts that users and saved files bring: references, policies, reports.

use super::{images, invariants};
use crate::base::redact;
use crate::base::text::printable;
use crate::cuda::catalog::Catalog;
use crate::cuda::compat::Needs;
use crate::deploy::files;
use crate::findings::policy::{Policy, PolicyError};
use crate::report::{read_plan, read_saved, to_json};
use crate::source::{Reference, redacted};

/// A word that no input contains by chance.
const SECRET: &str = "Zq7ThisIsASecretWord";

/// A reference: what was parsed is parsed to the same again, and user info before the host is never shown.
///
/// # Panics
/// When a promise is broken.
pub fn reference(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.contains(SECRET) {
        return;
    }
    if let Ok(parsed) = Reference::parse(&text) {
        assert_eq!(parsed.text, text, "the text is kept as it was given");
        assert!(text.contains(&parsed.location), "the location is a part of the text");
        let again = Reference::parse(&parsed.text).map(|again| format!("{again:?}"));
        assert_eq!(again.ok(), Some(format!("{parsed:?}")), "parsing has one answer");
    }
    let shown = redacted(&printable(&text));
    invariants::is_safe(&shown);
    for before in ["", "docker://", "docker-daemon:", "podman:", "registry:", "https://"] {
        let with_user = format!("{before}user:{SECRET}@host.example/{text}");
        let shown = redacted(&printable(&with_user));
        assert!(!shown.contains(SECRET), "{before} shows user info: {shown}");
        if let Err(error) = Reference::parse(&with_user) {
            assert!(!error.to_string().contains(SECRET), "{before} shows user info: {error}");
        }
    }
}

/// Instructions, commands and variables: values with secret names are never shown, in any context.
///
/// # Panics
/// If an invariant is violated.
pub fn secrets(data: &[u8]) {
    // A fuzzer learns the word from this file, and puts it where it is not a secret.
    let text = String::from_utf8_lossy(data);
    if text.contains(SECRET) {
        return;
    }
    redact::instruction(&text);
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    assert_eq!(redact::words(&words).len(), words.len(), "a word stays a word");
    let assignment = redact::assignment(&format!("API_TOKEN={SECRET}{text}"));
    assert!(!assignment.contains(SECRET), "{assignment}");
    let after: Vec<String> = ["run", "--password", SECRET, &text].map(str::to_owned).to_vec();
    let shown = redact::words(&after).join(" ");
    assert!(!shown.contains(SECRET), "{shown}");
    let host: String =
        text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '`')).collect();
    if host.contains(SECRET) {
        return;
    }
    let url = format!("see https://user:{SECRET}@host.example/{host}");
    assert!(!redact::url_user_info(&url).contains(SECRET), "{url}");
}

/// A `cutaway.toml`.
///
/// # Panics
/// When the place of a fault is not in the file.
pub fn policy(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let fault = |error: PolicyError| {
        let PolicyError::Fault { line, column, .. } = &error else { return };
        let lines = text.split('\n').count();
        assert!((1..=lines).contains(line) && *column >= 1, "a fault stands in the file: {error}");
        let width = text.split('\n').nth(line - 1).map_or(0, |line| line.chars().count());
        assert!(*column <= width + 1, "a fault stands in its line: {error}");
    };
    match Policy::parse("cutaway.toml", &text) {
        Ok(policy) => {
            let targets = policy.targets(Catalog::builtin(), &|| Err("no driver here".to_owned()));
            targets.err().into_iter().for_each(fault);
            assert!(!policy.denies("no-such-rule"));
        }
        Err(error) => fault(error),
    }
}

/// A platform's file, judged with and without an image.
///
/// # Panics
/// If a position is not in the file, or findings are not in order.
pub fn platform_file(data: &[u8]) {
    // YAML also ends lines at a lone carriage return.
    let lines = data.split(|byte| matches!(byte, b'\n' | b'\r')).count();
    let is_inside = |at: files::Position| (1..=lines + 1).contains(&at.line) && at.column >= 1;
    let file = match files::read(data) {
        Ok(file) => file,
        Err(error) => {
            assert!(error.position().is_none_or(is_inside), "a fault is in the file: {error}");
            return;
        }
    };
    let needs = Needs { uses_cuda: true, ..Needs::default() };
    let image = files::JudgedImage { reference: None, needs: &needs, environment: &[] };
    for image in [None, Some(&image)] {
        let found = files::judge(&file, image, Catalog::builtin());
        assert!(found.is_sorted_by_key(|one| one.at), "findings are in the order of the file");
        assert!(found.iter().all(|one| is_inside(one.at) && !one.text.is_empty()), "{found:?}");
    }
}

/// A report that was saved, in all formats, and the plan in it.
///
/// # Panics
/// When a promise is broken.
pub fn saved_report(data: &[u8]) {
    if let Err(error) = read_plan(data) {
        invariants::is_safe(&error.to_string());
    }
    match read_saved(data) {
        Ok(mut report) => {
            images::every_format(&report);
            report.redact();
            let once = to_json(&report);
            report.redact();
            assert_eq!(to_json(&report), once, "what is redacted stays as it is");
        }
        Err(error) => invariants::is_safe(&error.to_string()),
    }
}
