//! Names that indicate secrets in the image. Names only: neither a value nor its length is shown.

mod files;
mod names;

use std::collections::{BTreeMap, BTreeSet};

use names::{held, is_plain, shown_name, tells};

use crate::base::redact;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, User, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "secrets",
    title: "Secrets",
    category: Category::Secrets,
    severity: Severity::High,
    fix: "Revoke and replace the secret: anyone who can pull the image has it. Pass it as a build secret or at run time.",
    page: include_str!("../../../assets/manual/rules/secrets.md"),
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    settings(facts).into_iter().chain(history(facts)).chain(files::find(facts)).collect()
}

/// Variables and labels.
fn settings(facts: &Facts<'_>) -> Option<Draft> {
    let mut found = BTreeSet::new();
    let mut look = |kind: &str, name: &str, value: &str| {
        if tells(name) && !is_plain(value) {
            found.insert(format!("{kind} {}", shown_name(name)));
            return;
        }
        let shown = redact::value("", value);
        for held in held(value, &shown) {
            found.insert(format!("{kind} {} ({held})", shown_name(name)));
        }
    };
    for pair in facts.environment() {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        look("ENV", name, value);
    }
    let config = facts.input.image.run_config();
    if let Some(labels) = config.and_then(|config| config.labels().as_ref()) {
        for (name, value) in labels.iter().collect::<BTreeMap<_, _>>() {
            look("LABEL", name, value);
        }
    }
    let (command, shown) =
        (facts.command(), redact::words(&facts.command().into_iter().map(str::to_owned).collect::<Vec<_>>()));
    for held in held(&command.join(" "), &shown.join(" ")) {
        found.insert(format!("the image's command ({held})"));
    }
    let mut draft = draft(found, "Possible secrets in the configuration")?;
    draft.reason = "The image configuration has values for these names. Every pull includes them, and `docker inspect` shows them.".into();
    draft.users = draft.subjects.iter().map(|name| User::Setting(name.clone())).collect();
    draft.proof = draft.subjects.iter().map(|name| format!("{name} has a value (not shown)")).collect();
    Some(draft)
}

/// Build arguments and commands.
fn history(facts: &Facts<'_>) -> Option<Draft> {
    let config = facts.input.image.config.as_ref()?;
    let known: BTreeSet<&str> =
        facts.environment().iter().filter_map(|pair| pair.split_once('=')).map(|(name, _)| name).collect();
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, entry) in config.history().iter().flatten().enumerate() {
        let text = entry.created_by().as_deref().unwrap_or_default();
        for name in held(text, &redact::instruction(text)) {
            // Variables of the configuration are reported above.
            if !known.contains(name.as_str()) {
                found.entry(name).or_default().push(place);
            }
        }
    }
    let mut draft = draft(found.keys().cloned().collect(), "Possible secrets in the history")?;
    for (name, steps) in found {
        let noun = if steps.len() == 1 { "step" } else { "steps" };
        let steps: Vec<String> = steps.iter().map(usize::to_string).collect();
        draft.proof.push(format!("{name} has a value in history {noun} {}", steps.join(", ")));
    }
    draft.reason = "History instructions contain values for these names: build arguments and commands are recorded as given.".into();
    Some(draft)
}

fn draft(names: BTreeSet<String>, title: &str) -> Option<Draft> {
    if names.is_empty() {
        return None;
    }
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title.to_owned());
    draft.subjects = names.into_iter().collect();
    draft.question = Some("Are all of these values harmless, such as examples or test values?".to_owned());
    draft.fix = "Replace real secrets. Pass them to the build with RUN --mount=type=secret, and to the service at run time.".into();
    Some(draft)
}
