//! Names of programs that a text starts: `subprocess.run(["ps", "aux"])`, `unzip -q data.zip`.
//!
//! The words of [`WORDS`](super::WORDS) decide about findings and are found wherever they may stand. These names are
//! any, so they count only in command position; a name that is no program of the image is of no interest.

use std::collections::BTreeSet;

use super::around::{is_in_call, is_lone, is_plain_constant, is_word_list};
use super::bounds::scheduled;
use super::command::without_prefix;
use super::comments::Comments;
use super::values::{is_of_commands, is_value, key_before};
use super::wrappers::{OF_SHELL, Shell, WRAPPERS};

/// Maximum names of one file. Real sources start some dozens at most.
pub(super) const PROGRAMS: usize = 256;
/// Maximum bytes of such a name.
pub(super) const PROGRAM_BYTES: usize = 32;
/// Bytes of a string or line that are looked at.
const REACH: usize = 512;

/// Words of a shell that are no programs.
const BUILTIN: [&[u8]; 22] = [
    b"alias",
    b"break",
    b"case",
    b"cd",
    b"continue",
    b"declare",
    b"done",
    b"esac",
    b"exit",
    b"export",
    b"fi",
    b"for",
    b"function",
    b"in",
    b"local",
    b"readonly",
    b"return",
    b"shift",
    b"source",
    b"trap",
    b"umask",
    b"unset",
];

/// The names in a text that starts programs, at most [`PROGRAMS`].
pub(super) fn started(text: &[u8], shell: &Shell<'_>, comments: &Comments) -> BTreeSet<Vec<u8>> {
    let has_case = shell.is_script && memchr::memmem::find(text, b"esac").is_some();
    let mut names = Names { has_case, ..Names::default() };
    let mut at = 0;
    let mut goes_on = false;
    let mut above: &[u8] = b"";
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let start = at;
        at += line.len();
        let line = line.trim_ascii_end();
        let above = std::mem::replace(&mut above, line);
        // Of a continued command only what begins another one is of interest.
        let ended = line.strip_suffix(b"\\").map(<[u8]>::trim_ascii_end);
        let begins = ended.is_none_or(|line| matches!(line.last(), Some(b'&' | b'|' | b';')));
        let is_first = !std::mem::replace(&mut goes_on, !begins);
        // Comments are looked for where something may be a command.
        let has_quote = || memchr::memchr3(b'\'', b'"', b'`', line).is_some();
        if line.is_empty()
            || !(shell.is_script || has_quote() || is_setting(line))
            || start == 0 && line.starts_with(b"#!")
            || comments.is_line(text, start)
            || comments.contains(start)
        {
            continue;
        }
        if shell.is_table {
            if let Some(command) = scheduled(&line[..line.len().min(REACH)]) {
                names.commands(command);
                let user = command.iter().position(u8::is_ascii_whitespace).unwrap_or(command.len());
                names.commands(command[user..].trim_ascii_start());
            }
        } else if shell.is_script {
            if is_first {
                names.commands(&line[..line.len().min(REACH)]);
            }
        } else {
            names.strings(line, above);
            names.value(line);
        }
    }
    names.found
}

/// Where the key of a setting ends.
fn setting(line: &[u8]) -> Option<usize> {
    memchr::memchr2(b'=', b':', &line[..line.len().min(REACH)])
}

/// Whether the value behind a key is a command: of a program, or of a step that is run.
fn starts_value(before: &[u8]) -> bool {
    is_value(before) || matches!(before, [.., b'=' | b':']) && is_of_commands(key_before(before))
}

/// Whether a line is a setting whose value is a command.
fn is_setting(line: &[u8]) -> bool {
    setting(line).is_some_and(|at| starts_value(&line[..=at]))
}

/// Whether a word is a path from the working directory: `./run.sh`.
fn is_relative(word: &[u8]) -> bool {
    word.starts_with(b"./") || word.starts_with(b"../")
}

#[derive(Default)]
struct Names {
    found: BTreeSet<Vec<u8>>,
    /// Whether the text is a script with `case`.
    has_case: bool,
}

impl Names {
    fn add(&mut self, word: &[u8]) {
        let word = word.trim_ascii_start();
        let is_quote = |byte: &&u8| b"'\"".contains(byte);
        let word = &word[word.iter().take_while(is_quote).count()..];
        let word = &word[..word.len() - word.iter().rev().take_while(is_quote).count()];
        let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let is_name = (2..=PROGRAM_BYTES).contains(&name.len())
            && name[0].is_ascii_alphanumeric()
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(byte));
        if !is_name || BUILTIN.contains(&name) || self.found.contains(name) {
            return;
        }
        if self.found.len() < PROGRAMS {
            self.found.insert(name.to_vec());
        }
    }

    /// The commands of a line of a shell.
    fn commands(&mut self, line: &[u8]) {
        // `start | run)` is a pattern of `case`.
        let closes = memchr::memchr2(b'(', b')', line).filter(|at| line[*at] == b')');
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.*?\"'[]".contains(byte);
        let is_word = |word: &[u8]| !word.is_empty() && word.iter().all(is_part);
        let are_words =
            |at: &usize| line[..*at].split(|byte| *byte == b'|').all(|word| is_word(word.trim_ascii()));
        let pattern = closes.filter(|at| self.has_case && are_words(at));
        let mut start =
            pattern.filter(|_| !line.trim_ascii_start().starts_with(b"case ")).map_or(0, |at| at + 1);
        for (at, byte) in line.iter().enumerate().skip(start) {
            let ends = match byte {
                b';' | b'&' | b'|' | b'(' | b')' | b'`' | b'\n' => true,
                // `${path}` is a variable.
                b'{' => line.get(at + 1).is_none_or(u8::is_ascii_whitespace),
                _ => false,
            };
            if ends {
                self.command(&line[start..at]);
                start = at + 1;
            }
        }
        self.command(&line[start..]);
    }

    /// The program of one command, and those that start it.
    fn command(&mut self, command: &[u8]) {
        let mut wrapped: Option<usize> = None;
        let mut before: &[u8] = b"";
        let mut of_shell = false;
        for word in command.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            let last = std::mem::replace(&mut before, word);
            let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            if of_shell {
                // `sh -c "ps aux"`
                if last.starts_with(b"-") && last.ends_with(b"c") {
                    return self.add(word);
                }
                continue;
            }
            if OF_SHELL.contains(&word) || matches!(word, b"which" | b"type" | b"hash" | b"$") {
                wrapped = wrapped.or(Some(0));
                continue;
            }
            if let Some((_, own)) = WRAPPERS.iter().find(|(known, _)| *known == name) {
                self.add(word);
                wrapped = Some(*own);
                continue;
            }
            let is_assignment = word.iter().position(|byte| *byte == b'=').is_some_and(|at| {
                at > 0 && word[..at].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            });
            if is_assignment || word.iter().any(|byte| matches!(byte, b'<' | b'>')) {
                continue;
            }
            match &mut wrapped {
                Some(_) if word.starts_with(b"-") => {}
                // The value of an option, or the command.
                Some(_) if last.starts_with(b"-") && last != b"--" => {
                    let is_value = !word[0].is_ascii_alphabetic();
                    self.add(word);
                    if !is_value && last.contains(&b'=') {
                        return;
                    }
                }
                Some(own) if *own > 0 => *own -= 1,
                Some(_)
                    if !(word[0].is_ascii_alphanumeric()
                        || b"/\"'".contains(&word[0])
                        || is_relative(word)) => {}
                Some(_) if word[0].is_ascii_digit() => {}
                _ => {
                    self.add(word);
                    of_shell = matches!(name, b"sh" | b"bash" | b"dash" | b"su");
                    if !of_shell {
                        return;
                    }
                }
            }
        }
    }

    /// Strings of a line that are commands. A call may begin at the end of the line above.
    fn strings(&mut self, line: &[u8], above: &[u8]) {
        let mut at = 0;
        while let Some(found) = memchr::memchr3(b'\'', b'"', b'`', &line[at..]) {
            let (quote, start) = (line[at + found], at + found + 1);
            let rest = &line[start..line.len().min(start + REACH)];
            let Some(length) = memchr::memchr(quote, rest) else {
                // No command is that long.
                let Some(length) = memchr::memchr(quote, &line[start..]) else { return };
                at = start + length + 1;
                continue;
            };
            let (head, content, after) = (&line[..start - 1], &rest[..length], &rest[length + 1..]);
            at = start + length + 1;
            let looks_like_one =
                content.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'/');
            let is_alone = !content.contains(&b' ');
            let after = after.trim_ascii_start();
            let before = without_prefix(head).trim_ascii_end();
            let begins = above.ends_with(b"(") || above.ends_with(b"[");
            let before = if before.is_empty() && begins { above } else { before };
            let is_command = looks_like_one
                && is_in_call(before, if is_alone { after } else { b"," })
                && !is_word_list(content, before, after)
                && !is_plain_constant(content, before)
                && !is_lone(content, before, after);
            if is_command {
                self.commands(content);
            }
        }
    }

    /// The command that is the value of a setting: `command=/usr/bin/rsync -a`.
    fn value(&mut self, line: &[u8]) {
        let Some(at) = setting(line) else { return };
        if starts_value(&line[..=at]) {
            let value = line[at + 1..].trim_ascii_start();
            self.commands(&value[..value.len().min(REACH)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::string_references::Sort;

    fn programs(text: &str) -> Vec<String> {
        let (shell, comments) = (Shell::of(text.as_bytes()), Comments::of(text.as_bytes(), Sort::Script));
        let found = started(text.as_bytes(), &shell, &comments);
        found.into_iter().map(|name| String::from_utf8(name).unwrap()).collect()
    }

    #[test]
    fn commands_of_scripts_and_sources_name_programs() {
        for (text, names) in [
            ("#!/bin/sh\nset -e\nwget -q http://x | gunzip > y\n", &["gunzip", "wget"][..]),
            ("#!/bin/sh\nif unzip -q a.zip; then rm a.zip; fi\n", &["rm", "unzip"]),
            ("#!/bin/sh\nA=1 timeout 60 java -jar x.jar || exit 1\n", &["java", "timeout"]),
            ("#!/bin/sh\n# ps\nx=$(identify -format %w a.png)\n", &["identify"]),
            ("#!/bin/sh\ncommand -v pdftotext >/dev/null\n", &["pdftotext"]),
            ("#!/bin/sh\nexec gosu app redis-server /etc/redis.conf\n", &["gosu", "redis-server"]),
            ("#!/bin/sh\nsh -c \"ps aux\"\n", &["ps", "sh"]),
            ("#!/bin/sh\nls \\\n  /srv\n", &["ls"]),
            ("#!/bin/sh\nexec ./more.sh -x\ngosu app ../run.sh\n", &["gosu", "more.sh", "run.sh"]),
            ("#!/bin/sh\ncd /srv && \\\n  unzip a.zip | \\\n  jq .\n", &["jq", "unzip"]),
            ("subprocess.run([\"ps\", \"aux\"])\n", &["ps"]),
            ("subprocess.check_output((\"/usr/bin/file\", path))\n", &["file"]),
            ("os.system('convert a.png b.jpg && rm a.png')\n", &["convert", "rm"]),
            ("path = shutil.which(\"gs\")\n", &["gs"]),
            ("CONVERT = \"soffice\"\n", &["soffice"]),
            ("command=/usr/bin/rsync -a /x /y\n", &["rsync"]),
            ("  run: wget -q http://x\npost_start: ssh x\nlabel: unzip\n", &["ssh", "wget"]),
            ("execSync(`exiftool -json ${path}`)\n", &["exiftool"]),
            (
                "cmd = [\"top\"]\nspawn([\"uptime\"])\nx = [\"convert\", \"a.png\", out]\n",
                &["convert", "top", "uptime"],
            ),
            ("incremental: {\n dependencies: [\"composite\"] }\nkinds = [\"file\", \"stream\"]\n", &[]),
            ("#!/bin/sh\ncase $1 in\n  Patch | patch) unzip x ;;\nesac\n", &["unzip"]),
            ("#!/bin/sh\ntag=$(curl -s x |\n  jq -r .tag)\ncase $1 in\nesac\n", &["curl", "jq"]),
            ("cmd_list = [\"ffmpeg\"]\nargs = [\"unrar\"]\n", &["ffmpeg", "unrar"]),
            (
                "MAILTO=\"\"\n*/5 * * * * root rsync -a /x /y\n@daily unzip x && jq .\n",
                &["jq", "root", "rsync", "unzip"],
            ),
            ("# Starts\n\nset -e\nwget -q http://x\nexec node server.js\n", &["node", "wget"]),
            ("\"scripts\": {\n  \"start\": \"curl -f http://x && node server.js\",\n}\n", &["curl", "node"]),
            (
                "(0, child_process_1.spawn)('unzip', args)\nawait promisify(exec)(`gs ${f}`)\nspawn(\n  'jq',\n  args,\n)\n",
                &["gs", "jq", "unzip"],
            ),
            ("subprocess.run(\n    [\n        \"unzip\",\n        \"-v\",\n    ],\n)\n", &["unzip"]),
            ("os.system(f\"unzip {x}\")\nself\"no\"\n", &["unzip"]),
            ("echo Starting\nunzip -q x.zip\n", &["echo", "unzip"]),
            ("REQ_FILE = \"file\",\nKIND = 'file'\nCONVERT = 'convert'\n", &["convert"]),
            ("{\"file\": upload, 'convert': 1}\nrequest.files['file']\nx.get(\"less\")\n", &[]),
        ] {
            assert_eq!(programs(text), names, "{text}");
        }
    }
}
