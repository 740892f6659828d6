//! The text of a `RUN` in Dockerfile syntax.

/// Commands longer than this are wrapped if their meaning stays the same.
const MAX_LINE: usize = 80;

/// The end marker of a heredoc around a text, unless a line of the text is the same.
const END: &str = "EOF";

/// Everything after the flags of a `RUN` in shell form; `None` when the command is not recorded.
pub(super) fn shell_form(command: &str) -> Option<String> {
    let command = command.trim();
    if command.is_empty() {
        return None;
    }
    if let Some((first, body)) = command.split_once('\n') {
        return heredoc(first.trim(), body);
    }
    let names =
        |word: &str| heredoc_name(word).is_some_and(|name| !name.starts_with(|c: char| c.is_ascii_digit()));
    if command.split_whitespace().any(names) {
        // A heredoc needs the lines that follow it.
        return None;
    }
    if command.contains("<<")
        || command.ends_with('\\')
        || command.starts_with('[')
            && serde_json::from_str::<Vec<String>>(command).is_err()
            && command.ends_with(']')
    {
        return Some(wrapped(command));
    }
    Some(broken(command))
}

/// Several lines come from a heredoc. `BuildKit` records the text for the shell; buildah the line of the Dockerfile and
/// the lines of the heredoc, without the end marker.
fn heredoc(first: &str, body: &str) -> Option<String> {
    let body = body.trim_end();
    let last = body.rsplit('\n').next().unwrap_or(body).trim_start_matches('\t');
    let mut names = first.split_whitespace().filter_map(heredoc_name);
    let Some(name) = names.next() else { return Some(wrapped(&format!("{first}\n{body}"))) };
    if names.next().is_some() && last != name {
        return None;
    }
    let alone = heredoc_name(first).is_some();
    let open = body.rsplit('\n').all(|line| line.trim_start_matches('\t') != name);
    Some(match (alone, open) {
        (true, true) => wrapped(body),
        (true, false) => {
            let end = body.len() - last.len();
            wrapped(if last == name { body[..end].trim_end() } else { body })
        }
        (false, true) => wrapped(&format!("{first}\n{body}\n{name}")),
        (false, false) => wrapped(&format!("{first}\n{body}")),
    })
}

/// A text in a heredoc, passed to the shell unchanged.
fn wrapped(text: &str) -> String {
    let mut name = END.to_owned();
    // Each number is used by one line at most.
    let lines: std::collections::BTreeSet<&str> = text.lines().map(str::trim).collect();
    let mut number = 1_u32;
    while lines.contains(name.as_str()) {
        name = format!("{END}{number}");
        number = number.saturating_add(1);
    }
    // A heredoc that begins with `#!` would be a program of its own.
    let gap = if text.starts_with("#!") { "\n" } else { "" };
    format!("<<{name}\n{gap}{text}\n{name}")
}

/// The name of the heredoc that a word opens, by `BuildKit`'s rules.
pub(super) fn heredoc_name(word: &str) -> Option<&str> {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix("<<")?;
    let name = rest.strip_prefix('-').unwrap_or(rest).trim_matches(['"', '\'']);
    (!name.is_empty() && !name.contains('<')).then_some(name)
}

/// A command without superfluous white space, and a long chain with each part on its own line. Only white space outside
/// quotes is changed; a text with quotes that are not understood is unchanged.
fn broken(command: &str) -> String {
    let long = command.len() > MAX_LINE;
    let bytes = command.as_bytes();
    let mut out = String::with_capacity(command.len());
    let mut quote = None;
    // The text is written up to here.
    let mut done = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1).copied();
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => at += 1,
            (b'`', None | Some(b'"')) => return command.to_owned(),
            (b'$', None) if matches!(next, Some(b'\'' | b'"')) => return command.to_owned(),
            // A substitution within quotes has its own quotes.
            (b'$', Some(b'"')) if matches!(next, Some(b'(' | b'{')) => return command.to_owned(),
            (b'\'' | b'"', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            (b' ' | b'\t', None) => {
                let length = bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                let rest = bytes.get(at + length..).unwrap_or_default();
                if rest.starts_with(b"#") {
                    // The rest is a comment.
                    return command.to_owned();
                }
                out.push_str(&command[done..at]);
                out.push_str(if long && rest.starts_with(b"&&") { " \\\n    " } else { " " });
                at += length;
                done = at;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    if quote.is_some() {
        return command.to_owned();
    }
    out.push_str(&command[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::shell_form;

    fn form(command: &str) -> String {
        shell_form(command).unwrap()
    }

    #[test]
    fn chains_are_broken_only_outside_quotes() {
        let long = "x".repeat(80);
        assert_eq!(form("a  &&\t b"), "a && b");
        assert_eq!(
            form(&format!("a && b '  &&  ' && {long}")),
            format!("a \\\n    && b '  &&  ' \\\n    && {long}")
        );
        assert_eq!(
            form(&format!("a \"x  && \\\"\" &&  {long}")),
            format!("a \"x  && \\\"\" \\\n    && {long}")
        );
        // Escaped blanks belong to a word.
        assert_eq!(form("cp a\\  b"), "cp a\\  b");
        // Unsupported syntax is unchanged.
        for kept in ["a  && `b  && c`", "a  'b", "a  # b", "a  \"$(b  \"c\")\"", "a  $'b\\'  c'"] {
            assert_eq!(form(kept), kept);
        }
    }

    #[test]
    fn lines_stand_in_a_heredoc() {
        assert_eq!(form("set -e\necho EOF\nEOF\n"), "<<EOF1\nset -e\necho EOF\nEOF\nEOF1");
        assert_eq!(form("#!/bin/python\nprint()"), "<<EOF\n\n#!/bin/python\nprint()\nEOF");
        // As buildah records it: without the line that ends it.
        assert_eq!(form("<<END\necho one\necho two"), "<<EOF\necho one\necho two\nEOF");
        assert_eq!(form("<<END\necho one\nEND"), "<<EOF\necho one\nEOF");
        assert_eq!(form("cat <<END > /x\none"), "<<EOF\ncat <<END > /x\none\nEND\nEOF");
        assert_eq!(form("cat <<END > /x\none\nEND"), "<<EOF\ncat <<END > /x\none\nEND\nEOF");
        assert_eq!(form("echo $((1 << 3))"), "<<EOF\necho $((1 << 3))\nEOF");
        assert_eq!(form("a\\"), "<<EOF\na\\\nEOF");
        assert_eq!(shell_form("cat <<END > /x"), None);
        assert_eq!(shell_form("  "), None);
    }
}
