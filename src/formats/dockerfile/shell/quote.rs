//! One word of a shell text: its end and its text.

use super::super::value::Span;

/// A word; spans in the shell text.
#[derive(Debug)]
pub(super) struct ShellWord {
    pub(super) span: Span,
    /// Quotes and escapes removed; substitutions as written.
    pub(super) text: String,
    /// Whether nothing in it is quoted: only such a word can be reserved.
    pub(super) bare: bool,
    /// Whether all of it was parsed.
    pub(super) understood: bool,
    /// Contents of its `$(...)`, without nested ones.
    pub(super) inner: Vec<Span>,
}

/// An open construct inside a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// `"`.
    Quotes,
    /// `$(` or `<(`.
    Command,
    /// `$((`.
    Arithmetic,
    /// `(` inside one of the two.
    Parenthesis,
    /// `${`, and whether it is in double quotes.
    Braces(bool),
    /// A backtick.
    Backtick,
}

/// Whether a character ends an unquoted word.
const fn ends_word(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// The current word.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Context>,
    /// Number of open arithmetic expansions.
    arithmetic: usize,
    word: ShellWord,
    /// Start of the outermost substitution.
    inner: usize,
}

/// Reads the word at a position. `None` if a part of it is not closed, or if its end is ambiguous.
pub(super) fn read(text: &str, at: usize) -> Option<ShellWord> {
    let word =
        ShellWord { span: at..at, text: String::new(), bare: true, understood: true, inner: Vec::new() };
    let mut scan = Scan { text, at, open: Vec::new(), arithmetic: 0, word, inner: 0 };
    // Process substitutions start with an operator.
    if scan.rest().starts_with(['<', '>']) {
        scan.word.understood = false;
        scan.word.bare = false;
        scan.take(1);
        scan.enter(Context::Command, 1);
    }
    while let Some(character) = scan.rest().chars().next() {
        match scan.open.last().copied() {
            None if ends_word(character) => break,
            context => scan.step(character, context)?,
        }
    }
    scan.word.span.end = scan.at;
    scan.open.is_empty().then_some(scan.word)
}

impl Scan<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Whether the current text is copied verbatim.
    fn is_verbatim(&self) -> bool {
        self.open.len() > 1 || self.open.first().is_some_and(|first| *first != Context::Quotes)
    }

    /// Skips bytes and appends them to the word.
    fn take(&mut self, bytes: usize) {
        let taken = self.text.get(self.at..self.at + bytes).unwrap_or_default();
        self.word.text.push_str(taken);
        self.at += bytes;
    }

    /// Skips bytes, and appends them where substitutions are copied verbatim.
    fn pass(&mut self, bytes: usize) {
        if self.is_verbatim() {
            self.take(bytes);
        } else {
            self.at += bytes;
        }
    }

    /// A substitution begins, with `bytes` of opening syntax.
    fn enter(&mut self, context: Context, bytes: usize) {
        if !self.is_verbatim() {
            self.inner = self.at + bytes;
        }
        self.arithmetic += usize::from(context == Context::Arithmetic);
        self.open.push(context);
        self.take(bytes);
    }

    /// The innermost context ends, with one byte.
    fn leave(&mut self) {
        let left = self.open.last().copied();
        if left == Some(Context::Quotes) {
            self.pass_quote();
            return;
        }
        let end = self.at;
        self.take(1);
        self.open.pop();
        self.arithmetic -= usize::from(left == Some(Context::Arithmetic));
        if left == Some(Context::Command) && !self.is_verbatim() {
            self.word.inner.push(self.inner..end);
        }
    }

    /// A closing double quote.
    fn pass_quote(&mut self) {
        self.pass(1);
        self.open.pop();
    }

    fn step(&mut self, character: char, context: Option<Context>) -> Option<()> {
        let quoted = matches!(context, Some(Context::Quotes | Context::Braces(true)));
        match (character, context) {
            ('\\', _) => self.escape(context),
            ('"', Some(Context::Quotes))
            | (')', Some(Context::Command | Context::Arithmetic | Context::Parenthesis))
            | ('}', Some(Context::Braces(_)))
            | ('`', Some(Context::Backtick)) => self.leave(),
            (_, Some(Context::Backtick)) => self.take(character.len_utf8()),
            ('`', _) => {
                self.word.bare = false;
                self.enter(Context::Backtick, 1);
            }
            ('$', _) => self.dollar(quoted)?,
            ('\'', _) if !quoted => self.single()?,
            ('"', _) => {
                self.word.bare = false;
                let verbatim = self.is_verbatim();
                self.open.push(Context::Quotes);
                if verbatim { self.take(1) } else { self.at += 1 }
            }
            ('(', Some(Context::Command | Context::Arithmetic | Context::Parenthesis)) => {
                self.enter(Context::Parenthesis, 1);
            }
            ('#', Some(Context::Command | Context::Parenthesis)) if self.starts_word() => {
                let rest = self.rest();
                let end = rest.find('\n').unwrap_or(rest.len());
                self.take(end);
            }
            ('<', Some(Context::Command | Context::Parenthesis)) => {
                let rest = self.rest();
                let length = rest.len() - rest.trim_start_matches('<').len();
                // Heredoc lines would have to be distinguished from commands.
                if length == 2 && self.arithmetic == 0 {
                    return None;
                }
                self.take(length);
            }
            _ => {
                // Shells disagree on a single quote in `"${A:-'}"`.
                if character == '\'' && context == Some(Context::Braces(true)) {
                    return None;
                }
                self.word.understood &= !character.is_control() || matches!(character, '\n' | '\t');
                self.take(character.len_utf8());
            }
        }
        Some(())
    }

    fn escape(&mut self, context: Option<Context>) {
        let next = self.rest().chars().nth(1);
        let length = 1 + next.map_or(0, char::len_utf8);
        self.word.bare = false;
        if self.is_verbatim() {
            self.take(length);
            return;
        }
        let counts = context.is_none() || matches!(next, Some('$' | '`' | '"' | '\\' | '\n'));
        self.at += usize::from(counts);
        match next {
            Some('\n') if counts => self.at += 1,
            Some(next) => self.take(if counts { next.len_utf8() } else { length }),
            None => {
                self.word.understood = false;
                self.at = self.text.len();
            }
        }
    }

    fn single(&mut self) -> Option<()> {
        self.word.bare = false;
        let end = self.rest().get(1..)?.find('\'')?;
        self.pass(1);
        self.take(end);
        self.pass(1);
        Some(())
    }

    fn dollar(&mut self, quoted: bool) -> Option<()> {
        let text = self.text;
        let next = text.get(self.at + 1..).unwrap_or_default();
        if next.starts_with("((") {
            self.enter(Context::Arithmetic, 2);
        } else if next.starts_with('(') {
            self.enter(Context::Command, 2);
        } else if next.starts_with('{') {
            self.enter(Context::Braces(quoted), 2);
        } else if next.starts_with('\'') && !quoted {
            // C escapes, in bash only. They end at the same place in other shells unless a quote is escaped.
            self.word.understood = false;
            self.word.bare = false;
            let end = next.get(1..)?.find('\'')? + 1;
            if next.get(..end)?.ends_with('\\') {
                return None;
            }
            self.take(end + 2);
        } else if next.starts_with('$') {
            // `$$`, the process id: the text after it is not part of the variable.
            self.take(2);
        } else {
            // `$"` is a translated string and `$[` is arithmetic, in bash only.
            if !quoted && next.starts_with('[') {
                return None;
            }
            self.word.understood &= quoted || !next.starts_with('"');
            self.word.bare = false;
            self.take(1);
        }
        Some(())
    }

    /// Whether a word starts at this position inside a substitution.
    fn starts_word(&self) -> bool {
        let before = self.text.get(..self.at).and_then(|text| text.chars().next_back());
        before.is_none_or(ends_word)
    }
}
