//! Texts put together at random: of fragments that mean something, and of instructions whose words are known.

use cutaway::formats::dockerfile::{commands, fuzz_dockerfile, parse};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

use super::corpus::edited;

const FRAGMENTS: &[&str] = &[
    "FROM a\n",
    "FROM a AS b\n",
    "from ${X:-y} as z\n",
    "RUN ",
    "ENV ",
    "COPY ",
    "ONBUILD ",
    "HEALTHCHECK CMD ",
    "ARG X=1\n",
    "SHELL [\"x\"]\n",
    "# syntax=a\n",
    "# escape=`\n",
    "# c\n",
    "\u{feff}",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "\\\n",
    "\\ \t\r\n",
    "`\n",
    "\\",
    "\\\\",
    "`",
    "a",
    "é",
    "=",
    "A=b",
    "\"",
    "'",
    "--x=y ",
    "--",
    "[",
    "]",
    "\"a\"",
    ",",
    "<<EOF",
    "<<-'E F'",
    "<<",
    "<",
    ">",
    ">&2",
    "EOF\n",
    "\tE F\n",
    "&&",
    "||",
    ";",
    ";;",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "}",
    "$",
    "${",
    "$(",
    "$((",
    ":-",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "case x in ",
    "esac",
    "[[ ",
    " ]]",
    "!",
    "f()",
    "#",
    "\0",
    "\u{1}",
];

/// Parts of shell texts.
const SHELL: &[&str] = &[
    "a",
    " b ",
    "'c d'",
    "\"e f\"",
    "\\ ",
    "\\\n",
    " # g",
    "\n",
    " && ",
    " || ",
    "; ",
    " | ",
    " & ",
    "(",
    ") ",
    " { ",
    "} ",
    "$(h)",
    "$(",
    "`i`",
    "${j:-k}",
    "$((1 + 2))",
    " > l",
    " 2>&1",
    " <<<m",
    " <<N",
    "\nN\n",
    " if ",
    " then ",
    " fi ",
    " for x in y; do ",
    " done ",
    " case z in ",
    " esac ",
    ";;",
    "[[ ",
    " ]]",
    "! ",
    "A=1 ",
    "$'x'",
    "\"",
    "'",
    "é",
];

fn word() -> impl Strategy<Value = String> {
    "[a-z0-9_./:$=é\"'\\\\ -]{1,8}".prop_map(|word| word)
}

/// How a word is written so that it says what it should, in more than one way.
fn written(word: &str, way: u8) -> String {
    let bare = !word.contains([' ', '"', '\'', '\\', '$', '#', '<']) && !word.starts_with('-');
    match way % 3 {
        0 if bare => word.to_owned(),
        1 if !word.contains('\'') => format!("'{word}'"),
        _ => {
            let escaped: String = word
                .chars()
                .flat_map(|c| matches!(c, '"' | '$' | '\\').then_some('\\').into_iter().chain([c]))
                .collect();
            format!("\"{escaped}\"")
        }
    }
}

/// What stands between words.
fn space() -> impl Strategy<Value = &'static str> {
    select(&[" ", "\t ", "  ", " \\\n", " \\\r\n  ", " \\  \n# c \\\n\n\t", "\\\n "][..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn fragments_keep_the_promises(parts in vec(select(FRAGMENTS), 0..60), from in any::<bool>()) {
        let start = if from { "FROM a\n" } else { "" };
        fuzz_dockerfile(format!("{start}{}", parts.concat()).as_bytes());
    }

    #[test]
    fn a_script_of_fragments_keeps_the_promises(parts in vec(select(FRAGMENTS), 0..60)) {
        fuzz_dockerfile(format!("FROM a\nRUN a{}", parts.concat()).as_bytes());
        fuzz_dockerfile(format!("FROM a\nRUN <<Z\n{}\nZ\n", parts.concat()).as_bytes());
    }

    #[test]
    fn plain_commands_of_fragments_can_be_edited(parts in vec(select(SHELL), 0..20), heredoc in any::<bool>()) {
        let script = parts.concat();
        let text = if heredoc { format!("FROM a\nRUN <<Z\na {script}\nZ\n") } else { format!("FROM a\nRUN a {script}\n") };
        if parse(text.as_bytes()).is_ok() {
            edited("fragments", &text);
        }
    }

    #[test]
    fn any_bytes_keep_the_promises(bytes in vec(any::<u8>(), 0..200)) {
        fuzz_dockerfile(&bytes);
    }

    #[test]
    fn words_say_what_was_written(
        list in vec((word(), any::<u8>(), space()), 2..12),
        keyword in prop_oneof![Just("COPY"), Just("RUN"), Just("CMD"), Just("VOLUME"), Just("EXPOSE"), Just("ADD")],
    ) {
        let mut text = format!("FROM a\n{keyword} ");
        for (word, way, space) in &list {
            text.push_str(&written(word, *way));
            text.push_str(space);
        }
        text.push_str("end\n");
        let file = parse(text.as_bytes()).unwrap();
        let words: Vec<_> = file.instructions[1].words.iter().map(|word| word.text.clone()).collect();
        let expected: Vec<_> = list.iter().map(|(word, ..)| word.clone()).chain(["end".to_owned()]).collect();
        assert_eq!(words, expected, "{text}");
        // The shell reads the same words.
        if keyword == "RUN" {
            let commands = commands(&file, 1);
            assert_eq!(commands.len(), 1, "{text}");
            let words: Vec<_> = commands[0].words.iter().map(|word| word.text.clone()).collect();
            assert!(commands[0].plain && words == expected, "{text}: {commands:?}");
        }
    }

    #[test]
    fn commands_are_those_that_were_written(
        list in vec((vec((word(), any::<u8>(), space()), 1..4), select(&["&&", "||", ";", "|"][..])), 1..8),
    ) {
        let mut text = "FROM a\nRUN ".to_owned();
        for (words, joiner) in &list {
            text.push_str("cmd ");
            for (word, way, space) in words {
                text.push_str(&written(word, *way));
                text.push_str(space);
            }
            text.push_str(joiner);
        }
        text.push_str(" end\n");
        let file = parse(text.as_bytes()).unwrap();
        let commands = commands(&file, 1);
        let said: Vec<Vec<_>> =
            commands.iter().map(|command| command.words.iter().map(|word| word.text.clone()).collect()).collect();
        let mut expected: Vec<Vec<_>> = Vec::new();
        for (words, _) in &list {
            expected.push(["cmd".to_owned()].into_iter().chain(words.iter().map(|(word, ..)| word.clone())).collect());
        }
        expected.push(vec!["end".to_owned()]);
        assert_eq!(said, expected, "{text}");
        assert!(commands.iter().all(|command| command.plain), "{text}");
        // The commands and what is before them are the arguments.
        let parts = commands.iter().flat_map(|command| [&command.before, &command.span]);
        let whole: String = parts.map(|span| file.slice(span)).collect();
        assert_eq!(whole, file.slice(&file.instructions[1].arguments), "{text}");
    }
}
