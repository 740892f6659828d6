//! What a `RUN` starts: the commands of its shell text, with the places of their words.

use super::value::{Dockerfile, Span, Word};

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
    /// Its words without redirections: quotes and escapes are taken away, variables stand as they are written.
    /// Assignments before the command (`DEBIAN_FRONTEND=noninteractive apt-get`) are words too.
    pub words: Vec<Word>,
    /// From its first word to its last, redirections included.
    pub span: Span,
    /// How it follows the one before it.
    pub joiner: Joiner,
    /// From the end of the command before it to its first word: joiner, white space, continuation.
    pub before: Span,
    /// Whether it stands alone: not in a subshell, a loop, a condition, a function or a substitution, and every
    /// word was understood. Only such commands may be edited.
    pub plain: bool,
    /// Files that its output is redirected to.
    pub writes: Vec<String>,
}

/// The commands of an instruction: of a `RUN` in shell form its text and its heredocs that a shell reads, of one
/// in exec form the one command (the text of `sh -c` is read too). Nothing for other instructions.
pub fn commands(file: &Dockerfile, instruction: usize) -> Vec<ShellCommand> {
    let _ = (file, instruction);
    Vec::new()
}
