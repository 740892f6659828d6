//! Edits of files with layers given in one line each. Layers are numbered by the `RUN`s, `COPY`s and `ADD`s of the last
//! stage and of those that it starts from, from 0.

mod caches;
mod copies;
mod merges;

use super::context::{Kind, Look, Waste, is_within};
use super::*;
use crate::formats::dockerfile::{Keyword, parse};
use crate::layer::EntryId;
use crate::rewrite::edit::apply;
use crate::rewrite::recipe::InstructionLayers;
use crate::rewrite::value::{Hint, Reason};

/// A file of a layer.
#[derive(Clone, Copy)]
struct File {
    layer: u16,
    path: &'static str,
    bytes: u64,
    by: Option<u16>,
    again: bool,
}

fn file(layer: u16, path: &'static str, bytes: u64) -> File {
    File { layer, path, bytes, by: None, again: false }
}

impl File {
    /// An upper layer deletes or replaces it.
    fn hidden_by(self, by: u16) -> Self {
        Self { by: Some(by), ..self }
    }

    /// An upper layer stores it again.
    fn again_in(self, by: u16) -> Self {
        Self { by: Some(by), again: true, ..self }
    }
}

/// Layers with only the given files.
struct Told<'a> {
    files: &'a [File],
    /// Paths that exist before all of them.
    before: &'a [&'a str],
    /// Other paths in the layers that store files again.
    beside: &'a [&'a str],
}

impl Look for Told<'_> {
    fn path(&self, _: u16, entry: EntryId) -> Vec<u8> {
        self.files[entry.0 as usize].path.into()
    }

    fn mode(&self, _: u16, _: EntryId) -> u16 {
        0o755
    }

    fn existed(&self, path: &str, _: u16) -> bool {
        self.before.contains(&path)
    }

    fn keeps(&self, _: &[u16], _: &[Kind]) -> bool {
        false
    }

    fn is_all_of(&self, _: &[u16], _: &[u16], path: &str) -> bool {
        !self.beside.iter().any(|one| is_within(one.as_bytes(), path))
    }
}

/// The result of the clean-ups.
struct Tidied {
    text: String,
    reasons: Vec<Reason>,
    hints: Vec<Hint>,
    assumed: Vec<String>,
    /// Paths that the new image lacks.
    gone: Vec<&'static str>,
}

fn tidied_with(text: &str, told: &Told<'_>) -> Tidied {
    let file = parse(text.as_bytes()).unwrap();
    let stages = file.stages();
    let parents = std::iter::successors(Some(stages.len() - 1), |stage| stages[*stage].parent);
    let chain: Vec<_> = parents.map(|stage| stages[stage].body.clone()).collect();
    let mut layers = 0..;
    let tie = |(place, one): (usize, &crate::formats::dockerfile::Instruction)| {
        let is_of_image = chain.iter().any(|body| body.contains(&place));
        let makes = is_of_image && matches!(one.keyword, Keyword::Run | Keyword::Copy | Keyword::Add);
        let layers = if makes { vec![layers.next().unwrap()] } else { Vec::new() };
        InstructionLayers { history: vec![place], layers, content_bytes: Some(1) }
    };
    let ties: Vec<InstructionLayers> = file.instructions.iter().enumerate().map(tie).collect();
    let waste = |(place, file): (usize, &File)| {
        let entry = EntryId(u32::try_from(place).unwrap());
        let cache = Kind::of_cache(file.path.as_bytes());
        let kind =
            if file.path.contains("/.git/") || file.path.contains(".o") { Kind::Artifact } else { cache };
        Waste {
            layer: file.layer,
            entry,
            bytes: file.bytes,
            kind,
            by: file.by,
            copy: file.again.then_some(entry),
        }
    };
    let mut waste: Vec<Waste> = told.files.iter().enumerate().map(waste).collect();
    waste.sort_by_key(|one| (one.layer, one.entry));
    let context = TidyContext::new(&file, "Dockerfile", &ties, &waste, told);
    let work = tidy(&context, &[]);
    let (text, reasons, left_out) = apply(text, &work.edits);
    assert!(left_out.is_empty(), "edits overlap: {:?}", work.edits);
    parse(text.as_bytes()).unwrap();
    let gone = work.gone.iter().map(|(_, entry)| told.files[entry.0 as usize].path).collect();
    Tidied { text, reasons, hints: work.hints, assumed: work.assumed, gone }
}

fn tidied(text: &str, files: &[File]) -> Tidied {
    tidied_with(text, &Told { files, before: &[], beside: &[] })
}

/// Asserts that a file becomes another one, with both kinds of line ends.
#[track_caller]
fn becomes(before: &str, files: &[File], after: &str) -> Tidied {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    // A carriage return inside a heredoc belongs to the shell.
    if !before.contains("<<") {
        assert_eq!(tidied(&crlf(before), files).text, crlf(after));
    }
    let tidied = tidied(before, files);
    assert_eq!(tidied.text, after);
    tidied
}

/// Asserts that a file is unchanged.
#[track_caller]
fn stays(text: &str, files: &[File]) -> Tidied {
    becomes(text, files, text)
}

#[test]
fn long_files_cost_little() {
    let (count, lists) = (1000_u16, "/var/lib/apt/lists/Packages");
    for (run, path) in [
        ("RUN apt-get update && apt-get install -y b\n", lists),
        ("RUN apt-get install -y b\n", lists),
        ("RUN b && pip install c && rm -rf /1\n", "/1"),
        ("COPY . /app\nRUN chown -R 1:1 /app\n", "/app/x"),
    ] {
        let text = format!("FROM a\n{}", run.repeat(usize::from(count)));
        let files: Vec<File> = (0..count - 1)
            .map(|layer| {
                let file = file(layer, path, 2 << 20);
                if path == "/app/x" { file.again_in(layer + 1) } else { file.hidden_by(layer + 1) }
            })
            .collect();
        assert_ne!(tidied(&text, &files).text, text);
    }
}

/// A file cut off anywhere is edited or left alone, and parses afterwards.
#[test]
fn parts_of_files_are_tidied_or_left_alone() {
    let text = "# syntax=docker/dockerfile:1\nFROM a\nWORKDIR /app\nRUN apt-get update \\\n  # why\n && apt-get install -y b;\nRUN <<EOF\nset -e\npip install c\nEOF\n\n# Hm.\nRUN rm /1 && \\\n chown -R 1:1 /app\nCOPY . .\nRUN chmod 755 . && d\n";
    let files = [
        file(0, "/var/lib/apt/lists/x", 5).hidden_by(1),
        file(0, "/1", 2 << 20).hidden_by(2),
        file(1, "/root/.cache/pip/x", 5),
        file(1, "/app/y", 2 << 20).again_in(2),
        file(3, "/app/z", 5).again_in(4),
    ];
    for end in 0..=text.len() {
        let part = &text[..end];
        if parse(part.as_bytes()).is_ok_and(|file| !file.stages().is_empty()) {
            tidied(part, &files);
            tidied(&part.replace('\n', "\r\n"), &files);
        }
    }
}

/// Bytes and applicability of each reason.
fn told(reasons: &[Reason]) -> Vec<(Option<u64>, Applicability)> {
    reasons.iter().map(|reason| (reason.bytes, reason.applicability)).collect()
}
