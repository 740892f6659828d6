//! The manual has one page for each rule, which names it as the rule does, and no page that nobody wrote.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cutaway::base::labels;
use cutaway::findings::{chapter, chapters, rules};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/manual/rules")
}

#[test]
fn pages_of_rules_start_with_what_the_rules_say() {
    const SECTIONS: [&str; 6] =
        ["What it detects", "Why it matters", "Example", "How it is proven", "What to do", "Sources"];
    for rule in rules() {
        let (id, title) = (rule.id, rule.title);
        let (category, severity) = (rule.category.label(), rule.severity.label());
        let head = format!("# {title}\n\nRule `{id}` · category: {category} · severity: {severity}\n\n## ");
        assert!(rule.page.starts_with(&head), "assets/manual/rules/{id}.md does not start with {head:?}");
        let sections: Vec<&str> = rule.page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(sections, SECTIONS, "{id}");
        assert!(!rule.detects().is_empty() && rule.page.contains(rule.detects()), "{id}");
        let file = fs::read_to_string(folder().join(format!("{id}.md"))).unwrap();
        assert_eq!(file, rule.page, "{id} includes the page of another rule");
    }
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
    let known: BTreeSet<String> = rules().map(|rule| format!("{}.md", rule.id)).collect();
    assert_eq!(known.len(), rules().len(), "two rules have one id");
    let names =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let strange: Vec<String> = names.filter(|name| !known.contains(name)).collect();
    assert!(strange.is_empty(), "no rule is called so, delete the pages: {}", strange.join(", "));
}

#[test]
fn no_page_waits_to_be_written() {
    let rules = rules().map(|rule| (rule.id, rule.page));
    let chapters = chapters().map(|name| (name, chapter(name).unwrap()));
    let waits: Vec<&str> = rules
        .chain(chapters)
        .filter(|(_, text)| {
            text.contains("To be written") || text.contains("\n\n\n") || !text.starts_with("# ")
        })
        .map(|(name, _)| name)
        .collect();
    assert!(waits.is_empty(), "these pages are not written: {}", waits.join(", "));
}
