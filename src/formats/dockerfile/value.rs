//! What a Dockerfile holds. All places are byte offsets into its text.

use std::ops::Range;

/// A part of the text: byte offsets, the end not included.
pub type Span = Range<usize>;

/// Why a text is no Dockerfile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct SyntaxError {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// What is wrong there; what it quotes of the text is escaped and short.
    pub what: String,
}

/// A Dockerfile: its text, and what stands where.
#[derive(Clone, Debug)]
pub struct Dockerfile {
    pub(super) text: String,
    /// Where lines start.
    pub(super) lines: Vec<usize>,
    /// By instruction, what its shell texts are read by.
    pub(super) shells: Vec<ShellKind>,
    /// The escape character: a backslash, or a backtick by directive.
    pub escape: char,
    /// Parser directives, in order.
    pub directives: Vec<Directive>,
    /// Parts that follow each other without a gap from the first byte to the last.
    pub pieces: Vec<Piece>,
    /// Instructions, in order.
    pub instructions: Vec<Instruction>,
}

/// What reads a shell text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellKind {
    /// A shell of the POSIX kind.
    Posix,
    /// Perhaps one of another kind: the base may be Windows.
    Unknown,
    /// One of another kind.
    Foreign,
}

/// A line such as `# syntax=docker/dockerfile:1` at the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Its name, lower case.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The whole line, its end included.
    pub span: Span,
}

/// A part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Where it stands; with the line's end.
    pub span: Span,
}

/// What a part of the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// U+FEFF before all else.
    ByteOrderMark,
    /// A parser directive.
    Directive,
    /// A line that is a comment, outside instructions.
    Comment,
    /// A line of white space, outside instructions.
    Blank,
    /// An instruction, by its place in [`Dockerfile::instructions`]: all its lines, comments between
    /// continuation lines and heredocs included.
    Instruction(usize),
}

macro_rules! keywords {
    ($($variant:ident = $name:literal,)*) => {
        /// The first word of an instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Keyword {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl Keyword {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The keyword in upper case.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The keyword, written in any case.
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
    /// Its first word.
    pub keyword: Keyword,
    /// All of it, from the first byte of its first line to the end of its last line, heredocs included.
    pub span: Span,
    /// Its first word.
    pub keyword_span: Span,
    /// `--name=value` before the arguments; of `ONBUILD` those of what follows.
    pub flags: Vec<Flag>,
    /// From the first argument to the last byte of the last line that is no white space, without heredocs.
    /// Empty, at the end of what comes before, when there are none.
    pub arguments: Span,
    /// The words of the arguments: of the JSON form its strings; else parted by white space outside quotes,
    /// with continuation lines joined and comments between them left out. `ENV A b c` of the old form keeps
    /// `b c` as one word, `LABEL` alike; `WORKDIR`, `USER`, `STOPSIGNAL` and `MAINTAINER` have one word only.
    /// Of `ONBUILD` the first word is the keyword that follows.
    pub words: Vec<Word>,
    /// How the arguments are written.
    pub form: Form,
    /// Heredocs, in the order in which they are opened.
    pub heredocs: Vec<Heredoc>,
    /// Of `ONBUILD`: the keyword that follows.
    pub trigger: Option<Keyword>,
    /// The first line, counted from 1.
    pub line: u32,
    /// The last line, counted from 1.
    pub last_line: u32,
}

/// How arguments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a JSON array of strings.
    Exec,
    /// As words.
    Shell,
}

/// `--name=value` or `--name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Without the dashes.
    pub name: String,
    /// What follows the equals sign.
    pub value: Option<String>,
    /// All of it.
    pub span: Span,
}

/// A word with quotes and escapes taken away, variables as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it says.
    pub text: String,
    /// Where it is written, quotes included; it may reach over continuation lines.
    pub span: Span,
}

/// `<<NAME` and the lines up to `NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heredoc {
    /// The word that ends it.
    pub name: String,
    /// Whether variables in it are expanded: the word is not quoted.
    pub expands: bool,
    /// Whether tabs at the beginning of lines are taken away (`<<-`).
    pub strips_tabs: bool,
    /// Its lines, without the one that ends it.
    pub body: Span,
}

/// A stage: a `FROM` and what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The `FROM`, in [`Dockerfile::instructions`].
    pub from: usize,
    /// The instructions after it.
    pub body: Range<usize>,
    /// Its name, lower case.
    pub name: Option<String>,
    /// What it starts from, with the defaults of `ARG`s before the first `FROM` filled in; variables without
    /// a default stand as they are written.
    pub base: String,
    /// The earlier stage that it starts from, by its place in the list of stages.
    pub parent: Option<usize>,
    /// The value of `--platform`.
    pub platform: Option<String>,
}

impl Dockerfile {
    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A part of the text; empty for a span that is none.
    pub fn slice(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// How lines end: as the first line does, `\n` when there is only one.
    pub fn line_end(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if at > 0 && self.text.as_bytes()[at - 1] == b'\r' => "\r\n",
            _ => "\n",
        }
    }
}
