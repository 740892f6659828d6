//! Programs that commands call, and how command lists continue.

use crate::formats::dockerfile::{Joiner, ShellCommand, Word, is_assignment};

/// The program call of a command.
#[derive(Clone, Copy, Debug)]
pub(in crate::rewrite) struct Call<'a> {
    /// Name without folder; `pip` for all ways to call it.
    pub(in crate::rewrite) program: &'a str,
    /// As written.
    pub(in crate::rewrite) path: &'a str,
    pub(in crate::rewrite) with_sudo: bool,
    /// The arguments.
    pub(in crate::rewrite) words: &'a [Word],
}

impl<'a> Call<'a> {
    /// The call of a command; `None` when it only sets variables.
    pub(in crate::rewrite) fn of(command: &'a ShellCommand) -> Option<Self> {
        let mut words = command.words.as_slice();
        let mut with_sudo = false;
        while let Some((first, rest)) = words.split_first() {
            let is_sudo = first.text == "sudo";
            if !(is_sudo || is_assignment(first.text.as_bytes()) || with_sudo && first.text.starts_with('-'))
            {
                break;
            }
            with_sudo |= is_sudo;
            words = rest;
        }
        let (first, mut words) = words.split_first()?;
        let mut program = first.text.rsplit('/').next().unwrap_or_default();
        if program.starts_with("python")
            && let [dash, module, rest @ ..] = words
            && dash.text == "-m"
            && module.text == "pip"
        {
            (program, words) = ("pip", rest);
        }
        let version = program.strip_prefix("pip").unwrap_or("-");
        if version.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit()) {
            program = "pip";
        }
        Some(Self { program, path: &first.text, with_sudo, words })
    }

    /// The index in `words` of a subcommand: only options and their values come before it.
    pub(in crate::rewrite) fn subcommand(&self, wanted: &str) -> Option<usize> {
        let mut is_value = false;
        for (place, word) in self.words.iter().enumerate() {
            let is_option = word.text.starts_with('-');
            if !is_option && !is_value {
                return (word.text == wanted).then_some(place);
            }
            is_value = is_option && TAKES_VALUE.contains(&word.text.as_str());
        }
        None
    }

    /// Whether the arguments contain a word.
    pub(in crate::rewrite) fn has(&self, wanted: &str) -> bool {
        self.words.iter().any(|word| word.text == wanted)
    }
}

/// Options of apt-get and pip before a subcommand with a separate value.
pub(in crate::rewrite) const TAKES_VALUE: [&str; 6] =
    ["-o", "-c", "-t", "--option", "--config-file", "--target-release"];

/// Whether a command is `set -e`, in any of its forms.
pub(in crate::rewrite) fn is_strict(command: &ShellCommand) -> bool {
    let Some(call) = Call::of(command).filter(|call| call.program == "set") else { return false };
    let short =
        |word: &Word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('e');
    call.words.iter().any(short) || call.has("-o") && call.has("errexit")
}

/// Whether a command list continues only after success, by whatever mechanism.
pub(in crate::rewrite) fn is_chain(commands: &[ShellCommand]) -> bool {
    commands.iter().all(|command| matches!(command.joiner, Joiner::First | Joiner::And | Joiner::Pipe))
}
