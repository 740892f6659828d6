//! Writing slim images: the sheet, its job, and the comparison at the end.

use super::App;
use crate::gui::models::slim::SlimModel;

impl App {
    /// Opens the sheet for the image in front, or shows the job that is running.
    pub(super) fn ask_slim(&mut self) {
        if let Some(model) = self.slim.as_mut().filter(|model| model.is_writing()) {
            model.open = true;
            return;
        }
        let Some(tab) = self.front_tab() else { return };
        let Some(analysis) = tab.analysis.clone() else { return };
        let mut model = SlimModel::new(tab.id, tab.title.clone(), analysis, tab.plan.plan().clone());
        if let Some(before) = self.slim.take().filter(|before| before.tab == model.tab) {
            (model.kind, model.name, model.zstd) = (before.kind, before.name.clone(), before.zstd);
            model.keep_base = before.keep_base;
        }
        self.slim = Some(model);
    }

    pub(crate) fn write_slim(&mut self) {
        let waker = self.waker();
        if let Some(model) = &mut self.slim {
            model.write(&self.options, &waker);
        }
    }

    /// Takes the written image: it opens in a tab, and the comparison comes to the front.
    pub(super) fn poll_slim(&mut self) {
        let waker = self.waker();
        let Some(model) = &mut self.slim else { return };
        let had = model.failure.is_some();
        let written = model.poll(&waker);
        if let Some(failure) = model.failure.as_ref().filter(|_| !had) {
            self.log.error(&model.title, failure.message.clone());
        }
        let Some(written) = written else { return };
        let tab = model.tab;
        self.log.message(&model.title, written.summary);
        self.slim = None;
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
