//! Secrets stay out of every output: which names hold one, and how text that may carry one is shown.

use std::borrow::Cow;

/// What stands in for a secret value.
pub const REDACTED: &str = "<redacted>";

const SECRET_WORDS: [&str; 6] = ["token", "secret", "password", "passwd", "credential", "key"];

/// Whether a variable, label or argument of this name is taken to hold a secret: its name contains
/// token, secret, password, passwd, credential or key, in any case.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// The value of `name` as it may be shown: redacted by name, and without user info in URLs.
pub fn value<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret_name(name) && !value.is_empty() { Cow::Borrowed(REDACTED) } else { url_user_info(value) }
}

/// A `NAME=VALUE` pair as it may be shown.
pub fn assignment(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, text)) => format!("{name}={}", value(name, text)),
        None => url_user_info(pair).into_owned(),
    }
}

/// The words of a command as they may be shown: values of options and assignments whose name tells a
/// secret are redacted, and user info in URLs.
pub fn words(words: &[String]) -> Vec<String> {
    let mut after_secret = false;
    let mut shown = Vec::with_capacity(words.len());
    for word in words {
        let is_option = word.starts_with('-');
        if after_secret && !is_option {
            shown.push(REDACTED.to_owned());
        } else {
            shown.push(assignment(word));
        }
        after_secret = is_option && !word.contains('=') && is_secret_name(word);
    }
    shown
}

/// Replaces the user info of every URL (`https://user:secret@host`) in `text`.
pub fn url_user_info(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(scheme_end) = rest.find("://") {
        let (before, after) = rest.split_at(scheme_end + 3);
        shown.push_str(before);
        let authority_end = after.find(ends_authority).unwrap_or(after.len());
        let authority = &after[..authority_end];
        match authority.rfind('@') {
            Some(at) => {
                shown.push_str(REDACTED);
                shown.push_str(&authority[at..]);
            }
            None => shown.push_str(authority),
        }
        rest = &after[authority_end..];
    }
    if shown.is_empty() {
        return Cow::Borrowed(text);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

fn ends_authority(c: char) -> bool {
    matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>') || c.is_whitespace()
}

/// An instruction of the history as it may be shown. Redacts the values of build arguments
/// (`|1 TOKEN=…`), of `ENV`, `ARG` and `LABEL`, of assignments and options in commands
/// (`TOKEN=…`, `--password …`, `X-Token: …`) whose name tells a secret, and user info in URLs.
pub fn instruction(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(word) = next_word(rest) {
        shown.push_str(word.gap);
        rest = word.rest;
        match secret_in(word.text, rest) {
            Some(Secret::InWord { keep }) => {
                shown.push_str(&word.text[..keep]);
                shown.push_str(REDACTED);
                rest = skip_value(rest, text, word.text);
            }
            Some(Secret::NextWord) => {
                shown.push_str(word.text);
                if let Some(value) = next_word(rest) {
                    shown.push_str(value.gap);
                    shown.push_str(REDACTED);
                    rest = value.rest;
                }
            }
            None => shown.push_str(word.text),
        }
    }
    shown.push_str(rest);
    url_user_info(&shown).into_owned()
}

struct Word<'a> {
    gap: &'a str,
    text: &'a str,
    rest: &'a str,
}

enum Secret {
    /// The value begins `keep` bytes into the word.
    InWord { keep: usize },
    /// The value is the word that follows.
    NextWord,
}

/// The next shell-like word: quotes and escaped spaces stay within it; `;`, `|` and `&` end it.
fn next_word(text: &str) -> Option<Word<'_>> {
    let start = text.find(|c: char| !c.is_whitespace())?;
    let (gap, body) = text.split_at(start);
    let mut quote = None;
    let mut escaped = false;
    let mut end = body.len();
    for (place, c) in body.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('\''), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, c) if place > 0 && (c.is_whitespace() || matches!(c, ';' | '|' | '&')) => {
                end = place;
                break;
            }
            _ => {}
        }
    }
    Some(Word { gap, text: &body[..end], rest: &body[end..] })
}

fn secret_in(word: &str, rest: &str) -> Option<Secret> {
    let opening = word.len() - word.trim_start_matches(['"', '\'', '(', '|']).len();
    let bare = &word[opening..];
    let name_end = bare
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .unwrap_or(bare.len());
    let name = &bare[..name_end];
    if !is_secret_name(name) {
        return None;
    }
    match bare[name_end..].chars().next() {
        // `KEY=` with nothing after it hides nothing.
        Some('=') if bare.len() > name_end + 1 => Some(Secret::InWord { keep: opening + name_end + 1 }),
        Some(':') if bare.len() > name_end + 1 && !bare[name_end..].starts_with("://") => {
            Some(Secret::InWord { keep: opening + name_end + 1 })
        }
        Some(':') if bare.len() == name_end + 1 && !rest.trim_start().is_empty() => Some(Secret::NextWord),
        // An option with its value apart; the next option is no value.
        None if name.starts_with('-') && !rest.trim_start().starts_with('-') => Some(Secret::NextWord),
        _ => None,
    }
}

/// Values of `ENV`, `ARG`, `LABEL` and of build arguments are recorded without their quotes, so a
/// value may go on over spaces: up to the next `NAME=`, the shell of a RUN, or the end.
fn skip_value<'a>(rest: &'a str, whole: &str, word: &str) -> &'a str {
    let head = whole.trim_start();
    let head = head.strip_prefix("/bin/sh -c #(nop)").unwrap_or(head).trim_start();
    let unquoted = ["ENV ", "ARG ", "LABEL ", "RUN |", "|"].iter().any(|start| head.starts_with(start));
    if !unquoted || word.ends_with(['"', '\'']) {
        return rest;
    }
    let mut left = rest;
    while let Some(next) = next_word(left) {
        let assigns = next.text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
        });
        if assigns || next.text.starts_with('/') || next.text.starts_with('#') {
            break;
        }
        left = next.rest;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::{assignment, instruction, url_user_info};

    #[test]
    fn values_go_by_name() {
        assert_eq!(assignment("HF_TOKEN=hf_abc"), "HF_TOKEN=<redacted>");
        assert_eq!(assignment("PATH=/usr/bin"), "PATH=/usr/bin");
        assert_eq!(assignment("API_KEY="), "API_KEY=");
        assert_eq!(
            assignment("INDEX=https://me:pw@pypi.example/simple"),
            "INDEX=https://<redacted>@pypi.example/simple"
        );
        assert_eq!(url_user_info("see https://example.org/a@b"), "see https://example.org/a@b");
    }

    #[test]
    fn commands_lose_their_secrets_only() {
        let text =
            ["serve", "--api-key", "abc", "--token=x", "--port", "80", "--key", "--fast", "http://u:p@h"];
        let shown = super::words(&text.map(str::to_owned));
        let wanted =
            ["serve", "--api-key", "<redacted>", "--token=<redacted>", "--port", "80", "--key", "--fast"];
        assert_eq!(shown[..8], wanted);
        assert_eq!(shown[8], "http://<redacted>@h");
    }

    #[test]
    fn instructions_lose_their_secrets_only() {
        let cases = [
            ("ENV API_KEY=abc def MODE=fast", "ENV API_KEY=<redacted> MODE=fast"),
            ("/bin/sh -c #(nop)  ENV TOKEN=abc", "/bin/sh -c #(nop)  ENV TOKEN=<redacted>"),
            (
                "RUN |2 MODE=x GIT_TOKEN=a b /bin/sh -c make # buildkit",
                "RUN |2 MODE=x GIT_TOKEN=<redacted> /bin/sh -c make # buildkit",
            ),
            ("|1 GIT_TOKEN=a b /bin/sh -c make", "|1 GIT_TOKEN=<redacted> /bin/sh -c make"),
            ("RUN export A_SECRET='x y' && run --fast", "RUN export A_SECRET=<redacted> && run --fast"),
            ("RUN login --password hunter2 --user me", "RUN login --password <redacted> --user me"),
            (
                "RUN curl -H \"X-Token: abc\" https://u:p@h/x",
                "RUN curl -H \"X-Token:<redacted> https://<redacted>@h/x",
            ),
            ("RUN apt-get install -y cuda-keyring", "RUN apt-get install -y cuda-keyring"),
            ("COPY keys/pub.key /etc/apt/keyrings/", "COPY keys/pub.key /etc/apt/keyrings/"),
        ];
        for (text, shown) in cases {
            assert_eq!(instruction(text), shown);
        }
    }
}
