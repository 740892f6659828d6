//! Escapes text for Markdown, on GitHub and GitLab.
//!
//! Entities are sufficient for the Markdown parser, but not for what both sites detect in the parsed text: mentions,
//! issues, labels, addresses, emoji. These are broken by a zero-width space, as in Renovate; within code neither site
//! detects any.

/// A text that means only itself: no tags, links, tables, mentions, issues, emphasis or code. For one line of
/// prose, in a paragraph, a cell, a heading or the summary of something folded.
pub fn escape(text: &str) -> String {
    let text = text.trim();
    let mut safe = String::with_capacity(text.len() + text.len() / 4);
    let mut before = Before::default();
    for (place, character) in text.char_indices() {
        let rest = &text[place + character.len_utf8()..];
        let next = rest.chars().next();
        push(&mut safe, character, next, rest, &before);
        before.push(character);
    }
    safe
}

/// Context before a character.
#[derive(Default)]
struct Before {
    last: [Option<char>; 3],
    /// Whether all of it are digits: a number with a point or a bracket begins a list.
    digits: bool,
    any: bool,
}

impl Before {
    fn push(&mut self, character: char) {
        self.last = [self.last[1], self.last[2], Some(character)];
        self.digits = character.is_ascii_digit() && (self.digits || !self.any);
        self.any = true;
    }

    fn ends_with(&self, word: &str) -> bool {
        let last = self.last.iter().rev().copied().flatten();
        word.chars().rev().eq(last.take(word.len()).map(|character| character.to_ascii_lowercase()))
    }
}

/// Ends a word for mention detection, and is invisible.
const BREAK: &str = "&#8203;";

fn push(safe: &mut String, character: char, next: Option<char>, rest: &str, before: &Before) {
    let starts_word = next.is_some_and(|next| next.is_alphanumeric() || "_\"-+".contains(next));
    let ends_word = next.is_none_or(char::is_whitespace);
    let mark = |safe: &mut String, text: &str, is_broken: bool| {
        safe.push_str(text);
        if is_broken {
            safe.push_str(BREAK);
        }
    };
    match character {
        '<' => safe.push_str("&lt;"),
        '>' => safe.push_str("&gt;"),
        '`' => safe.push_str("&#96;"),
        '|' => safe.push_str("&#124;"),
        '\\' => safe.push_str("&#92;"),
        '*' => mark(safe, "&#42;", starts_word),
        ']' => safe.push_str("&#93;"),
        // A single dollar sign in an element begins no formula.
        '$' => mark(safe, "<span>&#36;</span>", starts_word),
        '&' => mark(safe, "&amp;", starts_word),
        '@' => mark(safe, "&#64;", starts_word),
        '#' => mark(safe, "&#35;", starts_word),
        '!' => mark(safe, "&#33;", starts_word),
        '~' => mark(safe, "&#126;", starts_word),
        '%' if starts_word => mark(safe, "%", true),
        '^' => mark(safe, "^", starts_word),
        '[' => mark(safe, "&#91;", starts_word),
        '{' if starts_word => mark(safe, "{", true),
        // Between letters it is part of a name in every dialect.
        '_' if before.last[2].is_some_and(char::is_alphanumeric)
            && next.is_some_and(char::is_alphanumeric) =>
        {
            safe.push('_');
        }
        '_' => safe.push_str("&#95;"),
        ':' => {
            let word = rest.split(char::is_whitespace).next().unwrap_or_default();
            let means = word.starts_with('/') || word.contains(':');
            mark(safe, if means { "&#58;" } else { ":" }, means);
        }
        '.' if before.ends_with("www") => mark(safe, "&#46;", true),
        '.' if before.digits && ends_word => safe.push_str("&#46;"),
        ')' if before.digits && ends_word => safe.push_str("&#41;"),
        '-' | '+' | '=' if !before.any => {
            mark(safe, &format!("&#{};", u32::from(character)), false);
        }
        // `GH-1` is an issue.
        '-' if before.ends_with("gh") || before.ends_with("gl") => mark(safe, "-", starts_word),
        other => safe.push(other),
    }
}

/// A text as code, with a fence that is longer than any in it.
pub(super) fn code(text: &str, in_table: bool) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    // Whether the backslash or the bar counts differs by dialect.
    if in_table && text.contains("\\|") {
        return format!("<code>{}</code>", escape(text));
    }
    let fence = "`".repeat(longest_run(text, '`') + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    let text = if in_table { text.replace('|', "\\|") } else { text.to_owned() };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A text as code within HTML.
pub(super) fn html_code(text: &str) -> String {
    format!("<code>{}</code>", text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
}

/// A block of code, fenced by more than is in it.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for character in text.chars() {
        run = if character == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::{code, escape, fenced};

    #[test]
    fn plain_texts_stay_as_they_are() {
        let plain = [
            "/usr/lib/a-b.so (x, y)",
            "libcudart.so.13: 10 from wheels",
            "97.5 % of it",
            "torch_cuda_x 2.10.0",
            "it's \"quoted\"",
            "3.68 MiB",
        ];
        for text in plain {
            assert_eq!(escape(text), text);
        }
    }

    #[test]
    fn what_means_something_means_it_no_more() {
        let hostile = "</td><script>|`a`[x](http://y)*_~@me #1 \\ &amp; !2 $x$ www.a.b GH-1 a@b.de :+1: ![";
        let shown = escape(hostile);
        for mark in ["</td", "<script", "|", "`", "[", "]", "*", "~", "@", "http:", "\\", "$", "www."] {
            assert!(!shown.contains(mark), "{mark:?} in {shown}");
        }
        // What both sites look for, they look for in the text that the entities make.
        let read = shown.replace("&#8203;", "\u{200b}").replace("&#124;", "|").replace("&#126;", "~");
        let read = read.replace("&#64;", "@").replace("&#35;", "#");
        let read =
            read.replace("&#33;", "!").replace("&#58;", ":").replace("&#46;", ".").replace("&#36;", "$");
        for mark in ["@me", "#1", "://", "!2", "$x", "www.a", "GH-1", "a@b", ":+1:"] {
            assert!(!read.contains(mark), "{mark:?} in {read}");
        }
        assert_eq!(escape("- a"), "&#45; a");
        assert_eq!(escape("1. a"), "1&#46; a");
        assert_eq!(escape("12) a"), "12&#41; a");
        assert_eq!(escape("a1. b"), "a1. b");
    }

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        assert_eq!(code("a", false), "`a`");
        assert_eq!(code("a``b", false), "```a``b```");
        assert_eq!(code("`", false), "`` ` ``");
        assert_eq!(code("a|b", true), "`a\\|b`");
        assert_eq!(code("a|b", false), "`a|b`");
        assert_eq!(code(" ", true), "");
        assert_eq!(code("a\\|b", true), "<code>a&#92;&#124;b</code>");
        assert_eq!(fenced("diff", "````\n"), "`````diff\n````\n`````\n");
        assert_eq!(fenced("", "a"), "```\na\n```\n");
    }
}
