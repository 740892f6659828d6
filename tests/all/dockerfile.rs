//! Dockerfiles: a corpus of them, what is wrong with others, and texts that nobody wrote.

mod corpus;
mod faults;
mod fragments;
mod hostile;

use cutaway::formats::dockerfile::{Dockerfile, parse};

/// A file that is read; panics with its fault.
fn read(text: &str) -> Dockerfile {
    match parse(text.as_bytes()) {
        Ok(file) => file,
        Err(fault) => panic!("{fault}\n{text}"),
    }
}

/// Keywords and the texts of flags and words, one line for each instruction.
fn said(file: &Dockerfile) -> Vec<String> {
    let line = |instruction: &cutaway::formats::dockerfile::Instruction| {
        let flags: Vec<_> =
            instruction.flags.iter().map(|flag| format!("--{}={:?}", flag.name, flag.value)).collect();
        let words: Vec<_> = instruction.words.iter().map(|word| word.text.as_str()).collect();
        format!("{} {:?} {flags:?} {words:?}", instruction.keyword.as_str(), instruction.form)
    };
    file.instructions.iter().map(line).collect()
}
