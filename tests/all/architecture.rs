//! Reads the sources of the program and fails where they break the module rule of `ARCHITECTURE.md`.
//!
//! The reader knows no Rust beyond comments, literals, paths and inline modules. That is enough,
//! because a module can reach another one only by a path that starts at `crate` or climbs to it by `super`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// All modules, in the order of the pipeline. A module may use those before it.
const MODULES: [&str; 21] = [
    "base", "settings", "jobs", "cache", "formats", "source", "layer", "rootfs", "cuda", "findings",
    "rewrite", "analysis", "slim", "contents", "compare", "deploy", "report", "fuzzing", "gpu", "cli", "gui",
];

/// What the leaf module `gpu` may use.
const GPU_USES: [&str; 2] = ["base", "jobs"];

/// Crates that belong to some modules only, by the name that a path to them begins with.
const CRATE_HOMES: [(&str, &[&str]); 21] = [
    ("anstyle", &["report"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("toml_edit", &["settings"]),
    ("indicatif", &["cli"]),
    ("bollard", &["source"]),
    ("base64", &["source"]),
    ("futures_util", &["source"]),
    ("http_auth", &["source"]),
    ("oci_client", &["source"]),
    ("reqwest", &["source"]),
    ("rustls", &["source"]),
    ("tokio", &["source"]),
    ("eframe", &["gui"]),
    ("egui", &["gui"]),
    ("egui_kittest", &["gui"]),
    ("rfd", &["gui", "jobs"]),
    ("saphyr_parser", &["deploy"]),
    ("terminal_size", &["cli"]),
    ("poll_promise", &["gui", "jobs"]),
];

/// What the first three lines of a module's `mod.rs` begin with.
const DOC_LINES: [&str; 3] = ["//! In: ", "//! Out: ", "//! Must not know: "];

const MAIN_LINES: usize = 40;

#[test]
fn the_sources_keep_the_module_rule() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("src"), "src", &mut files);
    assert!(files.len() > 10, "only {} source files were found under {}", files.len(), root.display());
    let faults = check(&files);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_module_is_in_the_architecture_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    for module in MODULES {
        assert!(page.contains(&format!("`{module}`")), "ARCHITECTURE.md does not name the module `{module}`");
    }
}

/// Adds all `.rs` files below `folder`, with their paths as seen from the project's root.
fn collect(folder: &Path, shown: &str, files: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let shown = format!("{shown}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &shown, files);
        } else if entry.path().extension().is_some_and(|extension| extension == "rs") {
            files.push((shown, fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

/// All breaches in a program whose source files are given as (path, text), one line each.
fn check(files: &[(String, String)]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut modules = BTreeSet::new();
    for (path, text) in files {
        let inner = path.strip_prefix("src/").unwrap();
        let code = without_comments_and_literals(text);
        let tokens = tokens(&code);
        let module = inner.split_once('/').map(|(module, _)| module);
        match module {
            Some(module) => {
                if !MODULES.contains(&module) {
                    faults.push(format!("{path}: `{module}` is no module of ARCHITECTURE.md"));
                }
                modules.insert(module);
                if inner == format!("{module}/mod.rs") {
                    check_doc_lines(path, text, &mut faults);
                }
                check_uses(path, module, &tokens, &mut faults);
            }
            None if inner == "lib.rs" => {}
            None if inner == "main.rs" => {
                let lines = text.lines().count();
                if lines > MAIN_LINES {
                    faults.push(format!("{path}: {lines} lines, more than {MAIN_LINES}"));
                }
            }
            None => faults.push(format!("{path}: only lib.rs and main.rs lie outside the modules")),
        }
        check_tokens(path, module.unwrap_or(""), &tokens, &mut faults);
    }
    for module in modules {
        let path = format!("src/{module}/mod.rs");
        if !files.iter().any(|(file, _)| *file == path) {
            faults.push(format!("{path}: the module has no such file"));
        }
    }
    faults
}

fn check_doc_lines(path: &str, text: &str, faults: &mut Vec<String>) {
    let mut lines = text.lines();
    for expected in DOC_LINES {
        if !lines.next().unwrap_or("").starts_with(expected) {
            faults.push(format!("{path}: does not open with the three lines `{}…`", DOC_LINES.join("…`, `")));
            return;
        }
    }
}

fn check_uses(path: &str, module: &str, tokens: &[Token], faults: &mut Vec<String>) {
    for (line, used) in uses(path, tokens) {
        let fault = if used == "*" {
            "takes in the crate's root as a whole, which hides what it uses".to_owned()
        } else if used == module {
            continue;
        } else if !MODULES.contains(&used) {
            format!("`crate::{used}` is no module of ARCHITECTURE.md")
        } else if module == "gpu" && !GPU_USES.contains(&used) {
            format!("`gpu` uses `{used}`, but only `base` and `jobs` are open to it")
        } else if module == "gui" && used == "cli" {
            "`gui` uses `cli`".to_owned()
        } else if place(used) > place(module) {
            format!("`{module}` uses `{used}`, which comes after it")
        } else {
            continue;
        };
        faults.push(format!("{path}:{line}: {fault}"));
    }
}

/// The position in the pipeline; what is unknown stands first, it is reported elsewhere.
fn place(module: &str) -> usize {
    MODULES.iter().position(|known| *known == module).unwrap_or(0)
}

/// Breaches that single words show: `unsafe`, crates in the wrong module, ways around the module tree.
fn check_tokens(path: &str, module: &str, tokens: &[Token], faults: &mut Vec<String>) {
    for (index, token) in tokens.iter().enumerate() {
        let next = |distance: usize| tokens.get(index + distance).map_or("", |token| token.text);
        let line = token.line;
        if token.text == "unsafe" && module != "gpu" {
            faults.push(format!("{path}:{line}: `unsafe` outside gpu/"));
        }
        if let Some((name, homes)) = CRATE_HOMES.iter().find(|(name, _)| *name == token.text)
            && !homes.contains(&module)
        {
            faults
                .push(format!("{path}:{line}: the crate `{name}` belongs in {}/ only", homes.join("/ and ")));
        }
        if token.text == "#" && next(1) == "[" && next(2) == "path" && next(3) == "=" {
            faults.push(format!("{path}:{line}: `#[path]` goes around the module tree"));
        }
        if token.text == "include" && next(1) == "!" {
            faults.push(format!("{path}:{line}: `include!` goes around the module tree"));
        }
    }
}

/// A word, a number, `::`, or one other character that is not white space.
struct Token<'a> {
    text: &'a str,
    line: usize,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let bytes = code.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let start = at;
        if is_word(bytes[at]) {
            at += bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
        } else if bytes[at..].starts_with(b"::") {
            at += 2;
        } else {
            at += 1;
        }
        if &code[start..at] == "r" && bytes.get(at) == Some(&b'#') {
            // A raw identifier `r#name` is the word `name`.
            at += 1;
            continue;
        }
        match bytes[start] {
            b'\n' => line += 1,
            byte if byte.is_ascii_whitespace() => {}
            _ => tokens.push(Token { text: &code[start..at], line }),
        }
    }
    tokens
}

/// The text with every comment and the inside of every literal turned into spaces; lines stay lines.
fn without_comments_and_literals(text: &str) -> String {
    let mut rest = text;
    let mut code = String::with_capacity(text.len());
    let blank = |code: &mut String, dropped: &str| {
        code.extend(dropped.chars().map(|symbol| if symbol == '\n' { '\n' } else { ' ' }));
    };
    while !rest.is_empty() {
        let after_word = code.as_bytes().last().is_some_and(|byte| is_word(*byte));
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment_length(rest)
        } else if let Some(length) = raw_string_length(rest).filter(|_| !after_word) {
            length
        } else if rest.starts_with('"') {
            quoted_length(rest, '"')
        } else if let Some(length) = char_length(rest) {
            length
        } else {
            let length = rest.chars().next().map_or(0, char::len_utf8);
            code.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        };
        blank(&mut code, &rest[..length]);
        rest = &rest[length..];
    }
    code
}

fn block_comment_length(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The length of `r"…"`, `r#"…"#`, `br"…"` or `cr"…"` at the start of the text.
fn raw_string_length(text: &str) -> Option<usize> {
    let after_r =
        text.strip_prefix('r').or_else(|| text.strip_prefix("br")).or_else(|| text.strip_prefix("cr"))?;
    let inner = after_r.trim_start_matches('#');
    let hashes = after_r.len() - inner.len();
    let body = inner.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let before = text.len() - body.len();
    Some(body.find(&end).map_or(text.len(), |at| before + at + end.len()))
}

/// The length of a literal that begins and ends with `quote`, in which a backslash escapes.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut symbols = text.char_indices().skip(1);
    while let Some((at, symbol)) = symbols.next() {
        if symbol == '\\' {
            symbols.next();
        } else if symbol == quote {
            return at + 1;
        }
    }
    text.len()
}

/// The length of a character literal at the start of the text; a lifetime is none.
fn char_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let mut symbols = inner.chars();
    let first = symbols.next()?;
    if first == '\\' || symbols.next() == Some('\'') { Some(quoted_length(text, '\'')) } else { None }
}

/// The names that a file takes from the crate's root, each with its line. The root itself is `*`.
fn uses<'a>(path: &str, tokens: &[Token<'a>]) -> Vec<(usize, &'a str)> {
    let file = path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    let file_depth = file.split('/').count();
    // Brace depths at which the inline modules around the present token were opened.
    let mut modules: Vec<usize> = Vec::new();
    let mut braces = 0;
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let text = |index: usize| tokens.get(index).map_or("", |token: &Token<'a>| token.text);
        match text(at) {
            "{" => {
                braces += 1;
                if at >= 2 && text(at - 2) == "mod" {
                    modules.push(braces);
                }
            }
            "}" => {
                if modules.last() == Some(&braces) {
                    modules.pop();
                }
                braces = braces.saturating_sub(1);
            }
            "crate" | "super" | "self"
                if text(at + 1) == "::" || text(at + 1) == "as" && at > 0 && text(at - 1) == "use" =>
            {
                at = follow(tokens, at, file_depth + modules.len(), &mut found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Follows one path, or one tree of a `use`, from a module `depth` levels below the root up to where
/// it leaves the root, and notes the name it takes there. Gives the index of the next unread token.
fn follow<'a>(
    tokens: &[Token<'a>],
    mut at: usize,
    mut depth: usize,
    found: &mut Vec<(usize, &'a str)>,
) -> usize {
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1).map_or("", |token| token.text);
        match token.text {
            "crate" => depth = 0,
            "super" => depth = depth.saturating_sub(1),
            "self" => {}
            "{" => {
                at += 1;
                while let Some(token) = tokens.get(at) {
                    match token.text {
                        "}" => return at + 1,
                        "," => {
                            at += 1;
                            continue;
                        }
                        _ => at = follow(tokens, at, depth, found),
                    }
                    // What is left of this branch lies below the root.
                    let mut inner = 0;
                    while let Some(token) = tokens.get(at) {
                        match token.text {
                            "{" => inner += 1,
                            "}" if inner > 0 => inner -= 1,
                            "}" | "," if inner == 0 => break,
                            _ => {}
                        }
                        at += 1;
                    }
                }
                return at;
            }
            name => {
                if depth == 0 {
                    found.push((token.line, if name.bytes().all(is_word) { name } else { "*" }));
                }
                return at + 1;
            }
        }
        if next != "::" {
            if next == "as" && depth == 0 {
                found.push((token.line, "*"));
            }
            return at + 1;
        }
        at += 2;
    }
    at
}

/// A program with a sound `base` and `layer`, and the given files beside or instead of theirs.
fn program(changes: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut doc = String::new();
    for line in DOC_LINES {
        writeln!(doc, "{line}something").unwrap();
    }
    let mut files = vec![
        ("src/lib.rs".to_owned(), "pub mod base;\npub mod layer;\n".to_owned()),
        ("src/main.rs".to_owned(), "fn main() {\n    cutaway::cli::run();\n}\n".to_owned()),
    ];
    for module in MODULES {
        files.push((format!("src/{module}/mod.rs"), doc.clone()));
    }
    for (path, text) in changes {
        files.retain(|(file, _)| file != path);
        files.push(((*path).to_owned(), (*text).to_owned()));
    }
    files
}

/// The faults of a program that has one file more than a sound one.
fn faults_of(path: &str, text: &str) -> Vec<String> {
    check(&program(&[(path, text)]))
}

#[test]
fn sound_sources_pass() {
    assert_eq!(check(&program(&[])), Vec::<String>::new());
    for (path, text) in [
        (
            "src/layer/walk.rs",
            "use crate::base::Digest;\nuse crate::{formats::tar, source};\nuse crate::layer::index;\n",
        ),
        (
            "src/layer/walk.rs",
            "use super::index;\nuse super::{index, sniff::{self, Kind}};\nuse super::super::base::Digest;",
        ),
        ("src/layer/walk.rs", "mod tests {\n    use super::*;\n    use super::super::*;\n}\nuse super::*;"),
        ("src/layer/deep/er.rs", "use super::super::*; use super::super::super::base::{self, Digest};"),
        ("src/base/text.rs", "//! See [`crate::cli`].\n/* crate::gui /* crate::cli */ crate::gui */\n"),
        (
            "src/base/text.rs",
            "const A: &str = \"use crate::gui; \\\" unsafe\";\nconst B: &str = r#\"crate::cli \"unsafe\" \"#;",
        ),
        (
            "src/base/text.rs",
            "fn f<'a>(x: &'a str) -> char { if x == \"'\" { '\"' } else { '\\'' } } // crate::gui",
        ),
        ("src/base/text.rs", "pub(crate) fn f() {}\npub(in crate::base) fn g() {}\npub(super) fn h() {}"),
        ("src/base/text.rs", "#![deny(unsafe_code)]\nimpl T { fn f(self: Box<Self>) { self.crate_name; } }"),
        (
            "src/gui/app.rs",
            "use crate::analysis::Analysis;\nuse egui::Color32;\nuse poll_promise::Promise; use crate::gpu;",
        ),
        ("src/cli/report.rs", "use clap::Parser;\nuse crate::{analysis, report::{self, json}, jobs};"),
        ("src/gpu/driver.rs", "use crate::base::Warning; use crate::jobs; fn f() { unsafe { g() } }"),
        ("src/jobs/dialog.rs", "use poll_promise::Promise;"),
        ("src/main.rs", "use cutaway::{cli, gui};\nfn main() {}"),
    ] {
        assert_eq!(faults_of(path, text), Vec::<String>::new(), "{path}:\n{text}");
    }
}

#[test]
fn breaches_are_found() {
    for (path, text, expected) in [
        ("src/source/file.rs", "\nuse crate::layer::Index;", "src/source/file.rs:2: `source` uses `layer`"),
        ("src/base/a.rs", "fn f() -> crate::jobs::Pool { g() }", "`base` uses `jobs`"),
        (
            "src/base/a.rs",
            "use crate::{\n    base::x,\n    report,\n};",
            "src/base/a.rs:3: `base` uses `report`",
        ),
        ("src/base/a.rs", "use crate::{base::{x, y::{z, w}}, report::{self}};", "`base` uses `report`"),
        ("src/base/a.rs", "use {std::fmt, crate::{cli}};", "`base` uses `cli`"),
        ("src/base/a.rs", "use crate :: /* so */ cli;", "`base` uses `cli`"),
        ("src/base/a.rs", "use super::super::layer;", "`base` uses `layer`"),
        ("src/base/a.rs", "use super::{super::layer, x};", "`base` uses `layer`"),
        ("src/base/a.rs", "use super::super::{base, rootfs::Node};", "`base` uses `rootfs`"),
        (
            "src/base/mod.rs",
            "//! In: a\n//! Out: b\n//! Must not know: c\nuse super::gui;",
            "`base` uses `gui`",
        ),
        ("src/base/a.rs", "mod tests { use super::super::super::layer; }", "`base` uses `layer`"),
        ("src/base/a.rs", "mod tests { fn f() {} }\nuse super::super::layer;", "`base` uses `layer`"),
        ("src/base/a.rs", "macro_rules! m { () => { $crate::layer::f() } }", "`base` uses `layer`"),
        ("src/base/a.rs", "use crate::r#layer;", "`base` uses `layer`"),
        (
            "src/base/a.rs",
            "const Q: char = '\"'; use crate::layer; const R: char = '\"';",
            "`base` uses `layer`",
        ),
        ("src/base/a.rs", "const Q: &str = r\"\\\"; use crate::layer; // \"", "`base` uses `layer`"),
        ("src/base/a.rs", "use crate::*;", "as a whole"),
        ("src/base/a.rs", "use super::super::*;", "as a whole"),
        ("src/base/a.rs", "use crate as root;", "as a whole"),
        ("src/base/a.rs", "use crate::{self as root};", "as a whole"),
        ("src/base/a.rs", "use crate::Digest;", "`crate::Digest` is no module"),
        ("src/util/mod.rs", "//! In: a\n//! Out: b\n//! Must not know: c", "`util` is no module"),
        ("src/util.rs", "", "only lib.rs and main.rs lie outside"),
        ("src/gui/a.rs", "use crate::cli::Arguments;", "`gui` uses `cli`"),
        ("src/cli/a.rs", "use crate::gui::App;", "`cli` uses `gui`"),
        ("src/gpu/a.rs", "use crate::analysis::Analysis;", "only `base` and `jobs` are open"),
        ("src/analysis/a.rs", "use crate::gpu;", "`analysis` uses `gpu`"),
        ("src/layer/mod.rs", "//! In: a\n//! Out: b\n\npub mod index;", "does not open with the three lines"),
        (
            "src/layer/mod.rs",
            "//! In: a. Out: b.\n//! Must not know: c",
            "does not open with the three lines",
        ),
        ("src/layer/mod.rs", "", "does not open with the three lines"),
        ("src/layer/a.rs", "fn f() { unsafe { g() } }", "src/layer/a.rs:1: `unsafe` outside gpu/"),
        ("src/main.rs", "#[unsafe(no_mangle)] fn f() {}", "`unsafe` outside gpu/"),
        ("src/report/a.rs", "use egui::Color32;", "the crate `egui` belongs in gui/ only"),
        ("src/report/a.rs", "fn f() -> eframe::Result { g() }", "the crate `eframe` belongs in gui/ only"),
        (
            "src/analysis/a.rs",
            "#[derive(clap::ValueEnum)] enum E {}",
            "the crate `clap` belongs in cli/ only",
        ),
        ("src/jobs/a.rs", "use indicatif::ProgressBar;", "the crate `indicatif` belongs in cli/ only"),
        ("src/cli/a.rs", "use rfd::FileDialog;", "the crate `rfd` belongs in gui/ and jobs/ only"),
        ("src/base/a.rs", "#[path = \"../gui/app.rs\"] mod app;", "`#[path]` goes around"),
        ("src/base/a.rs", "include!(\"../gui/app.rs\");", "`include!` goes around"),
    ] {
        let faults = faults_of(path, text);
        assert_eq!(faults.len(), 1, "{path}:\n{text}\ngave {faults:?}");
        assert!(faults[0].contains(expected), "{path}:\n{text}\ngave {faults:?}, not {expected}");
    }
}

#[test]
fn a_long_main_and_a_room_without_mod_are_found() {
    let long = "// a line\n".repeat(MAIN_LINES + 1);
    assert_eq!(faults_of("src/main.rs", &long), ["src/main.rs: 41 lines, more than 40"]);
    let mut files = program(&[("src/layer/walk.rs", "")]);
    files.retain(|(path, _)| path != "src/layer/mod.rs");
    assert_eq!(check(&files), ["src/layer/mod.rs: the module has no such file"]);
}
