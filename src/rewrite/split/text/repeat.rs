//! Instructions of the build stage that a new stage needs again.

use super::Writer;
use crate::formats::dockerfile::Keyword;

impl Writer<'_, '_, '_, '_, '_> {
    /// Repeats instructions of the build stage that say how the image is run.
    pub(super) fn repeat(&mut self, keywords: &[Keyword]) {
        let file = self.stage.file;
        let before = &self.stage.steps[..self.stage.tail];
        let tail = &self.stage.steps[self.stage.tail..];
        for keyword in keywords {
            let of_kind: Vec<usize> =
                before.iter().copied().filter(|step| file.instructions[*step].keyword == *keyword).collect();
            let last_counts = matches!(
                keyword,
                Keyword::Shell
                    | Keyword::StopSignal
                    | Keyword::Healthcheck
                    | Keyword::WorkDir
                    | Keyword::User
                    | Keyword::Entrypoint
                    | Keyword::Cmd
            );
            let replaced =
                last_counts && tail.iter().any(|step| file.instructions[*step].keyword == *keyword);
            let wanted = match () {
                () if replaced && *keyword != Keyword::WorkDir => continue,
                () if last_counts => of_kind.last().copied().into_iter().collect(),
                () => of_kind,
            };
            for step in wanted {
                if *keyword == Keyword::Arg && !self.is_used(step) {
                    continue;
                }
                let line = file.instructions[step].line;
                let text = match *keyword {
                    Keyword::WorkDir => match self.folder(step) {
                        Some(folder) => format!("{} {folder}", self.word("WORKDIR")),
                        None => self.stage.text(step).to_owned(),
                    },
                    _ => self.stage.text(step).to_owned(),
                };
                let text = text.replace("\r\n", "\n");
                self.add(&text, format!("As on line {line}: a new stage does not inherit it."), None);
            }
        }
    }

    /// Whether an argument is named by something that is repeated or stays at the end.
    pub(super) fn is_used(&self, step: usize) -> bool {
        let file = self.stage.file;
        let names: Vec<&str> = file.instructions[step]
            .words
            .iter()
            .map(|word| word.text.split('=').next().unwrap_or_default())
            .filter(|name| !name.is_empty())
            .collect();
        let how = self.stage.steps.iter().filter(|step| {
            !matches!(
                file.instructions[**step].keyword,
                Keyword::Run | Keyword::Copy | Keyword::Add | Keyword::Arg
            )
        });
        let mut texts = how.map(|step| self.stage.text(*step));
        texts.any(|text| {
            names
                .iter()
                .any(|name| text.contains(&format!("${name}")) || text.contains(&format!("${{{name}")))
        })
    }

    /// The working folder after an instruction, when it is no absolute path itself.
    pub(super) fn folder(&self, step: usize) -> Option<String> {
        let file = self.stage.file;
        let own = file.instructions[step].words.first()?.text.as_str();
        if own.starts_with(['/', '$']) {
            return None;
        }
        let config = self.keep.world.input.image.config.as_ref()?.config().as_ref()?;
        config.working_dir().clone().filter(|folder| folder.starts_with('/'))
    }
}
