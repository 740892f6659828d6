//! What a `RUN` starts: the commands of its shell text, with the places of their words.

mod grammar;
mod lex;
mod quote;

use super::instruction::opening;
use super::joined::Joined;
use super::value::{Dockerfile, Form, Instruction, Keyword, ShellKind, Span, Word};

/// How a command follows the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joiner {
    /// It is the first.
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
    /// Its words without redirections: quotes and escapes are taken away, variables stand as they are
    /// written. Assignments before the command (`DEBIAN_FRONTEND=noninteractive apt-get`) are words too.
    pub words: Vec<Word>,
    /// From its first word to its last, redirections included.
    pub span: Span,
    /// How it follows the one before it.
    pub joiner: Joiner,
    /// From the end of the command before it to its first word: joiner, white space, continuation.
    pub before: Span,
    /// Whether it stands alone: not in a subshell, a loop, a condition, a function or a substitution, and
    /// every word was understood. Only such commands may be edited.
    pub plain: bool,
    /// Files that its output is redirected to.
    pub writes: Vec<String>,
}

/// The commands of an instruction: of a `RUN` in shell form its text and its heredoc that a shell reads, of one
/// in exec form the one command, or those in the text of `sh -c` in its place. Nothing for other instructions,
/// for a heredoc with `#!` and another interpreter, and when `SHELL` names no shell of the POSIX kind. Commands
/// in `$(...)` are given too, sorted by their place: their spans lie in that of the command around.
///
/// Nothing is plain when a part of the text was not understood. Nothing in exec form is: what is put there must
/// be written as JSON. Nothing in a heredoc that another command reads is (`bash <<EOF`). A text has at most
/// 20,000 commands; one with more is cut there, and not understood.
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
            // The shell must see the heredocs that `BuildKit` sees.
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

/// Whether a command is a shell that reads commands from its input: `bash -e <<EOF`.
fn reads_input(command: &ShellCommand) -> bool {
    let mut words = command.words.iter();
    words.next().is_some_and(|word| is_shell(&word.text)) && words.all(|word| word.text.starts_with('-'))
}

/// Whether the lines of a heredoc are for a shell: `BuildKit` runs them as a program of their own when they
/// begin with `#!`.
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
    }]
}

/// The text that `sh -c` runs.
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

/// What a string of JSON says, with the places of its characters.
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

/// Bytes of an escape of JSON behind its backslash; of both halves of a character that is written in two.
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

/// Shells of the POSIX kind, by their file name.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "zsh", "ksh", "busybox"];

/// Whether a program is a shell that this room can read, by its path.
fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program.rsplit('/').next().unwrap_or(program))
}

impl Dockerfile {
    /// What reads the shell texts of each instruction: what `SHELL` said last in its stage, or in the stage
    /// that it starts from.
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
                    // It may be started by another program: `conda run -n x bash -c`.
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
