//! Writing slim images: the sheet, its job, and the comparison at the end.

use super::{App, LogSource, Tab};
use crate::analysis::Options;
use crate::gui::models::slim::{SlimChoices, SlimModel, SlimResult, SlimSource};

impl App {
    /// Opens the sheet for the image in front, or shows the job that is running.
    pub(super) fn ask_slim(&mut self) {
        if let Some(model) = self.slim.as_mut().filter(|model| model.is_writing()) {
            model.open = true;
            return;
        }
        let Some(tab) = self.front_tab() else { return };
        let (id, title, source) = (tab.id, tab.title.clone(), source(tab));
        let before = self.slim.take().filter(|before| before.tab == id);
        let choices = before.map_or_else(SlimChoices::default, |before| before.choices.clone());
        self.slim = Some(SlimModel::new(id, title, source, choices));
    }

    pub(crate) fn write_slim(&mut self) {
        let waker = self.waker();
        if let Some(model) = &mut self.slim {
            model.write(&self.options, &waker);
        }
    }

    /// Reads the layers of which only tables of contents were read.
    pub(crate) fn read_all_layers(&mut self) {
        let Some(tab) = self.slim.as_ref().map(|model| model.tab) else { return };
        self.again_with(tab, Options { verify: true, ..self.options.clone() });
    }

    /// Takes what the jobs of the sheet have, and newer states of its image.
    pub(super) fn poll_slim(&mut self) {
        let waker = self.waker();
        let Some(model) = &mut self.slim else { return };
        if let Some(tab) = self.tabs.iter().find(|tab| tab.id == model.tab)
            && (tab.generation != model.generation() || tab.is_running() != model.is_loading())
        {
            model.update(source(tab));
        }
        let was_writing = model.is_writing();
        let written = model.poll(&waker);
        if was_writing && let Some(failure) = &model.failure {
            self.log.error(LogSource::image(model.tab, &model.title), failure.message.clone());
            model.open = true;
        }
        if let Some(written) = written {
            self.take_written(&written);
        }
    }

    /// The written image opens in a tab, and the comparison comes to the front.
    fn take_written(&mut self, written: &SlimResult) {
        let Some(model) = &self.slim else { return };
        let tab = model.tab;
        let source = LogSource::image(tab, &model.title);
        self.log.message(source, written.report.to_text().trim_end().to_owned());
        for note in &written.report.notes {
            self.log.message(source, note.clone());
        }
        if !model.open {
            self.slim = None;
        }
        // A name that was written over is read again.
        let known = self.tabs.iter().find(|open| open.text == written.reference).map(|open| open.id);
        if let Some(known) = known {
            self.again(known);
        }
        if self.tabs.iter().any(|open| open.id == tab) {
            self.front = Some(tab);
            self.open_beside(&written.reference);
        } else {
            self.open(&written.reference);
        }
        // The user named its registry to write there.
        if let Some(open) = self.tabs.iter_mut().find(|open| open.text == written.reference) {
            open.asked_already = true;
        }
    }
}

fn source(tab: &Tab) -> SlimSource {
    SlimSource {
        generation: tab.generation,
        loading: tab.is_running(),
        analysis: tab.analysis.clone(),
        plan: tab.plan.plan().clone(),
    }
}
