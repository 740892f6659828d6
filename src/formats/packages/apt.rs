//! apt's records beside dpkg's database: automatically installed packages, and the autoremove settings.

use hashbrown::HashSet;

use super::fields::{Part, Parts};
use super::{Bounds, some_text};

/// A package that apt installed automatically: name, and architecture if recorded.
pub type AutoInstalled = (String, Option<String>);

/// Parses `/var/lib/apt/extended_states`: the packages with `Auto-Installed: 1`, the first 100,000.
pub fn read_states(bytes: &[u8]) -> HashSet<AutoInstalled> {
    let mut automatic = HashSet::new();
    let (mut name, mut architecture, mut is_automatic) = (None, None, false);
    for part in Parts::new(bytes).chain([Part::Blank]) {
        match part {
            Part::Field { name: field, value, .. } => match field.to_ascii_lowercase().as_slice() {
                b"package" => name = some_text(value),
                b"architecture" => architecture = some_text(value),
                b"auto-installed" => is_automatic = value.trim_ascii() == b"1",
                _ => {}
            },
            Part::Blank => {
                let architecture = architecture.take();
                if let (Some(name), true) = (name.take(), std::mem::take(&mut is_automatic))
                    && automatic.len() < Bounds::USUAL.packages
                {
                    automatic.insert((name, architecture));
                }
            }
            Part::Odd(_) => {}
        }
    }
    automatic
}

/// What protects a package from autoremove, besides dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoRemove {
    /// `APT::AutoRemove::RecommendsImportant`: an installed package recommends it.
    pub recommends: bool,
    /// `APT::AutoRemove::SuggestsImportant`: an installed package suggests it.
    pub suggests: bool,
}

impl Default for AutoRemove {
    /// apt's defaults (apt.conf(5)).
    fn default() -> Self {
        Self { recommends: true, suggests: true }
    }
}

/// Maximum depth of nested scopes; real files have four.
const DEPTH: usize = 32;

/// Applies the settings of one file of `apt.conf`; files in the order in which apt reads them.
pub fn read_conf(bytes: &[u8], settings: &mut AutoRemove) {
    let mut scopes: Vec<String> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for token in Tokens(bytes) {
        match token {
            Token::Word(word) => words.push(word),
            Token::Open => {
                let name = std::mem::take(&mut words).into_iter().next().unwrap_or_default();
                if scopes.len() == DEPTH {
                    return;
                }
                scopes.push(name);
            }
            Token::Close => {
                words.clear();
                scopes.pop();
            }
            Token::End => {
                let mut words = std::mem::take(&mut words).into_iter();
                let (Some(name), Some(value)) = (words.next(), words.next()) else { continue };
                let whole: Vec<&str> = scopes.iter().map(String::as_str).chain([name.as_str()]).collect();
                let setting = match whole.join("::").to_ascii_lowercase().as_str() {
                    "apt::autoremove::recommendsimportant" => &mut settings.recommends,
                    "apt::autoremove::suggestsimportant" => &mut settings.suggests,
                    _ => continue,
                };
                match value.to_ascii_lowercase().as_str() {
                    "no" | "false" | "without" | "off" | "disable" | "0" => *setting = false,
                    "yes" | "true" | "with" | "on" | "enable" | "1" => *setting = true,
                    _ => {}
                }
            }
        }
    }
}

enum Token {
    /// A name or value without quotes.
    Word(String),
    /// `{`
    Open,
    /// `}`
    Close,
    /// `;`
    End,
}

/// The tokens of a settings file, without comments.
struct Tokens<'a>(&'a [u8]);

impl Tokens<'_> {
    fn skip(&mut self, bytes: usize) {
        self.0 = self.0.get(bytes..).unwrap_or_default();
    }

    /// Skips to after `end`.
    fn skip_past(&mut self, end: &[u8]) {
        let at = memchr::memmem::find(self.0, end).map_or(self.0.len(), |at| at + end.len());
        self.skip(at);
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let token = match self.0 {
                [] => return None,
                [b'/', b'/', ..] | [b'#', ..] => {
                    self.skip_past(b"\n");
                    continue;
                }
                [b'/', b'*', ..] => {
                    self.skip_past(b"*/");
                    continue;
                }
                [byte, ..] if byte.is_ascii_whitespace() => {
                    self.skip(1);
                    continue;
                }
                [b'{', ..] => Token::Open,
                [b'}', ..] => Token::Close,
                [b';', ..] => Token::End,
                [b'"', rest @ ..] => {
                    let end = memchr::memchr(b'"', rest).unwrap_or(rest.len());
                    let word = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned();
                    self.skip(end + 2);
                    return Some(Token::Word(word));
                }
                word => {
                    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"{};\"".contains(byte);
                    let end = word.iter().position(is_end).unwrap_or(word.len());
                    let word = String::from_utf8_lossy(word.get(..end).unwrap_or_default()).into_owned();
                    self.skip(end);
                    return Some(Token::Word(word));
                }
            };
            self.skip(1);
            return Some(token);
        }
    }
}
