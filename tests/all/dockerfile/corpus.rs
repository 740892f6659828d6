//! The files of `fixtures/dockerfiles`. Comments in them say what is expected: `# expect:` the keywords as
//! they are written, `# stages:` the stages as `name=base`, `# heredocs:` their names, `# plain:` how many of
//! the commands are plain.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use cutaway::formats::dockerfile::{
    Dockerfile, Form, PieceKind, ShellCommand, commands, fuzz_dockerfile, parse,
};

use super::{read, said};

/// All files, by name.
pub(super) fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dockerfiles");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// What a comment of the file says.
fn note<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix("# ")?.strip_prefix(name)?.strip_prefix(':'))
        .map(str::trim)
}

#[test]
fn every_file_says_what_it_is_expected_to() {
    let files = files();
    assert!(files.len() >= 60, "only {} files", files.len());
    let mut faults = Vec::new();
    for (name, text) in &files {
        let file = parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let keywords: Vec<_> =
            file.instructions.iter().map(|instruction| file.slice(&instruction.keyword_span)).collect();
        let expected = note(text, "expect").unwrap_or_else(|| panic!("{name} expects nothing"));
        assert!(keywords.join(" ").eq_ignore_ascii_case(expected), "{name}: {keywords:?}");
        for (keyword, instruction) in keywords.iter().zip(&file.instructions) {
            assert!(keyword.eq_ignore_ascii_case(instruction.keyword.as_str()), "{name}");
        }
        if let Some(expected) = note(text, "stages") {
            let stages: Vec<_> = file
                .stages()
                .into_iter()
                .map(|stage| stage.name.map_or(stage.base.clone(), |name| format!("{name}={}", stage.base)))
                .collect();
            assert_eq!(stages.join(" "), expected, "{name}");
        }
        if let Some(expected) = note(text, "heredocs") {
            let heredocs: Vec<_> =
                file.instructions.iter().flat_map(|instruction| &instruction.heredocs).collect();
            let names: Vec<_> = heredocs.iter().map(|heredoc| heredoc.name.as_str()).collect();
            assert_eq!(names.join(" "), expected, "{name}");
        }
        if let Some(expected) = note(text, "plain") {
            let list: Vec<_> =
                (0..file.instructions.len()).flat_map(|number| commands(&file, number)).collect();
            let plain = list.iter().filter(|command| command.plain).count();
            let found = format!("{plain} of {}", list.len());
            if found != expected {
                faults.push(format!("{name}: {found} commands are plain, not {expected}: {list:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn pieces_are_the_file_and_spans_are_where_words_are() {
    for (name, text) in files() {
        let file = read(&text);
        let pieces: String = file.pieces.iter().map(|piece| file.slice(&piece.span)).collect();
        assert_eq!(pieces, text, "{name}");
        assert_eq!(read(&pieces).instructions, file.instructions, "{name}");
        for instruction in &file.instructions {
            assert_eq!(file.position(instruction.span.start).0, instruction.line);
            let lines = file.slice(&instruction.span).lines().count();
            assert_eq!(lines, (instruction.last_line - instruction.line + 1) as usize, "{name}");
            for word in &instruction.words {
                let written = file.slice(&word.span);
                if !written.contains(['\\', '`', '"', '\'', '\n']) {
                    assert_eq!(written, word.text, "{name}");
                }
                assert!(is_in(&word.text, written), "{name}: {:?} in {written:?}", word.text);
                let quoted = instruction.form == Form::Exec && written.starts_with('"');
                assert!(!quoted || written.ends_with('"'), "{name}: {written}");
            }
            for heredoc in &instruction.heredocs {
                let after = &file.text()[heredoc.body.end..];
                assert_eq!(
                    after.lines().next().map(|line| line.trim_start_matches('\t')),
                    Some(&*heredoc.name)
                );
            }
        }
        for number in 0..file.instructions.len() {
            for command in commands(&file, number) {
                for word in &command.words {
                    let written = file.slice(&word.span);
                    assert!(is_in(&word.text, written), "{name}: {:?} in {written:?}", word.text);
                }
                let first = command.words.first().map_or("", |word| file.slice(&word.span));
                assert!(file.slice(&command.span).contains(first), "{name}");
                assert!(command.before.end == command.span.start, "{name}");
            }
        }
        fuzz_dockerfile(text.as_bytes());
    }
}

/// Whether the letters and digits of a word stand in what is written, in order.
fn is_in(word: &str, written: &str) -> bool {
    let mut left = written.chars();
    word.chars().filter(char::is_ascii_alphanumeric).all(|letter| left.any(|other| other == letter))
}

/// What a file says when its text is changed in a way that must not matter.
fn same(name: &str, file: &Dockerfile, text: &str) {
    let other = parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
    assert_eq!(said(&other), said(file), "{name}\n{text}");
    let stages = |file: &Dockerfile| -> Vec<_> {
        file.stages().into_iter().map(|stage| (stage.name, stage.base, stage.parent)).collect()
    };
    assert_eq!(stages(&other), stages(file), "{name}");
    fuzz_dockerfile(text.as_bytes());
}

#[test]
fn line_ends_marks_and_comments_change_nothing() {
    for (name, text) in files() {
        let file = read(&text);
        let ends = text.replace('\n', "\r\n");
        same(&name, &file, &ends);
        same(&name, &file, &format!("\u{feff}{text}"));
        same(&name, &file, &format!("\u{feff}{ends}"));
        same(&name, &file, text.trim_end_matches('\n'));
        same(&name, &file, &format!("{text}\n# more\n\n"));
        let mut spread = String::new();
        for piece in &file.pieces {
            spread.push_str(file.slice(&piece.span));
            if piece.kind != PieceKind::Directive && spread.ends_with('\n') {
                spread.push_str("\t# between\n\n");
            }
        }
        same(&name, &file, &spread);
    }
}

#[test]
fn instructions_written_anew_say_the_same() {
    for (name, text) in files() {
        let file = read(&text);
        let mut anew = String::new();
        for directive in &file.directives {
            writeln!(anew, "#{}={}", directive.name, directive.value).unwrap();
        }
        // Arguments on a line of their own, and comments inside of the instruction.
        for instruction in &file.instructions {
            let keyword = instruction.keyword.as_str().to_ascii_lowercase();
            let head = &file.text()[instruction.keyword_span.end..instruction.arguments.start];
            let rest = &file.text()[instruction.arguments.start..instruction.span.end];
            let escape = file.escape;
            let blank = |c: char| c.is_whitespace() || c == escape;
            let between = format!(" {escape}\n  # inside\n\n {escape}\n ");
            let end = if rest.ends_with('\n') { "" } else { "\n" };
            write!(anew, "{keyword}{between}{}{between}{rest}{end}", head.trim_matches(blank)).unwrap();
        }
        if !file.instructions.iter().any(|instruction| instruction.arguments.is_empty()) {
            same(&name, &file, &anew);
        }
    }
}

#[test]
fn plain_commands_can_be_edited() {
    for (name, text) in files() {
        edited(&name, &text);
    }
}

/// Puts a word at the end of each plain command, and holds that this is all that changes.
pub(super) fn edited(name: &str, text: &str) {
    let file = read(text);
    for number in 0..file.instructions.len() {
        let list = commands(&file, number);
        for (place, command) in list.iter().enumerate().filter(|(_, command)| command.plain) {
            let mut text = text.to_owned();
            text.insert_str(command.span.end, " zz9");
            let words = |list: &[ShellCommand]| -> Vec<Vec<String>> {
                list.iter().map(|one| one.words.iter().map(|word| word.text.clone()).collect()).collect()
            };
            let mut expected = words(&list);
            expected[place].push("zz9".to_owned());
            let found = parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
            assert_eq!(words(&commands(&found, number)), expected, "{name}\n{text}");
        }
    }
}
