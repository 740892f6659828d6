//! Names that tell of secrets in the image. Only names: no value is shown, and no length of one.

mod files;
mod names;

use std::collections::{BTreeMap, BTreeSet};

use names::{held, is_plain, shown_name, tells};

use crate::base::redact;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity, User, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "secrets",
    title: "Secrets",
    category: Category::Secrets,
    severity: Severity::High,
    fix: "Replace the secret, since whoever can pull the image has it, and give it as a secret of the build or when the container is started.",
    finds: "Variables, labels, build arguments and commands of the history whose names tell of secrets and that have values; files that hold secrets by their names, such as private keys, `.netrc`, `.aws/credentials`, the token of Hugging Face, in every layer, hidden ones too. Only names are told, never values.",
    matters: "Whoever can pull an image reads its configuration, its history and all of its layers. Deleting a file in a later layer hides it and removes nothing; a build argument stays in the history of every step that it was given to.",
    example: r"```dockerfile
ARG HF_TOKEN
RUN huggingface-cli login --token $HF_TOKEN && ./download.sh
COPY .netrc /root/
RUN pip install -r requirements.txt && rm /root/.netrc
```",
    remedy: r"```dockerfile
RUN --mount=type=secret,id=hf_token,env=HF_TOKEN ./download.sh
RUN --mount=type=secret,id=netrc,target=/root/.netrc pip install -r requirements.txt
```

```sh
docker build --secret id=hf_token,env=HF_TOKEN --secret id=netrc,src=$HOME/.netrc .
```

A secret that was in an image that somebody could pull is no secret any more: replace it. What only looks like one (a public key, the name of a key) is yours to tell: `cutaway.toml` takes an `[[ignore]]` with the reason.",
    source: "Dockerfile reference, RUN --mount=type=secret; Docker documentation, build secrets; OCI image specification, layers.",
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
    let config = facts.input.image.config.as_ref().and_then(|config| config.config().as_ref());
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
    let mut draft = draft(found, "Names of secrets in the configuration")?;
    draft.reason = "The configuration of the image has values under these names; every pull brings them, and `docker inspect` shows them.".into();
    draft.users = draft.subjects.iter().map(|name| User::Setting(name.clone())).collect();
    draft.proof =
        draft.subjects.iter().map(|name| format!("{name} has a value, which is not shown here")).collect();
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
            // The configuration tells of its variables.
            if !known.contains(name.as_str()) {
                found.entry(name).or_default().push(place);
            }
        }
    }
    let mut draft = draft(found.keys().cloned().collect(), "Names of secrets in the history")?;
    for (name, steps) in found {
        let noun = if steps.len() == 1 { "step" } else { "steps" };
        let steps: Vec<String> = steps.iter().map(usize::to_string).collect();
        draft.proof.push(format!("{name} has a value in {noun} {} of the history", steps.join(", ")));
    }
    draft.reason = "Instructions of the history hold values under these names: build arguments and commands are recorded as they were given.".into();
    Some(draft)
}

fn draft(names: BTreeSet<String>, title: &str) -> Option<Draft> {
    if names.is_empty() {
        return None;
    }
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title.to_owned());
    draft.subjects = names.into_iter().collect();
    draft.question = Some("Are all of these values harmless, such as examples or test values?".to_owned());
    draft.fix = "Replace them where they are secrets, give them to the build with RUN --mount=type=secret, and to the service when it is started.".into();
    Some(draft)
}
