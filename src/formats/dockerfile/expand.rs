//! Stages, and expansion of variables.

use hashbrown::HashMap;

use super::fill::Filling;
use super::joined::Joined;
use super::value::{Dockerfile, Instruction, Keyword, Span, Stage, Word};

/// Maximum bytes of a text after expansion, and of all base images of a file together: as large as a Dockerfile may be.
/// Nested variables could otherwise grow without bound.
const MOST_FILLED: usize = 1 << 20;

/// Maximum bytes of a base image's name: far more than a registry accepts.
const MOST_REFERENCE: usize = 4096;

impl Dockerfile {
    /// Line and column of an offset, both counted from 1; columns in characters. A leading byte order mark is not
    /// counted.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let offset = offset.min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or_default();
        let column = self.text.get(start..).map_or(0, |rest| {
            let end = offset.saturating_sub(start);
            rest.char_indices().take_while(|(at, character)| at + character.len_utf8() <= end).count()
        });
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column + 1).unwrap_or(u32::MAX))
    }

    /// The stages, in order.
    pub fn stages(&self) -> Vec<Stage> {
        let mut stages: Vec<Stage> = Vec::new();
        let mut named: HashMap<String, usize> = HashMap::new();
        let mut defaults: HashMap<String, String> = HashMap::new();
        let mut room = MOST_FILLED;
        for (number, instruction) in self.instructions.iter().enumerate() {
            if instruction.keyword != Keyword::From {
                match stages.last_mut() {
                    Some(stage) => stage.body.end = number + 1,
                    None => self.defaults(instruction, &mut defaults, &mut room),
                }
                continue;
            }
            let value = |name: &str| defaults.get(name).cloned();
            let base = instruction.words.first().map(|word| self.filled(&word.span, &value, &mut room));
            let base = base.unwrap_or_default();
            let flag = instruction.flags.iter().find(|flag| flag.name == "platform");
            let platform = flag.and_then(|flag| flag.value.as_deref());
            let platform =
                platform.map(|platform| self.fill(platform, &value, false, MOST_REFERENCE.min(room)));
            room = room.saturating_sub(platform.as_ref().map_or(0, String::len));
            let name = instruction.words.get(2).map(|word| word.text.to_ascii_lowercase());
            stages.push(Stage {
                from: number,
                body: number + 1..number + 1,
                name: name.clone(),
                parent: named.get(&base.to_ascii_lowercase()).copied(),
                base,
                platform,
            });
            named.extend(name.map(|name| (name, stages.len() - 1)));
        }
        stages
    }

    /// Records the values of an `ARG` before the first `FROM`.
    fn defaults(&self, instruction: &Instruction, known: &mut HashMap<String, String>, room: &mut usize) {
        for word in &instruction.words {
            let Some((name, _)) = word.text.split_once('=') else { continue };
            let filled = self.filled(&word.span, &|name: &str| known.get(name).cloned(), room);
            let value = filled.split_once('=').map(|(_, value)| value.to_owned());
            known.insert(name.to_owned(), value.unwrap_or_default());
        }
    }

    /// The text of a span with variables expanded and quotes removed.
    fn filled(&self, span: &Span, value: &dyn Fn(&str) -> Option<String>, room: &mut usize) -> String {
        let (joined, _) = Joined::lines(&self.text, span.clone(), self.escape);
        let filled = self.fill(joined.text(), value, true, MOST_REFERENCE.min(*room));
        *room = room.saturating_sub(filled.len());
        filled
    }

    fn fill(&self, text: &str, value: &dyn Fn(&str) -> Option<String>, quotes: bool, most: usize) -> String {
        Filling { escape: self.escape, quotes, most, value }.fill(text)
    }

    /// Expands `$NAME`, `${NAME}`, `${NAME:-other}` and `${NAME:+other}` in a text; a variable without a `value`
    /// remains as written. Quotes remain; an escaped dollar sign is literal.
    pub fn expand(&self, text: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
        self.fill(text, value, false, MOST_FILLED)
    }

    /// Expands the variables of a word as [`Dockerfile::expand`] does, but by the word's source: text in single quotes
    /// and escaped dollar signs are literal. For words parsed from this file, except those of the JSON form.
    pub fn expand_word(&self, word: &Word, value: &dyn Fn(&str) -> Option<String>) -> String {
        let (joined, _) = Joined::lines(&self.text, word.span.clone(), self.escape);
        self.fill(joined.text(), value, true, MOST_FILLED)
    }
}

#[cfg(test)]
mod tests;
