//! The commands in the string of `sh -c`, without expansion.

use crate::formats::dockerfile::{ShellCommand, is_assignment, script_commands};

/// Maximum length of a parsed string, in bytes; those of images have a few hundred.
const LINE_BYTES: usize = 64 << 10;
/// Maximum number of commands.
const COMMANDS: usize = 64;

/// The words of each command, without preceding assignments and the builtins that run it; files of redirections last.
pub(crate) fn commands(line: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let line = String::from_utf8_lossy(&line[..line.len().min(LINE_BYTES)]);
    let is_before = |word: &Vec<u8>| matches!(word.as_slice(), b"exec" | b"command") || is_assignment(word);
    let words = |command: ShellCommand| {
        let words = command.words.into_iter().map(|word| word.text.into_bytes());
        let mut words = words.skip_while(is_before).peekable();
        words.peek()?;
        let files = command.writes.into_iter().chain(command.reads).map(String::into_bytes);
        Some(words.chain(files).collect())
    };
    script_commands(&line).into_iter().filter_map(words).take(COMMANDS).collect()
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
        assert_eq!(shown("if test -f x; then exec /bin/a; fi"), ["test|-f|x", "/bin/a"]);
        assert_eq!(shown("run 2>&1 | tee log"), ["run", "tee|log"]);
        assert_eq!(shown("(a; b)\nc \\\n d"), ["a", "b", "c|d"]);
        assert_eq!(shown("run <in >out"), ["run|out|in"]);
        assert_eq!(shown("'unclosed"), Vec::<String>::new());
        assert_eq!(shown(""), Vec::<String>::new());
        assert_eq!(shown(&"a;".repeat(1000)).len(), 64);
    }
}
