//! Instructions of the build stage that a new stage needs again.

use super::Writer;
use crate::formats::dockerfile::Keyword;
use crate::rewrite::split::words::word;

impl Writer<'_, '_, '_, '_, '_> {
    /// Repeats instructions of the build stage that say how the image is run.
    pub(super) fn repeat(&mut self, keywords: &[Keyword]) {
        let file = self.stage.file;
        let before = &self.stage.steps[..self.stage.tail];
        let tail = &self.stage.steps[self.stage.tail..];
        let of_kind =
            before.iter().copied().filter(|step| keywords.contains(&file.instructions[*step].keyword));
        let of_kind: Vec<usize> = of_kind.collect();
        let last_counts = keywords.iter().all(|keyword| {
            matches!(
                keyword,
                Keyword::Shell
                    | Keyword::StopSignal
                    | Keyword::Healthcheck
                    | Keyword::WorkDir
                    | Keyword::User
                    | Keyword::Entrypoint
                    | Keyword::Cmd
            )
        });
        let folder = keywords.contains(&Keyword::WorkDir);
        let replaced =
            last_counts && tail.iter().any(|step| keywords.contains(&file.instructions[*step].keyword));
        if replaced && !folder || self.is_taken_back(keywords) {
            return;
        }
        let wanted: Vec<usize> =
            if last_counts { of_kind.last().copied().into_iter().collect() } else { of_kind };
        for step in wanted {
            let instruction = &file.instructions[step];
            if instruction.keyword == Keyword::Arg && !self.is_used(step) {
                continue;
            }
            let text = match self.folder(step).filter(|_| folder) {
                Some(folder) => format!("{} {folder}", self.word("WORKDIR")),
                None => self.stage.text(step).to_owned(),
            };
            let text = text.replace("\r\n", "\n");
            self.add(
                &text,
                format!("As on line {}: a new stage does not inherit it.", instruction.line),
                None,
            );
        }
    }

    /// An entrypoint takes the command of the stage before it away: then the image has none.
    fn is_taken_back(&self, keywords: &[Keyword]) -> bool {
        let config = self.keep.world.input.image.config.as_ref().and_then(|config| config.config().as_ref());
        let empty = |list: &Option<Vec<String>>| list.as_ref().is_none_or(Vec::is_empty);
        match keywords {
            [Keyword::Cmd] => config.is_some_and(|config| empty(config.cmd())),
            [Keyword::Entrypoint] => config.is_some_and(|config| empty(config.entrypoint())),
            _ => false,
        }
    }

    /// Whether an argument is named by something that is repeated or stays at the end.
    pub(super) fn is_used(&self, step: usize) -> bool {
        let words = self.stage.file.instructions[step].words.iter();
        words.map(|word| word.text.split('=').next().unwrap_or_default()).any(|name| self.used.contains(name))
    }

    /// The working folder after an instruction, when it is no absolute path itself.
    pub(super) fn folder(&self, step: usize) -> Option<String> {
        let file = self.stage.file;
        let own = file.instructions[step].words.first()?.text.as_str();
        if own.starts_with(['/', '$']) {
            return None;
        }
        let (before, tail) = self.stage.steps.split_at(self.stage.tail);
        let is_folder = |step: &&usize| file.instructions[**step].keyword == Keyword::WorkDir;
        let end = before.iter().position(|one| *one == step).map_or(before.len(), |at| at + 1);
        let mut folder: Option<String> = None;
        for word in
            before[..end].iter().filter(is_folder).filter_map(|step| file.instructions[*step].words.first())
        {
            folder = match word.text.as_str() {
                whole if whole.starts_with('/') => Some(whole.to_owned()),
                part if part.starts_with('$') => None,
                part => folder.map(|above| format!("{}/{part}", above.trim_end_matches('/'))),
            };
        }
        let config = || {
            let config = self.keep.world.input.image.config.as_ref()?.config().as_ref()?;
            word(config.working_dir().as_deref()?.as_bytes()).filter(|folder| folder.starts_with('/'))
        };
        // What the image has in the end is this folder when no other comes after it.
        folder.or_else(|| config().filter(|_| !tail.iter().any(|step| is_folder(&step))))
    }
}
