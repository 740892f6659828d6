//! How the image runs: command, user, environment, labels.

use super::Content;
use super::make::{code, fact, headed, one_line, row, some, text, unknown};
use crate::report::model::{Report, RunConfig};
use crate::report::page::{Block, Line};

/// Variables and labels: images of NVIDIA have about forty.
const VARIABLES: usize = 80;
/// Characters of a command or a value.
const VALUE: usize = 300;

pub(super) fn section(report: &Report) -> Content {
    let Some(config) = &report.image.config else {
        return unknown("Settings unknown: this source has no image config.");
    };
    let mut blocks = vec![Block::Facts(facts(config))];
    let pairs: Vec<(&str, &str)> =
        config.env.iter().map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
    blocks.extend(pairs_table("Environment", "variables", &pairs));
    let labels: Vec<(&str, &str)> =
        config.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    blocks.extend(pairs_table("Labels", "labels", &labels));
    (String::new(), blocks)
}

fn facts(config: &RunConfig) -> Vec<(String, Line)> {
    let line = |text: Option<String>| match text {
        Some(text) if !text.is_empty() => Line::code(one_line(&text, VALUE)),
        _ => Line::plain("none"),
    };
    let command = |words: &Option<Vec<String>>| words.as_deref().map(crate::base::text::shell_words);
    let mut facts = vec![
        ("Entrypoint".to_owned(), line(command(&config.entrypoint))),
        ("Command".to_owned(), line(command(&config.cmd))),
    ];
    let user = match &config.user {
        Some(user) => line(Some(user.clone())),
        None => Line::plain("not set: root"),
    };
    facts.push(("User".to_owned(), user));
    facts.push(("Working directory".to_owned(), line(config.working_dir.clone())));
    if !config.exposed_ports.is_empty() {
        facts.push(fact("Ports", some(config.exposed_ports.iter().map(String::as_str))));
    }
    facts
}

fn pairs_table(title: &str, noun: &'static str, pairs: &[(&str, &str)]) -> Vec<Block> {
    let value = |value: &str| match value {
        "" => Line::default(),
        value => Line::code(one_line(value, VALUE)),
    };
    let line = |pair: &(&str, &str)| row([code(pair.0), value(pair.1)]);
    headed(title, [text("Name"), text("Value")], noun, (pairs, VARIABLES), line)
}
