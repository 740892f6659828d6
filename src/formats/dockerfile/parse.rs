//! Text to instructions.

use super::check::check;
use super::fault::Fault;
use super::joined::line_at;
use super::value::{Dockerfile, Keyword, Piece, PieceKind, SyntaxError};
use super::{directive, instruction};

/// U+FEFF.
const MARK: &str = "\u{feff}";

/// Parses a Dockerfile. Time and memory grow with its length, which the caller limits.
///
/// # Errors
/// The first syntax error.
pub fn parse(bytes: &[u8]) -> Result<Dockerfile, SyntaxError> {
    let (text, broken) = match str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let (valid, rest) = bytes.split_at_checked(error.valid_up_to()).unwrap_or((bytes, &[]));
            (str::from_utf8(valid).unwrap_or_default(), rest.first())
        }
    };
    let mark = if text.starts_with(MARK) { MARK.len() } else { 0 };
    let mut file = Dockerfile {
        text: text.to_owned(),
        lines: std::iter::once(mark)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
            .collect(),
        shells: Vec::new(),
        escape: '\\',
        directives: Vec::new(),
        pieces: Vec::new(),
        instructions: Vec::new(),
    };
    let read = match broken {
        Some(byte) => Err(Fault::new(text.len(), format!("byte 0x{byte:02x} is not UTF-8"))),
        None => read(text, mark, &mut file),
    };
    match read {
        Ok(()) => {
            file.shells = file.shell_kinds();
            Ok(file)
        }
        Err(Fault { at, what }) => {
            let (line, column) = file.position(at);
            Err(SyntaxError { line, column, what })
        }
    }
}

fn read(text: &str, mark: usize, file: &mut Dockerfile) -> Result<(), Fault> {
    if mark > 0 {
        file.pieces.push(Piece { kind: PieceKind::ByteOrderMark, span: 0..mark });
    }
    // Directives precede everything else, also empty lines and comments.
    let mut top = true;
    let mut has_stage = false;
    let mut at = mark;
    while at < text.len() {
        let (end, next) = line_at(text, at);
        let line = text.get(at..end).unwrap_or_default();
        let content = line.trim_start();
        let content_at = end - content.len();
        let mut span = at..next;
        let kind = if content.is_empty() {
            top = false;
            PieceKind::Blank
        } else if content.starts_with('#') {
            let found = if top {
                directive::read(content, content_at, span.clone(), &file.directives)?
            } else {
                None
            };
            top = found.is_some();
            if let Some(directive) = found {
                if directive.name == "escape" {
                    file.escape = directive.value.chars().next().unwrap_or('\\');
                }
                file.directives.push(directive);
                PieceKind::Directive
            } else {
                PieceKind::Comment
            }
        } else {
            top = false;
            let mut instruction = instruction::read(text, content_at, file.escape)?;
            check(&instruction)?;
            match instruction.keyword {
                Keyword::From => has_stage = true,
                Keyword::Arg => {}
                keyword if !has_stage => {
                    let what = format!("{} before the first FROM", keyword.as_str());
                    return Err(Fault::new(instruction.keyword_span.start, what));
                }
                _ => {}
            }
            instruction.span.start = at;
            span.end = instruction.span.end;
            instruction.line = file.position(at).0;
            instruction.last_line = file.position(span.end.saturating_sub(1)).0;
            file.instructions.push(instruction);
            PieceKind::Instruction(file.instructions.len() - 1)
        };
        at = span.end;
        file.pieces.push(Piece { kind, span });
    }
    if has_stage {
        return Ok(());
    }
    let first = file.instructions.first();
    Err(match first {
        Some(instruction) => Fault::new(instruction.keyword_span.start, "no FROM"),
        None => Fault::new(mark, "no instructions"),
    })
}
