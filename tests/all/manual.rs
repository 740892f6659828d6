//! The manual is what the rules say: one page for each, and no page that nobody wrote.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cutaway::base::labels;
use cutaway::findings::{chapter, chapters, page, rules};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/manual/rules")
}

#[test]
fn pages_of_rules_are_what_the_rules_say() {
    let update = std::env::var_os("UPDATE_MANUAL").is_some();
    let mut wrong = Vec::new();
    for rule in rules() {
        let path = folder().join(format!("{}.md", rule.id));
        let made = page(rule);
        if update {
            fs::create_dir_all(folder()).unwrap();
            fs::write(&path, &made).unwrap();
        }
        if fs::read_to_string(&path).ok().as_deref() != Some(made.as_str()) {
            wrong.push(rule.id);
        }
    }
    assert!(
        wrong.is_empty(),
        "assets/manual/rules lacks or has older pages of {}; run the tests with UPDATE_MANUAL=1 to write them anew",
        wrong.join(", ")
    );
}

#[test]
fn the_chapter_on_labels_is_the_table_of_labels() {
    let path = folder().join("../labels.md");
    let made = labels::page();
    if std::env::var_os("UPDATE_MANUAL").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, made, "assets/manual/labels.md is outdated; run the tests with UPDATE_MANUAL=1");
}

#[test]
fn every_page_has_its_rule() {
    let known: BTreeSet<String> = rules().iter().map(|rule| format!("{}.md", rule.id)).collect();
    assert_eq!(known.len(), rules().len(), "two rules have one id");
    let names =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let strange: Vec<String> = names.filter(|name| !known.contains(name)).collect();
    assert!(strange.is_empty(), "no rule is called so, delete the pages: {}", strange.join(", "));
}

#[test]
fn no_page_waits_to_be_written() {
    let rules = rules().iter().map(|rule| (rule.id, page(rule)));
    let chapters = chapters().map(|name| (name, chapter(name).unwrap().to_owned()));
    let waits: Vec<&str> = rules
        .chain(chapters)
        .filter(|(_, text)| {
            text.contains("To be written") || text.contains("\n\n\n") || !text.starts_with("# ")
        })
        .map(|(name, _)| name)
        .collect();
    assert!(waits.is_empty(), "these pages are not written: {}", waits.join(", "));
}
