//! Expansion of variables.

/// Options of an expansion.
pub(super) struct Filling<'a> {
    pub(super) escape: char,
    /// Whether quotes and the escapes in them are removed. Nothing is expanded inside single quotes.
    pub(super) quotes: bool,
    /// Maximum bytes of the expanded text; a variable whose value would exceed it remains as written.
    pub(super) most: usize,
    pub(super) value: &'a dyn Fn(&str) -> Option<String>,
}

/// An open `${NAME` with a modifier.
struct Frame {
    /// Its offset in the input.
    from: usize,
    /// Its offset in the output.
    out: usize,
    then: Then,
    /// Whether it is in double quotes.
    quoted: bool,
}

/// Result of a frame.
enum Then {
    /// The expanded text inside it.
    Inside,
    Nothing,
    Text(String),
    /// The frame as written.
    Written,
}

/// The variable that a dollar sign begins.
enum Variable<'a> {
    /// None: a literal dollar sign.
    None,
    Simple(&'a str),
    /// `${NAME:-`: the name, whether there is a colon, and the modifier.
    Modified(&'a str, bool, char),
}

impl Filling<'_> {
    /// Expands `$NAME`, `${NAME}`, `${NAME:-other}`, `${NAME:+other}` and their forms without a colon. Unknown
    /// variables remain as written. One pass, without recursion.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut frames: Vec<Frame> = Vec::new();
        // Number of open frames whose content is not shown.
        let mut silent = 0_usize;
        let mut quoted = false;
        let mut at = 0;
        while let Some(rest) = text.get(at..)
            && let Some(character) = rest.chars().next()
        {
            let mut step = character.len_utf8();
            // What is written, as a part of the rest.
            let mut shown = 0..step;
            match character {
                '\'' if self.quotes && !quoted => {
                    let end = rest.get(1..).and_then(|inside| inside.find('\''));
                    step = end.map_or(rest.len(), |end| end + 2);
                    shown = end.map_or(0..rest.len(), |end| 1..end + 1);
                }
                '"' if self.quotes => {
                    quoted = !quoted;
                    shown = 0..0;
                }
                _ if character == self.escape => {
                    let next = rest.get(step..).and_then(|rest| rest.chars().next());
                    if let Some(next) = next.filter(|next| self.escapes(*next, quoted)) {
                        shown = step..step + next.len_utf8();
                        step = shown.end;
                    } else if self.quotes && !quoted {
                        shown = 0..0;
                    }
                }
                '$' => {
                    let (variable, length) = variable(rest);
                    step = length;
                    shown = 0..length;
                    match variable {
                        Variable::None => {}
                        _ if silent > 0 && !matches!(variable, Variable::Modified(..)) => {}
                        Variable::Simple(name) => {
                            if let Some(value) = self.value(name, out.len()) {
                                out.push_str(&value);
                                shown = 0..0;
                            }
                        }
                        Variable::Modified(name, colon, sign) => {
                            let then = match silent {
                                0 => self.then(name, colon, sign, out.len()),
                                _ => Then::Nothing,
                            };
                            silent += usize::from(!matches!(then, Then::Inside));
                            frames.push(Frame { from: at, out: out.len(), then, quoted });
                            quoted = false;
                            shown = 0..0;
                        }
                    }
                }
                '}' if !quoted => {
                    if let Some(frame) = frames.pop() {
                        quoted = frame.quoted;
                        shown = 0..0;
                        silent -= usize::from(!matches!(frame.then, Then::Inside));
                        match frame.then {
                            Then::Text(value) if silent == 0 => out.push_str(&value),
                            Then::Written if silent == 0 => {
                                out.push_str(text.get(frame.from..=at).unwrap_or_default());
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
            if silent == 0 {
                out.push_str(rest.get(shown).unwrap_or_default());
            }
            at += step;
        }
        if let Some(open) = frames.first() {
            out.truncate(open.out);
            out.push_str(text.get(open.from..).unwrap_or_default());
        }
        out
    }

    /// Whether the escape character escapes the character after it.
    fn escapes(&self, next: char, quoted: bool) -> bool {
        match (self.quotes, quoted) {
            (false, _) => next == '$',
            (true, false) => true,
            (true, true) => next == '$' || next == '"' || next == self.escape,
        }
    }

    /// The value of a variable, unless it exceeds the limit.
    fn value(&self, name: &str, written: usize) -> Option<String> {
        (self.value)(name).filter(|value| value.len() <= self.most.saturating_sub(written))
    }

    fn then(&self, name: &str, colon: bool, sign: char, written: usize) -> Then {
        let known = (self.value)(name).filter(|value| !colon || !value.is_empty());
        match (sign, known) {
            ('-' | '?', Some(value)) if value.len() <= self.most.saturating_sub(written) => Then::Text(value),
            ('-', None) | ('+', Some(_)) => Then::Inside,
            ('+', None) => Then::Nothing,
            _ => Then::Written,
        }
    }
}

/// The variable at the start of a text that begins with a dollar sign, and its length.
fn variable(text: &str) -> (Variable<'_>, usize) {
    let none = (Variable::None, 1);
    let rest = text.get(1..).unwrap_or_default();
    let Some(inside) = rest.strip_prefix('{') else {
        return match name(rest) {
            "" => none,
            name => (Variable::Simple(name), 1 + name.len()),
        };
    };
    let name = name(inside);
    let after = inside.get(name.len()..).unwrap_or_default();
    if name.is_empty() {
        return none;
    }
    if after.starts_with('}') {
        return (Variable::Simple(name), 3 + name.len());
    }
    let colon = after.starts_with(':');
    match after.get(usize::from(colon)..).and_then(|after| after.chars().next()) {
        Some(sign @ ('-' | '+' | '?')) => {
            (Variable::Modified(name, colon, sign), 3 + name.len() + usize::from(colon))
        }
        Some(sign @ ('#' | '%' | '/')) if !colon => (Variable::Modified(name, false, sign), 3 + name.len()),
        _ => none,
    }
}

/// The variable name at the start of a text: digits, a special parameter, or letters, digits and `_`.
fn name(text: &str) -> &str {
    let end = match text.chars().next() {
        Some('0'..='9') => text.find(|c: char| !c.is_ascii_digit()),
        Some('@' | '*' | '#' | '?' | '-' | '$' | '!') => Some(1),
        _ => text.find(|c: char| !(c.is_alphanumeric() || c == '_')),
    };
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}
