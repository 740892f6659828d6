//! One word of a shell text: where it ends, and what it says.

use super::super::value::Span;

/// A word, its places in the shell text.
#[derive(Debug)]
pub(super) struct ShellWord {
    pub(super) span: Span,
    /// Quotes and escapes taken away; substitutions as they are written.
    pub(super) text: String,
    /// Nothing in it is quoted: only such a word can be a reserved one.
    pub(super) bare: bool,
    /// Whether all of it was understood.
    pub(super) understood: bool,
    /// What stands in its `$(...)`, not in those inside of them.
    pub(super) inner: Vec<Span>,
}

/// What is open inside a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// `"`.
    Quotes,
    /// `$(` or `<(`.
    Command,
    /// `$((`.
    Arithmetic,
    /// `(` in one of the two.
    Parenthesis,
    /// `${`: whether it stands in double quotes.
    Braces(bool),
    /// A backtick.
    Backtick,
}

/// Whether a character ends a word that is not quoted.
const fn ends_word(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// A word on its way.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Context>,
    /// How many of them are arithmetic.
    arithmetic: usize,
    word: ShellWord,
    /// Where the outermost substitution starts.
    inner: usize,
}

/// Reads the word at a place. `None` when something in it does not end, or when it is not sure where.
pub(super) fn read(text: &str, at: usize) -> Option<ShellWord> {
    let word =
        ShellWord { span: at..at, text: String::new(), bare: true, understood: true, inner: Vec::new() };
    let mut scan = Scan { text, at, open: Vec::new(), arithmetic: 0, word, inner: 0 };
    // A substitution of a process starts with an operator.
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

    /// Whether what is read stands in the word as it is written.
    fn is_verbatim(&self) -> bool {
        self.open.len() > 1 || self.open.first().is_some_and(|first| *first != Context::Quotes)
    }

    /// Moves over bytes, and writes them.
    fn take(&mut self, bytes: usize) {
        let taken = self.text.get(self.at..self.at + bytes).unwrap_or_default();
        self.word.text.push_str(taken);
        self.at += bytes;
    }

    /// Moves over bytes, and writes them where substitutions stand as they are written.
    fn pass(&mut self, bytes: usize) {
        if self.is_verbatim() {
            self.take(bytes);
        } else {
            self.at += bytes;
        }
    }

    /// A substitution begins, with an opening of so many bytes.
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

    /// A double quote that ends.
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
                // The lines of a heredoc would have to be told from commands.
                if length == 2 && self.arithmetic == 0 {
                    return None;
                }
                self.take(length);
            }
            _ => {
                // Shells do not agree on a single quote in `"${A:-'}"`.
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
            // Escapes of C, in bash only. Where they end is the same in other shells unless a quote is
            // escaped.
            self.word.understood = false;
            self.word.bare = false;
            let end = next.get(1..)?.find('\'')? + 1;
            if next.get(..end)?.ends_with('\\') {
                return None;
            }
            self.take(end + 2);
        } else if next.starts_with('$') {
            // The number of the process: what follows is not part of it.
            self.take(2);
        } else {
            // `$"` is a text to be translated and `$[` is arithmetic, in bash only.
            if !quoted && next.starts_with('[') {
                return None;
            }
            self.word.understood &= quoted || !next.starts_with('"');
            self.word.bare = false;
            self.take(1);
        }
        Some(())
    }

    /// Whether the place is the beginning of a word inside of a substitution.
    fn starts_word(&self) -> bool {
        let before = self.text.get(..self.at).and_then(|text| text.chars().next_back());
        before.is_none_or(ends_word)
    }
}
