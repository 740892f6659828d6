//! Lossless Dockerfile parser: every byte of the text belongs to one piece, and every word that may be edited has its
//! span.
//!
//! The grammar is that of BuildKit (docs.docker.com/reference/dockerfile): parser directives, continuation lines with
//! comments between them, heredocs, flags, JSON and shell forms. Nothing is ever executed, and variables are expanded
//! only on request.

mod check;
mod directive;
mod expand;
mod fault;
mod fill;
mod instruction;
#[cfg(feature = "fuzzing")]
mod invariants;
mod joined;
mod parse;
mod shell;
mod value;
mod word;

#[cfg(feature = "fuzzing")]
pub use invariants::fuzz_dockerfile;
pub use parse::parse;
pub use shell::{Joiner, ShellCommand, commands, is_assignment, is_builtin, script_commands};
pub use value::{
    Directive, Dockerfile, Flag, Form, Heredoc, Instruction, Keyword, Piece, PieceKind, Span, Stage,
    SyntaxError, Word,
};
