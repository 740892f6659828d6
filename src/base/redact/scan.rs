//! Finds named secrets in shell text, JSON, and other text.
//!
//! One pass from left to right. Every name is checked in every context: also inside quotes, because a script passed to
//! a shell is quoted. The end of a value is found by skipping over it, so that the cost is linear.

use super::extent::{self, is_blank, is_quote};
use super::name::{REDACTED, is_secret_name};

/// Kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A command line.
    Shell,
    /// One word of a command, without its quotes.
    Argument,
    /// Pairs recorded by the builder without their quotes: a value continues over spaces.
    Recorded,
}

/// Text that may be shown.
pub(super) struct Scanned {
    /// The text.
    pub(super) shown: String,
    /// Ends with an option whose value is the next word.
    pub(super) awaits_value: bool,
}

/// Redacts the secrets of `text`, which has no user info in URLs left.
pub(super) fn scan(text: &str, mode: Mode) -> Scanned {
    let mut scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        mode,
        out: Scanned { shown: String::with_capacity(text.len()), awaits_value: false },
        done: 0,
        at: 0,
        quote: None,
        fresh: mode == Mode::Argument,
        line_start: false,
        last_quote: None,
        setting: Setting::No,
        login: false,
    };
    while let Some(byte) = scanner.bytes.get(scanner.at) {
        if is_name(*byte) {
            scanner.name();
        } else {
            scanner.step(*byte);
        }
    }
    scanner.out.shown.push_str(&text[scanner.done..]);
    scanner.out
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    mode: Mode,
    out: Scanned,
    /// Everything before this offset is in `out`.
    done: usize,
    at: usize,
    /// The quote that is open here.
    quote: Option<u8>,
    /// Only non-blank characters since that quote, or since the start of the argument.
    fresh: bool,
    /// Only blanks since the start of the line.
    line_start: bool,
    /// The last quote passed.
    last_quote: Option<usize>,
    setting: Setting,
    /// After `login`, as in a `.netrc`: a value follows the word `password`.
    login: bool,
}

/// `set NAME VALUE`, as in `npm config set` and `aws configure set`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Setting {
    No,
    /// At `set`.
    Verb,
    /// Before the name.
    Before,
    /// In the word with the name.
    Name,
}

/// The separator of a name and its value.
struct Separator {
    /// Its end.
    end: usize,
    is_colon: bool,
    /// Preceded by blanks.
    spaced: bool,
    /// The quote that ends the name.
    quote: Option<u8>,
}

/// Characters of a name; all beyond ASCII are.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'[' | b']') || !byte.is_ascii()
}

/// Characters allowed between the name and its separator.
fn closes_name(byte: u8) -> bool {
    is_quote(byte) || matches!(byte, b'\\' | b'+' | b'?' | b'!')
}

impl Scanner<'_> {
    fn step(&mut self, byte: u8) {
        let next = self.bytes.get(self.at + 1).copied();
        match byte {
            // A backslash in single quotes does not escape the closing quote.
            b'\\' if next == Some(b'\'') && self.quote == next => {}
            b'\\' if next.is_some_and(|next| is_quote(next) || next == b'\\') => {
                self.at += 1;
                if next != Some(b'\\') {
                    self.last_quote = Some(self.at);
                }
            }
            b'"' | b'\'' => {
                let inside_word = byte == b'\''
                    && next.is_some_and(|next| next.is_ascii_lowercase())
                    && self.at > 0
                    && self.bytes[self.at - 1].is_ascii_alphabetic();
                self.last_quote = Some(self.at);
                if self.quote == Some(byte) {
                    self.quote = None;
                    self.fresh = false;
                } else if self.quote.is_none() && self.mode != Mode::Recorded && !inside_word {
                    self.quote = Some(byte);
                    self.fresh = true;
                }
            }
            b'\n' => self.fresh = false,
            _ if is_blank(byte) => {
                self.fresh = false;
                self.setting = match self.setting {
                    Setting::Verb | Setting::Before => Setting::Before,
                    Setting::Name | Setting::No => Setting::No,
                };
            }
            b';' | b'|' | b'&' => self.setting = Setting::No,
            _ => {}
        }
        self.line_start = byte == b'\n' || self.line_start && is_blank(byte);
        self.at += 1;
    }

    /// A name begins here: skips it, and its value if that is a secret.
    fn name(&mut self) {
        let start = self.at;
        let length = self.bytes[start..].iter().take_while(|byte| is_name(**byte)).count();
        let end = start + length;
        self.at = end;
        let line_start = std::mem::take(&mut self.line_start);
        if self.text[..start].ends_with("${") {
            return self.expansion(start, end);
        }
        let name = self.text[start..end].trim_start_matches('[');
        let is_option = name.starts_with('-');
        self.setting = match self.setting {
            _ if matches!(name, "set" | "setenv") => Setting::Verb,
            Setting::Before | Setting::Name => Setting::Name,
            _ => Setting::No,
        };
        self.login |= name.ends_with("login");
        // An escaped line end leaves an `n`.
        let in_netrc = self.login && matches!(name, "password" | "npassword");
        let before = start.checked_sub(1).map(|before| self.bytes[before]);
        match self.separator(end) {
            Some(separator) => {
                // A quoted name may have blanks in it.
                let whole = match (separator.quote, self.last_quote) {
                    (Some(_), Some(quote)) => &self.text[quote + 1..end],
                    _ => name,
                };
                // `registry/image:tag` and `$NAME:` are not assignments.
                let other = separator.is_colon && matches!(before, Some(b'/' | b'$'));
                if !other && is_secret_name(whole) {
                    self.assigned(&separator, is_option, line_start);
                }
            }
            None if (is_option || in_netrc || self.setting == Setting::Name) && is_secret_name(name) => {
                let closed = self.skip(end, closes_name);
                let quote = self.bytes[end..closed].iter().copied().find(|byte| is_quote(*byte));
                let ends = self.bytes.get(closed).is_none_or(|byte| is_blank(*byte) || *byte == b',');
                let continues = self.bytes[closed.saturating_sub(1)..].starts_with(b"\\\n");
                if ends || continues {
                    self.leave(quote);
                    self.next_word(closed, quote.is_some());
                }
            }
            None => {}
        }
    }

    fn skip(&self, from: usize, wanted: impl Fn(u8) -> bool) -> usize {
        from + self.bytes[from..].iter().take_while(|byte| wanted(**byte)).count()
    }

    fn separator(&self, name_end: usize) -> Option<Separator> {
        let closed = self.skip(name_end, closes_name);
        let quote = self.bytes[name_end..closed].iter().copied().find(|byte| is_quote(*byte));
        let place = self.skip(closed, is_blank);
        let spaced = place > closed;
        let rest = &self.text[place..];
        let made = |length, is_colon| Some(Separator { end: place + length, is_colon, spaced, quote });
        match self.bytes.get(place)? {
            b'=' => made(1 + usize::from(spaced && rest[1..].starts_with(['=', '>'])), false),
            b':' if rest.starts_with(":=") => made(2, false),
            b':' if rest.starts_with("://") => None,
            b':' if !spaced || quote.is_some() => made(1, true),
            _ => None,
        }
    }

    /// The quote that is open here was closed by one that was passed.
    fn leave(&mut self, passed: Option<u8>) {
        if passed.is_some() && passed == self.quote {
            self.quote = None;
            self.fresh = false;
        }
    }

    fn assigned(&mut self, separator: &Separator, is_option: bool, line_start: bool) {
        self.leave(separator.quote);
        let mut start = separator.end;
        if separator.is_colon || separator.spaced {
            let quoted = separator.quote.is_some();
            start = self.skip(start, |byte| is_blank(byte) || quoted && byte == b'\n');
        }
        let apart = start > separator.end;
        let (bytes, quote) = (self.bytes, self.quote);
        let first = start;
        let (start, end) = if self.mode == Mode::Recorded {
            (start, extent::recorded(self.text, start))
        } else if separator.quote.is_some() {
            extent::json_value(bytes, start, quote)
        } else if self.fresh
            || apart && separator.is_colon && (quote.is_some() || self.mode == Mode::Argument)
        {
            let (end, closed) = extent::to_quote(bytes, start, quote);
            if closed {
                self.quote = None;
            }
            (start, end)
        } else if line_start && apart {
            (start, self.skip(start, |byte| byte != b'\n'))
        } else {
            (start, extent::shell_word(bytes, start, quote))
        };
        let hidden = &self.text[start..end];
        // Debian packages are written with their architecture: `libsecret-1-0:amd64`.
        if separator.is_colon && matches!(hidden, "amd64" | "arm64" | "armhf" | "i386" | "any" | "all") {
            self.at = end;
        } else if !hidden.trim_matches(['"', '\'']).is_empty() {
            self.redact(start, end);
            self.at = self.behind(first, start, end);
        } else if hidden.is_empty() && separator.quote.is_none() && (is_option || separator.is_colon) {
            let closed = self.skip(start, |byte| is_quote(byte) || byte == b'\\');
            let quote = self.bytes[start..closed].first().copied();
            self.leave(quote);
            self.next_word(closed, quote.is_some());
        } else {
            self.at = self.behind(first, start, end);
        }
    }

    /// Position after a value that was checked from `first` and begins at `start`: the characters between are its
    /// quote, whose closing quote is skipped too.
    fn behind(&self, first: usize, start: usize, end: usize) -> usize {
        if start == first {
            return end;
        }
        let quote = self.skip(end, |byte| byte == b'\\');
        if self.bytes.get(quote).is_some_and(|byte| is_quote(*byte)) { quote + 1 } else { end }
    }

    /// The value is the next word. A bare `--` is skipped. A secret option is redacted and expects a value itself: the
    /// option before it may have been a switch.
    fn next_word(&mut self, from: usize, quoted: bool) {
        self.at = from;
        loop {
            let place = self.skip(self.at, |byte| is_blank(byte) || matches!(byte, b'\n' | b',' | b'\\'));
            // The backslash before a quote belongs to it.
            let place = place - self.bytes[self.at..place].iter().rev().take_while(|b| **b == b'\\').count();
            self.at = place;
            let Some(first) = self.bytes.get(place) else {
                self.out.awaits_value = true;
                return;
            };
            if matches!(first, b';' | b'|' | b'&' | b')' | b']' | b'}' | b'<' | b'>') {
                return;
            }
            let (start, end) = if self.mode == Mode::Recorded {
                (place, extent::recorded(self.text, place))
            } else if quoted && (is_quote(*first) || *first == b'\\') {
                extent::json_value(self.bytes, place, self.quote)
            } else {
                (place, extent::shell_word(self.bytes, place, self.quote))
            };
            let word = self.text[start..end].trim_matches(['"', '\'', '\\']);
            let after = self.behind(place, start, end);
            if word == "--" {
                self.at = after;
                continue;
            }
            if word.is_empty() {
                self.at = after.max(place);
                return;
            }
            let goes_on = word.starts_with('-') && !word.contains('=') && is_secret_name(word);
            self.redact(start, end);
            self.at = after;
            if !goes_on {
                return;
            }
        }
    }

    /// `${NAME:-default}`: the default is a value.
    fn expansion(&mut self, start: usize, end: usize) {
        let identifier = self.skip(start, |byte| byte.is_ascii_alphanumeric() || byte == b'_').min(end);
        let operator = self.skip(identifier, |byte| byte == b':');
        if !is_secret_name(&self.text[start..identifier])
            || !matches!(self.bytes.get(operator), Some(b'-' | b'=' | b'+' | b'?'))
        {
            return;
        }
        let value = operator + 1;
        let end = self.skip(value, |byte| byte != b'}');
        if end > value {
            self.redact(value, end);
        } else {
            self.at = end;
        }
    }

    fn redact(&mut self, start: usize, end: usize) {
        self.out.shown.push_str(&self.text[self.done..start]);
        self.out.shown.push_str(REDACTED);
        self.done = end;
        self.at = end;
    }
}
