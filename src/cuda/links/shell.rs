//! Parser for the simple commands in the string of `sh -c`, without expansion.

/// Maximum length of a parsed string, in bytes; those of images have a few hundred.
const LINE_BYTES: usize = 64 << 10;
/// Maximum number of commands.
const COMMANDS: usize = 64;

/// Words of the shell grammar, and builtins, that may precede a command.
const BEFORE: [&[u8]; 10] =
    [b"exec", b"command", b"time", b"if", b"then", b"elif", b"else", b"while", b"do", b"!"];

/// The words of each simple command, without quotes and without preceding assignments, redirections and words
/// of the grammar. Variables are not expanded.
pub(crate) fn commands(line: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let line = &line[..line.len().min(LINE_BYTES)];
    let mut found = Vec::new();
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut escaped = false;
    for byte in line.iter().copied().chain([b'\n']) {
        if escaped {
            escaped = false;
            // A backslash before a line break joins the lines.
            if byte != b'\n' {
                word.get_or_insert_default().push(byte);
            }
        } else if byte == b'\\' && quote != Some(b'\'') {
            escaped = true;
        } else if quote == Some(byte) {
            quote = None;
        } else if quote.is_some() {
            word.get_or_insert_default().push(byte);
        } else if matches!(byte, b'\'' | b'"') {
            quote = Some(byte);
            word.get_or_insert_default();
        } else if byte.is_ascii_whitespace() || matches!(byte, b';' | b'&' | b'|' | b'(' | b')') {
            words.extend(word.take());
            // `2>&1` does not end a command.
            let redirects = byte == b'&' && words.last().is_some_and(|word| word.ends_with(b">"));
            if !matches!(byte, b' ' | b'\t' | b'\r') && !redirects {
                found.extend(command(std::mem::take(&mut words)));
            }
        } else {
            word.get_or_insert_default().push(byte);
        }
        if found.len() == COMMANDS {
            return found;
        }
    }
    found
}

/// The command without preceding words; `None` if no word is left.
fn command(words: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
    let is_before = |word: &Vec<u8>| {
        BEFORE.contains(&word.as_slice()) || word == b"{" || is_assignment(word) || is_redirection(word)
    };
    let words: Vec<Vec<u8>> = words.into_iter().skip_while(is_before).collect();
    (!words.is_empty()).then_some(words)
}

/// Whether a word is an assignment `NAME=value`.
pub(crate) fn is_assignment(word: &[u8]) -> bool {
    let Some(equals) = word.iter().position(|byte| *byte == b'=') else { return false };
    let name = &word[..equals];
    name.first().is_some_and(|byte| !byte.is_ascii_digit())
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

fn is_redirection(word: &[u8]) -> bool {
    let rest = word.iter().position(|byte| !byte.is_ascii_digit()).map_or(&b""[..], |at| &word[at..]);
    rest.starts_with(b">") || rest.starts_with(b"<")
}

#[cfg(test)]
mod tests {
    use super::commands;

    fn shown(line: &str) -> Vec<String> {
        let words = |words: Vec<Vec<u8>>| {
            words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>().join("|")
        };
        commands(line.as_bytes()).into_iter().map(words).collect()
    }

    #[test]
    fn simple_commands_are_found() {
        assert_eq!(shown("exec python3 -m app"), ["python3|-m|app"]);
        assert_eq!(shown("A=1 B='x y' ./run \"two words\" && cd /; ls"), ["./run|two words", "cd|/", "ls"]);
        assert_eq!(shown("if test -f x; then exec /bin/a; fi"), ["test|-f|x", "/bin/a", "fi"]);
        assert_eq!(shown("run 2>&1 | tee log"), ["run|2>|1", "tee|log"]);
        assert_eq!(shown("(a; b)\nc \\\n d"), ["a", "b", "c|d"]);
        assert_eq!(shown("'unclosed"), Vec::<String>::new());
        assert_eq!(shown(""), Vec::<String>::new());
        assert_eq!(shown(&"a;".repeat(1000)).len(), 64);
    }
}
