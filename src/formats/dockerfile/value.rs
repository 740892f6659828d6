//! A parsed Dockerfile. All positions are byte offsets in its text.

use std::ops::Range;

/// A part of the text: byte offsets, end exclusive.
pub type Span = Range<usize>;

/// Why a text is not a Dockerfile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct SyntaxError {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// The error; quoted text is escaped and shortened.
    pub what: String,
}

/// A Dockerfile: its text and the spans of its parts.
#[derive(Clone, Debug)]
pub struct Dockerfile {
    pub(super) text: String,
    /// Start offsets of lines.
    pub(super) lines: Vec<usize>,
    /// The shell of each instruction.
    pub(super) shells: Vec<ShellKind>,
    /// The escape character: a backslash, or a backtick by directive.
    pub escape: char,
    /// Parser directives in order.
    pub directives: Vec<Directive>,
    /// Contiguous parts from the first byte to the last.
    pub pieces: Vec<Piece>,
    /// Instructions in order.
    pub instructions: Vec<Instruction>,
}

/// Syntax of a shell text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellKind {
    /// A POSIX shell.
    Posix,
    /// Possibly another shell: the base may be Windows.
    Unknown,
    /// Another shell.
    Foreign,
}

/// A line such as `# syntax=docker/dockerfile:1` at the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Its name, lower case.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The whole line, its line end included.
    pub span: Span,
}

/// A part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Its span, line end included.
    pub span: Span,
}

/// Kind of a part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// A leading byte order mark (U+FEFF).
    ByteOrderMark,
    /// A parser directive.
    Directive,
    /// A comment line outside instructions.
    Comment,
    /// A blank line outside instructions.
    Blank,
    /// An instruction, by its index in [`Dockerfile::instructions`]: all its lines, heredocs and comments between
    /// continuation lines included.
    Instruction(usize),
}

macro_rules! keywords {
    ($($variant:ident = $name:literal,)*) => {
        /// An instruction keyword.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Keyword {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl Keyword {
            /// All keywords.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The keyword in upper case.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The keyword of a word in any case; `None` if there is none.
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|keyword| keyword.as_str().eq_ignore_ascii_case(word))
            }
        }
    };
}

keywords! {
    Add = "ADD",
    Arg = "ARG",
    Cmd = "CMD",
    Copy = "COPY",
    Entrypoint = "ENTRYPOINT",
    Env = "ENV",
    Expose = "EXPOSE",
    From = "FROM",
    Healthcheck = "HEALTHCHECK",
    Label = "LABEL",
    Maintainer = "MAINTAINER",
    OnBuild = "ONBUILD",
    Run = "RUN",
    Shell = "SHELL",
    StopSignal = "STOPSIGNAL",
    User = "USER",
    Volume = "VOLUME",
    WorkDir = "WORKDIR",
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Keyword.
    pub keyword: Keyword,
    /// The whole instruction, from the first byte of its first line to the end of its last line, heredocs included.
    pub span: Span,
    /// Span of the keyword.
    pub keyword_span: Span,
    /// `--name=value` before the arguments; for `ONBUILD` those of the inner instruction.
    pub flags: Vec<Flag>,
    /// From the first argument to the last byte that is not white space, without heredocs. Empty, after the preceding
    /// part, if there are none.
    pub arguments: Span,
    /// The words of the arguments: in JSON form its strings, otherwise separated by white space outside quotes,
    /// continuation lines joined and comments between them left out. `ENV A b c` in the old form has `b c` as one word,
    /// as has `LABEL`; `WORKDIR`, `USER`, `STOPSIGNAL` and `MAINTAINER` have one word. For `ONBUILD` the first word is
    /// the inner keyword.
    pub words: Vec<Word>,
    /// Form of the arguments.
    pub form: Form,
    /// Heredocs in order.
    pub heredocs: Vec<Heredoc>,
    /// For `ONBUILD`: the inner keyword.
    pub trigger: Option<Keyword>,
    /// First line, counted from 1.
    pub line: u32,
    /// Last line, counted from 1.
    pub last_line: u32,
}

/// Form of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A JSON array of strings.
    Exec,
    /// Words.
    Shell,
}

/// `--name=value` or `--name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Name without the dashes.
    pub name: String,
    /// Text after the equals sign.
    pub value: Option<String>,
    /// Its span.
    pub span: Span,
}

/// A word; quotes and escapes removed, variables as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its text.
    pub text: String,
    /// Its span, quotes included; may extend over continuation lines.
    pub span: Span,
}

/// `<<NAME` and the lines up to `NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heredoc {
    /// The delimiter.
    pub name: String,
    /// Whether variables in it are expanded: the delimiter is not quoted.
    pub expands: bool,
    /// Whether leading tabs are removed (`<<-`).
    pub strips_tabs: bool,
    /// Its lines, without the closing delimiter.
    pub body: Span,
}

/// A stage: a `FROM` and the instructions after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Index of the `FROM` in [`Dockerfile::instructions`].
    pub from: usize,
    /// Indexes of the instructions after it.
    pub body: Range<usize>,
    /// Its name, lower case.
    pub name: Option<String>,
    /// Base image or stage, with the defaults of global `ARG`s expanded; variables without a default remain as written.
    pub base: String,
    /// Index of the earlier stage it is based on, if any.
    pub parent: Option<usize>,
    /// The value of `--platform`.
    pub platform: Option<String>,
}

impl Dockerfile {
    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A part of the text; empty for an invalid span.
    pub fn slice(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Line end of the file: that of the first line, `\n` if there is only one.
    pub fn line_end(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if at > 0 && self.text.as_bytes()[at - 1] == b'\r' => "\r\n",
            _ => "\n",
        }
    }
}
