//! Texts that are broken or made to be slow. What is counted is work that ends; what is held is every promise
//! of `fuzz_dockerfile`.

use std::fmt::Write as _;

use cutaway::formats::dockerfile::{commands, fuzz_dockerfile, parse};

use super::corpus::files;
use super::read;

/// Bytes that mean something, put in place of others.
const PUT: &[u8] = b"\n\\`\"'<# \t\r=[$({-\0\xff";

#[test]
fn every_beginning_of_a_file_keeps_the_promises() {
    for (_, text) in files() {
        for end in 0..text.len() {
            fuzz_dockerfile(&text.as_bytes()[..end]);
        }
    }
}

#[test]
fn every_changed_byte_keeps_the_promises() {
    for (_, text) in files() {
        let mut bytes = text.into_bytes();
        for at in 0..bytes.len() {
            let before = bytes[at];
            bytes[at] = if at % 2 == 0 { before ^ (1 << (at / 2 % 8)) } else { PUT[at % PUT.len()] };
            fuzz_dockerfile(&bytes);
            bytes[at] = before;
        }
    }
}

#[test]
fn every_lost_or_doubled_line_keeps_the_promises() {
    for (_, text) in files() {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for at in 0..lines.len() {
            let lost: String = [&lines[..at], &lines[at + 1..]].concat().concat();
            let doubled: String = [&lines[..=at], &lines[at..]].concat().concat();
            fuzz_dockerfile(lost.as_bytes());
            fuzz_dockerfile(doubled.as_bytes());
        }
    }
}

#[test]
fn control_characters_and_lone_carriage_returns_are_ordinary() {
    let file = read("FROM a\nENV A=1\rB=2\u{0}\nRUN echo \u{1}\u{7f} b\n");
    let words: Vec<_> = file.instructions[1].words.iter().map(|word| word.text.as_str()).collect();
    assert_eq!(words, ["A=1", "B=2\0"]);
    assert!(commands(&file, 2).iter().all(|command| !command.plain));
    assert_eq!(file.line_end(), "\n");
    assert_eq!(read("FROM a\r\nRUN b\n").line_end(), "\r\n");
}

#[test]
fn long_texts_are_read() {
    let mebibyte: usize = 1 << 20;
    let some = 20_000;
    let mut many = "FROM a AS s0\n".to_owned();
    for number in 1..some {
        writeln!(many, "FROM s{} AS s{number}\nRUN a", number - 1).unwrap();
    }
    for text in [
        format!("FROM a\nRUN {}\n", "x".repeat(mebibyte)),
        format!("FROM a\nRUN {}\n", "x ".repeat(mebibyte / 8)),
        format!("FROM a\nENV A={}\n", "\\\\".repeat(mebibyte / 2)),
        format!("FROM a\nRUN a{}\n", " \\\n".repeat(mebibyte / 3)),
        format!("FROM a\nRUN a \\\n{}b\n", "# c\n".repeat(mebibyte / 4)),
        format!("FROM a\nCOPY {} /\n{}", "<<A ".repeat(some), "A\n".repeat(some)),
        format!("FROM a\nRUN [{}\"\"]\n", "\"\\n\",".repeat(some)),
        format!("FROM a\nRUN [\"sh\",\"-c\",\"{}\"]\n", "a;\\n".repeat(some)),
        format!("FROM a\nRUN {}{}\n", "[".repeat(some), "]".repeat(some)),
        format!("FROM a\nCOPY {} a b\n", "--x ".repeat(some)),
        format!("FROM a\nENV {}\n", "A=$A${A:-".repeat(some)),
        format!("{}FROM a\n", "ARG A=$A$A\n".repeat(some)),
        format!("FROM a\n{}", "\n".repeat(mebibyte / 4)),
        "\u{feff}".repeat(mebibyte / 3),
        many,
    ] {
        fuzz_dockerfile(text.as_bytes());
    }
}

#[test]
fn a_hundred_thousand_instructions_are_read() {
    let text = format!("FROM a\n{}", "RUN a\n".repeat(100_000));
    let file = parse(text.as_bytes()).unwrap();
    assert_eq!(file.instructions.len(), 100_001);
    assert_eq!(file.instructions[100_000].line, 100_001);
    assert_eq!(file.stages().len(), 1);
    assert_eq!((1..=100_000).map(|number| commands(&file, number).len()).sum::<usize>(), 100_000);
}
