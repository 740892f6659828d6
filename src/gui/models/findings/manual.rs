//! The page of the manual about a rule, as blocks to lay out. Knows as much of Markdown as the pages use.

/// A piece of a paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManualSpan {
    /// The words.
    pub text: String,
    /// Whether they are written in fixed width.
    pub code: bool,
}

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManualBlock {
    /// The head of a section.
    Heading(String),
    /// A paragraph.
    Text(Vec<ManualSpan>),
    /// An entry of a list.
    Point(Vec<ManualSpan>),
    /// Lines of a file or a shell.
    Code(String),
    /// Rows of cells, the heads first.
    Table(Vec<Vec<Vec<ManualSpan>>>),
}

/// The blocks of a page, without its title.
pub fn blocks(page: &str) -> Vec<ManualBlock> {
    let mut blocks = Vec::new();
    let mut paragraph = String::new();
    let mut code: Option<String> = None;
    for line in page.lines() {
        if let Some(text) = &mut code {
            if line.trim_end() == "```" {
                blocks.push(ManualBlock::Code(text.trim_end().to_owned()));
                code = None;
            } else {
                text.push_str(line);
                text.push('\n');
            }
            continue;
        }
        if let Some(cells) = line.strip_prefix('|').and_then(|line| line.trim_end().strip_suffix('|')) {
            end(&mut blocks, &mut paragraph);
            table_row(&mut blocks, cells);
            continue;
        }
        let starts = line.starts_with("```") || line.starts_with('#') || line.starts_with("- ");
        if starts || line.trim().is_empty() {
            end(&mut blocks, &mut paragraph);
        }
        if line.starts_with("```") {
            code = Some(String::new());
        } else if let Some(head) = line.strip_prefix("## ") {
            blocks.push(ManualBlock::Heading(head.trim().to_owned()));
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    end(&mut blocks, &mut paragraph);
    blocks.extend(code.map(|text| ManualBlock::Code(text.trim_end().to_owned())));
    blocks
}

/// A row below those of the table that came last, or of a new one; the line below the heads is none.
fn table_row(blocks: &mut Vec<ManualBlock>, cells: &str) {
    if cells.chars().all(|letter| matches!(letter, '-' | '|' | ':' | ' ')) {
        return;
    }
    // Within a cell, the sign is escaped.
    let cells = cells.replace("\\|", "\0");
    let row = cells.split('|').map(|cell| spans(&cell.trim().replace('\0', "|"))).collect();
    match blocks.last_mut() {
        Some(ManualBlock::Table(rows)) => rows.push(row),
        _ => blocks.push(ManualBlock::Table(vec![row])),
    }
}

fn end(blocks: &mut Vec<ManualBlock>, paragraph: &mut String) {
    let text = std::mem::take(paragraph);
    match text.strip_prefix("- ") {
        _ if text.is_empty() => {}
        Some(point) => blocks.push(ManualBlock::Point(spans(point))),
        None => blocks.push(ManualBlock::Text(spans(&text))),
    }
}

/// Words, and those between backticks. Stress is left out.
pub fn spans(text: &str) -> Vec<ManualSpan> {
    let parts = text.split('`').enumerate();
    let parts = parts.filter(|(_, part)| !part.is_empty());
    let span = |(place, part): (usize, &str)| match place % 2 {
        0 => ManualSpan { text: part.replace("**", ""), code: false },
        _ => ManualSpan { text: part.to_owned(), code: true },
    };
    parts.map(span).collect()
}
