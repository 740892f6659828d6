//! Programs in cells of tables and in lists: `rev,git --version`, `make = make`, `cxx: [c++, -O2]`.

use std::ops::Range;

use super::command::{REACH, is_compiler};
use super::values::{is_subcommand, key_before};
use super::wrappers::{self, Content, Shell};

/// What separates cells, and entries of lists.
const SEPARATORS: &[u8] = b",;:|\t";
/// Keys of settings whose values are prose.
const PROSE: [&[u8]; 8] =
    [b"comment", b"description", b"help", b"label", b"message", b"summary", b"text", b"title"];

/// Whether the word at `place` is a program in a cell or a list, by what follows it: an option, a command of git, or
/// for git and for a key of the same name nothing. `line` is the start of its line.
pub(super) fn is_cell(text: &[u8], place: &Range<usize>, line: usize, word: &str, shell: &Shell<'_>) -> bool {
    if !matches!(word, "git" | "make") && !is_compiler(word) {
        return false;
    }
    let rest = text.get(place.end..).unwrap_or(&[]);
    let before = text.get(line.max(place.start.saturating_sub(REACH))..place.start).unwrap_or(&[]);
    if shell.is_script {
        // Behind a function of another script: `retry 3 cc -shared`.
        return matches!(before.last(), Some(b' ' | b'\t'))
            && rest.starts_with(b" -")
            && has_option(rest, before)
            && !wrappers::is_listed(text, place);
    }
    if shell.content == Content::Source {
        return false;
    }
    let has_tables = shell.content == Content::Tables;
    let outer = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")).unwrap_or(before);
    let head = outer.trim_ascii_end();
    let is_separated = head.last().is_some_and(|byte| b",;:|=[{".contains(byte)) || outer.ends_with(b"\t");
    let begins = is_separated || outer.is_empty() || has_tables && outer.ends_with(b" ");
    let key = key_before(head);
    if PROSE.contains(&key) {
        return false;
    }
    if begins
        && (has_option(rest, before)
            || word == "git" && (key.is_empty() || head.len() == outer.len()) && has_subcommand(rest))
    {
        return true;
    }
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let ends = match rest {
        [] | [b'\n' | b'\r' | b',' | b';' | b'|' | b'\t' | b']' | b'}', ..] => true,
        [b':', rest @ ..] => outer.ends_with(b":") && !rest.starts_with(b"/"),
        _ => false,
    };
    // In prose a blank follows a comma.
    let is_alone = is_separated && (head.len() == outer.len() || outer.ends_with(b"\t") || !key.is_empty());
    // `type: git` is said of a repository.
    ends && is_alone && (word == "git" && has_tables && key != b"type" || key == word.as_bytes())
}

/// Whether the word before `rest` is in a text that is split into a list: `"git make".split()`.
pub(super) fn is_split(before: &[u8], rest: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+_-./ ".contains(byte);
    let rest = &rest[..rest.len().min(REACH)];
    let length = rest.iter().take_while(|byte| is_part(byte)).count();
    let [quote @ (b'\'' | b'"' | b'`'), after @ ..] = &rest[length..] else { return false };
    let begins = before.iter().rev().find(|byte| !is_part(byte));
    begins == Some(quote) && after.starts_with(b".split(")
}

/// Whether the next cell, entry or word is an option. `before` is the line before the word.
fn has_option(rest: &[u8], before: &[u8]) -> bool {
    matches!(next(rest, before), Some([b'-', second, ..]) if second.is_ascii_alphanumeric() || *second == b'-')
}

fn has_subcommand(rest: &[u8]) -> bool {
    let Some(next) = next(rest, b"") else { return false };
    let word = next.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    is_subcommand("git", &next[..word])
}

/// What follows the separators behind a word, without quotes.
fn next<'t>(rest: &'t [u8], before: &[u8]) -> Option<&'t [u8]> {
    let rest = &rest[..rest.len().min(REACH)];
    let is_quote = |byte: &u8| matches!(byte, b'\'' | b'"');
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if line.iter().all(|byte| is_quote(byte) || byte.is_ascii_whitespace())
        && matches!(before.trim_ascii(), b"-" | b"- \"" | b"- '")
    {
        // The next entry of a list of YAML.
        let entry = rest.get(line.len()..)?.trim_ascii_start().strip_prefix(b"- ")?;
        return Some(entry.trim_ascii_start().strip_prefix(b"\"").unwrap_or(entry));
    }
    let count =
        line.iter().take_while(|byte| is_quote(byte) || **byte == b' ' || SEPARATORS.contains(byte)).count();
    let is_separated = line[..count].iter().any(|byte| !is_quote(byte));
    is_separated.then(|| &line[count..])
}

#[cfg(test)]
mod tests {
    use crate::formats::string_references::{Scanner, Sort};

    fn words(text: &str, sort: Sort) -> Vec<&'static str> {
        let mut scanner = Scanner::new(sort, text.len() as u64).unwrap();
        scanner.push(text.as_bytes());
        scanner.finish().words
    }

    #[test]
    fn programs_in_tables_and_settings_count() {
        for (text, sort, found) in [
            ("name,command\nrev,git --version\n", Sort::Plain, &["git"][..]),
            ("rev;git;--version\nrun,make,-v\n", Sort::Plain, &["make", "git"]),
            ("lib\tcc\t-shared\n", Sort::Plain, &["cc"]),
            ("revision git --version\nhost uname -a\n", Sort::Plain, &["git"]),
            ("revision:git:log\nlib:cc:-v\n", Sort::Text, &["git", "cc"]),
            ("vcs: git\n", Sort::Script, &["git"]),
            ("[tools]\nvcs = git\nmake = make\n", Sort::Script, &["make", "git"]),
            ("cxx: [c++, -O2]\n", Sort::Script, &["c++"]),
            ("native:\n  - c++\n  - -O2\n", Sort::Script, &["c++"]),
            ("{\"toolchain\": {\"driver\": \"cc\"}}\n", Sort::Text, &["cc"]),
            ("{\"source\": {\"type\": \"git\", \"url\": \"x\"}}\n", Sort::Text, &["git"]),
            ("/srv/in IN_CLOSE_WRITE git -C /srv add $#\n", Sort::Plain, &["git"]),
            ("#!/bin/sh\nretry 3 cc -shared -o k.so k.c\n", Sort::Script, &["cc"]),
            ("for t in \"git make cc\".split():\n    run(t)\n", Sort::Python, &["make", "git", "cc"]),
        ] {
            assert_eq!(words(text, sort), found, "{text}");
        }
    }

    #[test]
    fn prose_and_other_values_do_not() {
        for (text, sort) in [
            ("repository:\n  type: git\n  url: git://example.org/x\n", Sort::Script),
            ("\"repository\": {\"type\": \"git\"}\n", Sort::Text),
            ("make,model,year\nfiat,500,1999\n", Sort::Plain),
            ("code,name\ncc,Cocos\nas,Samoa\n", Sort::Plain),
            ("This is why we use git and make for it.\n", Sort::Plain),
            ("git = \"https://example.org/x.git\"\n", Sort::Script),
            ("language: c++\n", Sort::Script),
            ("#!/bin/sh\napt-get install -y cc -q\necho use cc -v\n", Sort::Script),
        ] {
            assert_eq!(words(text, sort), [""; 0], "{text}");
        }
    }
}
