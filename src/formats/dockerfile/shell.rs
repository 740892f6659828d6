//! Commands started by a `RUN`: the commands of its shell text, with the spans of their words.

mod grammar;
mod lex;
mod quote;

use super::instruction::opening;
use super::joined::Joined;
use super::value::{Dockerfile, Form, Instruction, Keyword, ShellKind, Span, Word};

/// Operator between a command and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joiner {
    /// None: it is the first.
    First,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `;`, `&` or the end of a line in a heredoc.
    Sequence,
    /// `|`.
    Pipe,
}

/// A command of a shell text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// Its words without redirections; quotes and escapes removed, variables as written. Assignments before the command
    /// (`DEBIAN_FRONTEND=noninteractive apt-get`) are words too.
    pub words: Vec<Word>,
    /// From its first word to its last, redirections included.
    pub span: Span,
    /// Operator between it and the command before it.
    pub joiner: Joiner,
    /// From the end of the previous command to its first word: operator, white space, continuation.
    pub before: Span,
    /// Whether it is top-level (not in a subshell, loop, condition, function or substitution) and every word was
    /// parsed. Only such commands may be edited.
    pub plain: bool,
    /// Files to which its output is redirected.
    pub writes: Vec<String>,
    /// Files that are its input, and texts after `<<<`.
    pub reads: Vec<String>,
}

/// Whether a word is an assignment, `NAME=value`.
pub fn is_assignment(word: &[u8]) -> bool {
    let Some(equals) = word.iter().position(|byte| *byte == b'=') else { return false };
    let name = &word[..equals];
    name.first().is_some_and(|byte| !byte.is_ascii_digit())
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Whether a shell has this command itself, in any of the usual shells.
pub fn is_builtin(name: &[u8]) -> bool {
    const BUILTINS: [&[u8]; 68] = [
        b".",
        b":",
        b"[",
        b"[[",
        b"alias",
        b"autoload",
        b"bg",
        b"bind",
        b"break",
        b"builtin",
        b"caller",
        b"cd",
        b"command",
        b"compgen",
        b"complete",
        b"compopt",
        b"continue",
        b"coproc",
        b"declare",
        b"dirs",
        b"disown",
        b"echo",
        b"enable",
        b"eval",
        b"exec",
        b"exit",
        b"export",
        b"false",
        b"fc",
        b"fg",
        b"getopts",
        b"hash",
        b"help",
        b"history",
        b"jobs",
        b"kill",
        b"let",
        b"local",
        b"logout",
        b"mapfile",
        b"popd",
        b"printf",
        b"pushd",
        b"pwd",
        b"read",
        b"readarray",
        b"readonly",
        b"return",
        b"set",
        b"setopt",
        b"shift",
        b"shopt",
        b"source",
        b"suspend",
        b"test",
        b"time",
        b"times",
        b"trap",
        b"true",
        b"type",
        b"typeset",
        b"ulimit",
        b"umask",
        b"unalias",
        b"unset",
        b"unsetopt",
        b"wait",
        b"zmodload",
    ];
    BUILTINS.contains(&name)
}

/// The commands of a script outside a Dockerfile, as far as it can be parsed.
pub fn script_commands(script: &str) -> Vec<ShellCommand> {
    grammar::read(&Joined::plain(script, &(0..script.len())), false).commands
}

/// The commands of an instruction. For a `RUN` in shell form: those of its text and of the heredoc read by a shell. In
/// exec form: the one command, or those of the script of `sh -c` instead. None for other instructions, for a heredoc
/// with `#!` and another interpreter, and if `SHELL` is not a POSIX shell. Commands in `$(...)` are included, sorted by
/// position: their spans are inside that of the outer command.
///
/// No command is plain if part of the text was not parsed, in exec form (replacements would have to be JSON), or in a
/// heredoc read by another command (`bash <<EOF`). A text has at most 20,000 commands; a longer one is truncated and
/// counts as not parsed.
pub fn commands(file: &Dockerfile, instruction: usize) -> Vec<ShellCommand> {
    let Some(run) = file.instructions.get(instruction).filter(|run| run.keyword == Keyword::Run) else {
        return Vec::new();
    };
    if run.form == Form::Exec {
        return exec(file, run);
    }
    let kind = file.shells.get(instruction).copied().unwrap_or(ShellKind::Unknown);
    if kind == ShellKind::Foreign {
        return Vec::new();
    }
    let (joined, _) = Joined::lines(&file.text, run.arguments.clone(), file.escape);
    let (mut commands, understood) = match run.heredocs.as_slice() {
        [heredoc] if opening(joined.text()).is_some() => {
            if !reads_shell(file.slice(&heredoc.body)) {
                return Vec::new();
            }
            let body = Joined::plain(&file.text, &heredoc.body);
            let read = grammar::read(&body, heredoc.strips_tabs);
            (read.commands, read.heredocs.is_empty())
        }
        heredocs => {
            let read = grammar::read(&joined, false);
            // Both parsers must find the same heredocs.
            let same = read.heredocs.iter().eq(heredocs.iter().map(|heredoc| &heredoc.name));
            let mut commands = read.commands;
            if let [heredoc] = heredocs
                && commands.iter().any(reads_input)
            {
                let body = Joined::plain(&file.text, &heredoc.body);
                let read = grammar::read(&body, heredoc.strips_tabs).commands;
                commands.extend(read.into_iter().map(|command| ShellCommand { plain: false, ..command }));
            }
            (commands, same)
        }
    };
    for command in &mut commands {
        command.plain &= understood && kind == ShellKind::Posix;
    }
    commands
}

/// Whether a command is a shell that reads its commands from standard input: `bash -e <<EOF`.
fn reads_input(command: &ShellCommand) -> bool {
    let mut words = command.words.iter();
    words.next().is_some_and(|word| is_shell(&word.text)) && words.all(|word| word.text.starts_with('-'))
}

/// Whether a shell runs the lines of a heredoc: BuildKit runs them with another interpreter if they begin with `#!`.
fn reads_shell(body: &str) -> bool {
    let Some(line) = body.strip_prefix("#!") else { return true };
    let mut words = line.lines().next().unwrap_or_default().split_whitespace();
    let program = words.next().unwrap_or_default();
    if program.rsplit('/').next() == Some("env") {
        return words.find(|word| !word.starts_with('-')).is_some_and(is_shell);
    }
    is_shell(program)
}

/// The command of the exec form.
fn exec(file: &Dockerfile, run: &Instruction) -> Vec<ShellCommand> {
    if let Some(script) = script(&run.words) {
        let decoded = decoded(file, &script.span);
        if decoded.text() == script.text {
            let mut commands = grammar::read(&decoded, false).commands;
            for command in &mut commands {
                command.plain = false;
            }
            return commands;
        }
    }
    let (Some(first), Some(last)) = (run.words.first(), run.words.last()) else { return Vec::new() };
    vec![ShellCommand {
        words: run.words.clone(),
        span: first.span.start..last.span.end,
        joiner: Joiner::First,
        before: first.span.start..first.span.start,
        plain: false,
        writes: Vec::new(),
        reads: Vec::new(),
    }]
}

/// The script of `sh -c`.
fn script(words: &[Word]) -> Option<&Word> {
    let (program, rest) = words.split_first()?;
    let mut rest = rest.iter();
    if !is_shell(&program.text) {
        return None;
    }
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if text == "-o" || text == "+o" {
            rest.next()?;
        } else if text.starts_with('-') && !text.starts_with("--") && text.ends_with('c') {
            return rest.next().filter(|script| !script.text.starts_with(['-', '+']));
        } else if !text.starts_with(['-', '+']) {
            return None;
        }
    }
    None
}

/// The value of a JSON string, with the source span of each character.
fn decoded(file: &Dockerfile, span: &Span) -> Joined {
    let (written, _) = Joined::lines(&file.text, span.clone(), file.escape);
    let text = written.text();
    let mut joined = Joined::default();
    let mut at = 1;
    while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let start = at;
        at += character.len_utf8();
        match character {
            '"' => break,
            '\\' => {
                at += escape_length(text.get(at..).unwrap_or_default());
                let literal = format!("\"{}\"", text.get(start..at).unwrap_or_default());
                let decoded: String = serde_json::from_str(&literal).unwrap_or_default();
                joined.push_escaped(&decoded, written.span(&(start..at)));
            }
            _ => joined.push(text.get(start..at).unwrap_or_default(), written.source(start)),
        }
    }
    joined
}

/// Length of a JSON escape after its backslash; of both halves for a surrogate pair.
fn escape_length(rest: &str) -> usize {
    let surrogate = rest.get(..3).is_some_and(|start| {
        start.starts_with("ud") && start.ends_with(['8', '9', 'a', 'b', 'A', 'B'])
            || start.starts_with("uD") && start.ends_with(['8', '9', 'a', 'b', 'A', 'B'])
    });
    match rest.chars().next() {
        Some('u') if surrogate => 11,
        Some('u') => 5,
        Some(character) => character.len_utf8(),
        None => 0,
    }
}

/// POSIX shells, by file name.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "zsh", "ksh", "busybox"];

/// Whether a program is a shell that this module can parse, by its path.
fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program.rsplit('/').next().unwrap_or(program))
}

impl Dockerfile {
    /// The shell of each instruction: from the last `SHELL` in its stage, or in the stage it is based on.
    pub(super) fn shell_kinds(&self) -> Vec<ShellKind> {
        let stages = self.stages();
        let mut kinds = vec![ShellKind::Unknown; self.instructions.len()];
        let mut ends: Vec<ShellKind> = Vec::with_capacity(stages.len());
        for stage in &stages {
            let windows = self.escape == '`' || stage.base.to_ascii_lowercase().contains("windows");
            let mut kind = match stage.parent.and_then(|parent| ends.get(parent)) {
                Some(kind) => *kind,
                None if windows => ShellKind::Unknown,
                None => ShellKind::Posix,
            };
            for number in stage.body.clone() {
                let Some(instruction) = self.instructions.get(number) else { continue };
                if instruction.keyword == Keyword::Shell && instruction.form == Form::Exec {
                    // Another program may start it: `conda run -n x bash -c`.
                    let shell = instruction.words.iter().any(|word| is_shell(&word.text));
                    kind = if shell { ShellKind::Posix } else { ShellKind::Foreign };
                }
                if let Some(slot) = kinds.get_mut(number) {
                    *slot = kind;
                }
            }
            ends.push(kind);
        }
        kinds
    }
}

#[cfg(test)]
mod tests;
