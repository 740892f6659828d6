//! Parses history entries as instructions, for all builders.
//!
//! `BuildKit` writes `RUN |1 A=b /bin/sh -c text # buildkit`, `COPY a /b # buildkit`, `ENV A=b`; docker's classic
//! builder `/bin/sh -c #(nop)  ENV A=b`, `/bin/sh -c text`; buildah `/bin/sh -c #(nop) ENV A="b"` (the text of the
//! Dockerfile) with the comment `FROM …`; kaniko the line of the Dockerfile.

use oci_spec::image::History;

use crate::formats::dockerfile::Keyword;

/// The prefix of docker's classic builder and buildah for an instruction that runs nothing.
const NOTHING_RUNS: &str = "/bin/sh -c #(nop)";

/// The suffix of `BuildKit` for an instruction that creates a layer.
const MARK: &str = "# buildkit";

/// Shells, by the last part of their path.
const SHELLS: [&str; 10] =
    ["sh", "bash", "dash", "ash", "zsh", "ksh", "busybox", "cmd", "powershell", "pwsh"];

/// Maximum words of a shell before its `-c`: `/bin/bash -e -u -x -o pipefail -c` has six.
const MAX_SHELL_WORDS: usize = 10;

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Evaluated: quotes removed, variables filled in.
    Evaluated,
    /// As written in the Dockerfile.
    Source,
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body<'a> {
    /// An instruction other than `RUN`: its keyword and its arguments.
    Plain(Keyword, &'a str),
    /// A `RUN`.
    Run(Run<'a>),
    /// Not an instruction: a committed container, another build tool, or empty.
    Other,
}

/// A `RUN` of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Run<'a> {
    /// Number of build arguments.
    pub(super) count: usize,
    /// Build arguments as written: `A=b C=d`.
    pub(super) arguments: &'a str,
    /// The shell with its options up to `-c`; `None` in exec form, and for a line of the Dockerfile.
    pub(super) shell: Option<&'a str>,
    /// The command, with flags before it if the builder recorded them.
    pub(super) command: &'a str,
}

/// An entry of the history.
#[derive(Clone, Debug)]
pub(super) struct Step<'a> {
    /// All of it, without the builder's marks.
    pub(super) text: &'a str,
    /// Its content.
    pub(super) body: Body<'a>,
    /// How its values are written.
    pub(super) dialect: Dialect,
    /// The layer that it created, counted from 0 by the history alone.
    pub(super) layer: Option<usize>,
    /// Buildah's comment: the image that this step was built on.
    pub(super) parent: Option<&'a str>,
}

impl Step<'_> {
    /// The instruction's keyword.
    pub(super) fn keyword(&self) -> Option<Keyword> {
        match &self.body {
            Body::Plain(keyword, _) => Some(*keyword),
            Body::Run(_) => Some(Keyword::Run),
            Body::Other => None,
        }
    }

    /// Its arguments, when it is an instruction with this keyword.
    pub(super) fn arguments(&self, wanted: Keyword) -> Option<&str> {
        match &self.body {
            Body::Plain(keyword, text) if *keyword == wanted => Some(text),
            _ => None,
        }
    }
}

/// All entries, in order.
pub(super) fn read(history: &[History]) -> Vec<Step<'_>> {
    let texts = history.iter().map(|entry| entry.created_by().as_deref().unwrap_or_default());
    // Docker's classic builder writes the command of a RUN in exec form without a prefix.
    let old_builder = texts.clone().any(|text| text.starts_with(NOTHING_RUNS));
    let mut layers = 0;
    let mut buildah = false;
    let mut steps = Vec::with_capacity(history.len());
    for (entry, text) in history.iter().zip(texts) {
        let comment = entry.comment().as_deref().unwrap_or_default();
        let kaniko = entry.author().as_deref() == Some("kaniko");
        let parent = comment.strip_prefix("FROM ").map(str::trim);
        let (whole, body, dialect) = one(text, comment, kaniko, buildah || parent.is_some(), old_builder);
        if text.strip_prefix(NOTHING_RUNS).is_some_and(|rest| !one_space(rest)) {
            buildah = dialect == Dialect::Source;
        }
        let layer = (entry.empty_layer() != Some(true)).then_some(layers);
        layers += usize::from(layer.is_some());
        steps.push(Step { text: whole, body, dialect, layer, parent });
    }
    steps
}

/// Number of layers that these entries created.
pub(super) fn layers(steps: &[Step<'_>]) -> usize {
    steps.iter().filter(|step| step.layer.is_some()).count()
}

fn one<'a>(
    text: &'a str,
    comment: &str,
    kaniko: bool,
    buildah: bool,
    old_builder: bool,
) -> (&'a str, Body<'a>, Dialect) {
    if let Some(rest) = text.strip_prefix(NOTHING_RUNS) {
        // The classic builder writes two spaces, except for COPY, ADD and WORKDIR.
        let evaluated = rest.starts_with("  ") || one_space(rest) && !buildah;
        let dialect = if evaluated { Dialect::Evaluated } else { Dialect::Source };
        let whole = rest.trim();
        let body = plain(whole).map_or(Body::Other, |(keyword, arguments)| match keyword {
            Keyword::Run => Body::Other,
            _ => Body::Plain(keyword, arguments),
        });
        return (whole, body, dialect);
    }
    let trimmed = text.trim();
    let unmarked = trimmed.strip_suffix(MARK).map(str::trim_end);
    let whole = unmarked.unwrap_or(trimmed);
    let by_buildkit = unmarked.is_some() || comment.contains("buildkit") && !kaniko;
    let dialect = if by_buildkit { Dialect::Evaluated } else { Dialect::Source };
    match plain(whole).filter(|(keyword, _)| kaniko || whole.starts_with(keyword.as_str())) {
        Some((Keyword::Run, rest)) => {
            let recorded = rest.starts_with('|') || shell_end(rest).is_some();
            let dialect = if recorded && !kaniko { Dialect::Evaluated } else { dialect };
            let body = match dialect {
                Dialect::Evaluated => run(rest),
                Dialect::Source => Run { command: rest, ..Run::default() },
            };
            return (whole, Body::Run(body), dialect);
        }
        Some((keyword, arguments)) => return (whole, Body::Plain(keyword, arguments), dialect),
        None => {}
    }
    let dialect = if buildah { Dialect::Source } else { Dialect::Evaluated };
    let shell = shell_end(whole).is_some_and(|end| end < whole.len());
    let exec = old_builder && whole.contains(' ') && !whole.starts_with('#');
    if whole.starts_with('|') || shell || exec {
        return (whole, Body::Run(run(whole)), dialect);
    }
    (whole, Body::Other, dialect)
}

/// Whether all builders write this the same way.
fn one_space(rest: &str) -> bool {
    let keyword = plain(rest.trim()).map(|(keyword, _)| keyword);
    matches!(keyword, Some(Keyword::Copy | Keyword::Add | Keyword::WorkDir))
}

/// Keyword and arguments.
fn plain(text: &str) -> Option<(Keyword, &str)> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    // A FROM has no entry of its own.
    let keyword = Keyword::named(&text[..end]).filter(|keyword| *keyword != Keyword::From)?;
    Some((keyword, text[end..].trim()))
}

/// `|2 A=b C=d /bin/sh -c text`, or parts of it.
fn run(text: &str) -> Run<'_> {
    let counted = text.strip_prefix('|').and_then(|rest| {
        let (count, rest) = rest.split_once(' ')?;
        Some((count.parse::<usize>().ok()?, rest))
    });
    let Some((count, rest)) = counted else { return command(0, "", text) };
    let mut place = 0;
    for word in rest.split_inclusive(' ') {
        if word.starts_with('/') && shell_end(&rest[place..]).is_some() {
            return command(count, rest[..place].trim(), &rest[place..]);
        }
        place += word.len();
    }
    // In exec form. The end of a value with spaces is unknown.
    let end = rest.split_inclusive(' ').take(count).map(str::len).sum::<usize>();
    command(count, rest[..end].trim(), &rest[end..])
}

fn command<'a>(count: usize, arguments: &'a str, text: &'a str) -> Run<'a> {
    let end = shell_end(text);
    let shell = end.map(|end| text[..end].trim());
    Run { count, arguments, shell, command: text[end.unwrap_or(0)..].trim() }
}

/// The start of the command, if the text begins with a shell that runs it.
fn shell_end(text: &str) -> Option<usize> {
    let mut end = 0;
    for (place, word) in text.split_inclusive(' ').take(MAX_SHELL_WORDS).enumerate() {
        end += word.len();
        let word = word.trim();
        if place == 0 {
            let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
            let name = name.strip_suffix(".exe").unwrap_or(&name);
            if !SHELLS.contains(&name) {
                return None;
            }
        } else if word.starts_with('-') && word.ends_with('c') || matches!(word, "/c" | "/C" | "-Command") {
            return Some(end);
        } else if !word.starts_with(['-', '+', '/'])
            && !matches!(word, "pipefail" | "sh" | "errexit" | "nounset")
        {
            return None;
        }
    }
    None
}
