//! Programs in cells of tables and in lists: `rev,git --version`, `make = make`, `cxx: [c++, -O2]`.

use std::ops::Range;

use super::around::is_compiler;
use super::command::REACH;
use super::values::{is_subcommand, key_before};
use super::wrappers::{self, Content, Shell};

/// What separates cells, and entries of lists.
const SEPARATORS: &[u8] = b",;:|\t";
/// Keys of settings whose values are prose.
const PROSE: [&[u8]; 8] =
    [b"comment", b"description", b"help", b"label", b"message", b"summary", b"text", b"title"];
/// Ends of keys whose value `git` is no program: `repo_type: git`, `user: git`.
const NAMES: [&[u8]; 11] = [
    b"keyword",
    b"keywords",
    b"label",
    b"labels",
    b"name",
    b"owner",
    b"protocol",
    b"scheme",
    b"tags",
    b"type",
    b"user",
];

/// Parts of such keys whose value is one all the same: `vcs_type: git`.
const OF_TOOLS: [&[u8]; 8] = [b"backend", b"binary", b"command", b"exe", b"program", b"scm", b"tool", b"vcs"];

/// Whether the text near a name has arguments for a program: `- name: git` and `args: [log]`.
fn has_arguments(text: &[u8], place: &Range<usize>) -> bool {
    let near = &text[place.start.saturating_sub(REACH)..text.len().min(place.end + REACH)];
    let words = near.split(|byte| !byte.is_ascii_alphabetic());
    words.map(<[u8]>::to_ascii_lowercase).any(|word| {
        matches!(
            &word[..],
            b"arg" | b"args" | b"argument" | b"arguments" | b"argv" | b"cmd" | b"command" | b"commands"
        )
    })
}

/// Whether the word at `place` is a program in a cell or a list, by what follows it: an option, a command of git, or
/// for git and for a key of the same name nothing. `line` is the start of its line.
pub(super) fn is_cell(text: &[u8], place: &Range<usize>, line: usize, word: &str, shell: &Shell<'_>) -> bool {
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
    let key = key_before(head);
    if PROSE.contains(&key) {
        return false;
    }
    if (is_separated || outer.is_empty() || has_tables && outer.ends_with(b" ")) && has_option(rest, before) {
        return true;
    }
    let may_begin = is_separated && (key.is_empty() || head.len() == outer.len()) || outer.is_empty();
    if word == "git" && (may_begin || has_tables && follows_launcher(outer)) && has_subcommand(rest) {
        return true;
    }
    if !is_compiler(word) && !matches!(word, "git" | "make") {
        return false;
    }
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let ends = match rest {
        [] | [b'\n' | b'\r' | b',' | b';' | b'|' | b'\t' | b']' | b'}', ..] => true,
        [b':', rest @ ..] => outer.ends_with(b":") && !rest.starts_with(b"/"),
        _ => is_remark(rest),
    };
    // In prose a blank follows a comma.
    let is_alone = is_separated && (head.len() == outer.len() || outer.ends_with(b"\t") || !key.is_empty());
    let is_name = || {
        let list = head.iter().rposition(|byte| *byte == b'[').map(|at| head[..at].trim_ascii_end());
        let key = list.map_or(key, key_before).to_ascii_lowercase();
        NAMES.iter().any(|name| key.ends_with(name))
            && !OF_TOOLS.iter().any(|part| memchr::memmem::find(&key, part).is_some())
            && !(key == b"name" && has_arguments(text, place))
    };
    ends && is_alone && (word == "git" && has_tables && !is_name() || key == word.as_bytes())
}

/// Whether the text before a word begins a value, a cell or a line with what may start a command, as in
/// `command=/app/retry.sh 3 git pull`, not with a sentence.
fn follows_launcher(before: &[u8]) -> bool {
    const WORDS: usize = 8;
    const OF_SENTENCES: [&[u8]; 20] = [
        b"a", b"an", b"and", b"around", b"by", b"for", b"is", b"of", b"or", b"our", b"that", b"the", b"this",
        b"to", b"use", b"uses", b"using", b"via", b"will", b"with",
    ];
    let Some(text) = before.strip_suffix(b" ") else { return false };
    let begins = text.iter().rposition(|byte| b"=\t\"'".contains(byte)).map_or(0, |at| at + 1);
    let begins = memchr::memmem::rfind(text, b": ").map_or(begins, |at| begins.max(at + 2));
    let value = text[begins..].trim_ascii();
    let value = value.strip_prefix(b"- ").unwrap_or(value).trim_ascii_start();
    let words: Vec<&[u8]> = value.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
    // One may be an argument: `every 5 by`.
    let is_prose = words.iter().filter(|word| OF_SENTENCES.contains(word)).count() > 1;
    let is_start = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"/.$*".contains(byte);
    value.first().is_some_and(is_start) && !value.ends_with(b":") && words.len() <= WORDS && !is_prose
}

/// Whether only a remark follows a value: `vcs: git # or hg`.
pub(super) fn is_remark(rest: &[u8]) -> bool {
    let blanks = rest.iter().take(REACH).take_while(|byte| **byte == b' ').count();
    blanks > 0 && matches!(rest[blanks..], [b'#' | b';', ..])
}

/// Whether the quoted word at `place` of a file of values is the type of a repository: `"repository": {"type": "git"`, or
/// that of an installed package's source, as composer writes it.
pub(super) fn is_of_repository(text: &[u8], place: &Range<usize>, shell: &Shell<'_>) -> bool {
    if shell.content == Content::Source {
        return false;
    }
    let before = &text[place.start.saturating_sub(REACH)..place.start - 1];
    if key_before(before.trim_ascii_end()) != b"type" {
        return false;
    }
    let mut depth = 0_usize;
    let opening = before.iter().rposition(|byte| {
        depth += usize::from(*byte == b'}');
        let opens = *byte == b'{';
        let is_own = opens && depth == 0;
        depth = depth.saturating_sub(usize::from(opens));
        is_own
    });
    let Some(opening) = opening else { return false };
    let rest = &text[place.end..text.len().min(place.end + REACH)];
    let rest = rest.split(|byte| *byte == b'}').next().unwrap_or_default();
    match key_before(before[..opening].trim_ascii_end()) {
        b"repository" => true,
        b"source" => memchr::memmem::find(rest, b"\"reference\"").is_some(),
        _ => false,
    }
}

/// Whether the word before `rest` is in a text that is split into a list: `"git make".split()`.
pub(super) fn is_split(before: &[u8], rest: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+_-./ ,;:|".contains(byte);
    let rest = &rest[..rest.len().min(REACH)];
    let length = rest.iter().take_while(|byte| is_part(byte)).count();
    let [quote @ (b'\'' | b'"' | b'`'), after @ ..] = &rest[length..] else { return false };
    let begins = before.iter().rev().find(|byte| !is_part(byte));
    begins == Some(quote) && after.starts_with(b".split(")
}

/// Whether the next cell, entry or word is an option, not a number. `before` is the line before the word.
fn has_option(rest: &[u8], before: &[u8]) -> bool {
    matches!(next(rest, before), Some([b'-', second, ..]) if second.is_ascii_alphabetic() || *second == b'-')
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
            ("for t in \"git,ld\".split(\",\"):\n    run(t)\n", Sort::Python, &["git", "ld"]),
            ("lib,gcc,-shared,-o,k.so\n", Sort::Plain, &["gcc"]),
            ("lib,c++,-shared\n", Sort::Plain, &["c++"]),
            ("lib,/usr/bin/cc,-shared\n", Sort::Plain, &["cc"]),
            ("lib, cc, -shared\nx|ld|-r\n", Sort::Plain, &["cc", "ld"]),
            ("build: [cc, -shared]\n", Sort::Script, &["cc"]),
            ("dump,gdb,-p,1\ntrace,strace,-p,1\n", Sort::Plain, &["gdb", "strace"]),
            ("lib,cmake,--build,.\nlib,ninja,-C,b\n", Sort::Plain, &["ninja", "cmake"]),
            ("compiler: c++\n", Sort::Script, &["c++"]),
            ("{\"x\": 1}\ncompiler: gcc\n", Sort::Script, &["gcc"]),
            ("compiler: c++ # x\n", Sort::Script, &["c++"]),
            ("vcs: git # or hg\n", Sort::Script, &["git"]),
            ("vcs = git ; the tool\n", Sort::Script, &["git"]),
            ("env[VCS] = git\n", Sort::Script, &["git"]),
            ("command=/app/wait-for db:5432 git pull\n", Sort::Script, &["git"]),
            ("ExecStart=/app/retry.sh 3 git pull\n", Sort::Script, &["git"]),
            ("x: 1\njobs:\n  - cmd: /app/retry.sh 3 git pull\n", Sort::Script, &["git"]),
            ("x: 1\nsync: |\n  retry git pull\n", Sort::Script, &["git"]),
            ("cmds = [\"retry git pull\"]\n", Sort::Script, &["git"]),
            ("sync: retry git pull\n", Sort::Script, &["git"]),
            ("/srv/in IN_CLOSE_WRITE git pull\n", Sort::Plain, &["git"]),
            ("vcs_type: git\n", Sort::Script, &["git"]),
            ("tools:\n  - name: git\n    args: [log, -1]\n", Sort::Script, &["git"]),
            ("BACKEND = {\"repository\": \"/srv\", \"type\": \"git\"}\n", Sort::Python, &["git"]),
            ("{\"repository\": \"/srv\", \"type\": \"git\"}\n", Sort::Text, &["git"]),
        ] {
            assert_eq!(words(text, sort), found, "{text}");
        }
    }

    #[test]
    fn prose_and_other_values_do_not() {
        for (text, sort) in [
            ("repository:\n  type: git\n  url: git://example.org/x\n", Sort::Script),
            ("\"repository\": {\"type\": \"git\"}\n", Sort::Text),
            ("\"repository\": {\"x\": {\"y\": 1}, \"type\": \"git\"}\n", Sort::Text),
            ("\"source\": {\"type\": \"git\", \"url\": \"x\", \"reference\": \"1\"}\n", Sort::Text),
            ("Islands,cc,-12.1642,96.871\nford,make,-1\n", Sort::Plain),
            ("hint: Run git push to deploy\n", Sort::Script),
            ("repo_type: git\nuser: git\nkeywords: [git, ci]\n", Sort::Script),
            ("Please use git commit for it.\n", Sort::Plain),
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
