//! Logic without painting: job updates, requests of panels, commands.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use super::{App, LogSource, Phase, Tab};
use crate::analysis::Options;
use crate::cache::Cache;
use crate::gui::dialogs::Pick;
use crate::gui::models::inspector::{Inspector, InspectorPage, PathTarget};
use crate::gui::models::slim::SlimModel;
use crate::gui::models::typed::tidy;
use crate::gui::views::gpu::MachineView;
use crate::gui::views::{Action, Command, ImageView as _, TabViews, View};
use crate::settings::{TEXT_SIZES, Theme};

/// Refresh interval of progress counters.
const TICK: Duration = Duration::from_millis(100);

impl App {
    /// Polls jobs and dialogs.
    pub(super) fn poll(&mut self) {
        if std::mem::replace(&mut self.polled, true) {
            if !self.is_closing() {
                self.poll_tabs();
            }
        } else if !self.tabs.is_empty() {
            // An image waits for the first frame: painted without a GPU, both want every processor.
            self.context.request_repaint();
        }
        self.options.cache.iter().flat_map(Cache::take_notes).for_each(|note| self.log.note(note));
        self.machine.poll();
        self.poll_remote();
        self.poll_slim();
        self.poll_inspector();
        self.poll_dialogs();
        self.poll_drops();
        self.poll_watch();
        if self.is_busy() {
            self.context.request_repaint_after(TICK);
        }
        if let Some(left) = self.dialogs.late_in() {
            self.context.request_repaint_after(left + Duration::from_millis(10));
        }
        self.set_title();
    }

    /// Whether the window is about to close: nothing begins then.
    fn is_closing(&self) -> bool {
        self.context.input(|input| input.viewport().close_requested())
    }

    fn poll_tabs(&mut self) {
        let Self { tabs, log, remembered, .. } = self;
        for tab in tabs {
            let news = tab.poll();
            for message in tab.new_messages() {
                log.message(LogSource::image(tab.id, &tab.title), message);
            }
            if !news {
                continue;
            }
            let warnings = tab.new_warnings();
            log.warnings(tab.id, &tab.title, warnings);
            match &tab.phase {
                Phase::Failed(failure) => {
                    log.error(LogSource::image(tab.id, &tab.title), failure.message.clone());
                    remembered.remember_failure(&tab.text);
                }
                Phase::Done => remembered.remember(&tab.text),
                Phase::Asking | Phase::Running | Phase::Stopping | Phase::Cancelled => {}
            }
        }
    }

    /// Does what panels and views asked for.
    pub(super) fn carry_out(&mut self) {
        let actions = std::mem::take(&mut self.actions);
        if !actions.is_empty() {
            self.context.request_repaint();
        }
        for action in actions {
            self.act(action);
        }
    }

    fn act(&mut self, action: Action) {
        let front = self.front.unwrap_or_default();
        match action {
            Action::Run(command) => self.run(command),
            Action::ShowView(view) => self.run(Command::Show(view)),
            Action::SelectPath(path) => self.act(Action::ShowPathIn(front, path)),
            Action::ShowInTreemap(path) => self.in_view(View::Treemap, |views| {
                views.treemap.reveal(&path);
                views.layers.select_path(path);
            }),
            Action::SelectLayer(layer) => self.act(Action::ShowLayerIn(front, layer)),
            Action::SelectFinding(id) => {
                self.in_view(View::Findings, |views| views.findings.select(&id));
            }
            Action::ShowContents(target) => self.inspect(target, InspectorPage::Contents),
            Action::ShowWhy(target) => self.inspect(target, InspectorPage::Why),
            Action::PathMenu(target) => self.open_path_menu(front, target),
            Action::ShowFinding(id, page) => {
                self.in_view(View::Findings, |views| views.findings.show_page(&id, page));
            }
            Action::RowMenu(entries) => self.open_row_menu(entries),
            Action::PathMenuIn(id, target) => self.open_path_menu(id, target),
            Action::FilterFolder(raw) => self.in_view(View::Layers, |views| views.layers.filter_folder(&raw)),
            Action::ShowInCuda(raw) => self.in_view(View::Cuda, |views| views.cuda.select_path(raw)),
            Action::SavePath(target) => self.ask_to_save(target),
            Action::SaveInspected(to) => self.save_inspected(to, false),
            Action::OpenExternally => self.open_externally(),
            Action::AskSelection => self.in_view(View::Layers, |views| views.layers.ask_selection()),
            Action::SaveSelection(to) => {
                let (waker, options) = (self.waker(), self.options.clone());
                self.in_tab(front, |tab| tab.save_selection(&options, (to, false), &waker));
            }
            Action::CloseInspector => self.inspector = None,
            Action::ChangePlan(change) => self.in_tab(front, |tab| tab.plan.change(change)),
            Action::LoadPlan(saved) => {
                let Some(tab) = self.front_tab_mut() else { return };
                let loaded = tab.plan.load(saved);
                let error = loaded.as_ref().err().cloned();
                tab.views.findings.plan_loaded(loaded);
                if let Some(error) = error {
                    self.act(Action::Report(error));
                }
            }
            Action::Pick(pick) => self.ask(pick),
            Action::ShowLog => (self.log_open, self.log_of_all) = (true, false),
            Action::Report(error) => {
                let Self { tabs, front, log, .. } = self;
                let tab = tabs.iter().find(|tab| Some(tab.id) == *front);
                log.error(tab.map_or(LogSource::WINDOW, |tab| LogSource::image(tab.id, &tab.title)), error);
            }
            Action::CopyText(text) => self.context.copy_text(text),
            Action::OpenImage(text) => self.open(&text),
            Action::OpenBeside(text) => self.open_beside(&text),
            Action::ShowPathIn(id, path) => {
                self.show_in(id, View::Layers, |tab| tab.views.layers.select_path(path));
            }
            Action::ShowLayerIn(id, layer) => {
                self.show_in(id, View::Layers, |tab| tab.views.layers.select_layer(layer));
            }
            Action::ShowTab(id) => (self.front, self.settings_page) = (Some(id), None),
            Action::CloseTab(id) => self.close(id),
            Action::EditReference(id) => self.edit_reference(id),
            Action::Again(id) => self.again(id),
            Action::ReloadChanged(id, compare) => self.reload_changed(id, compare),
            Action::DismissChange(id) => self.dismiss_change(id),
            Action::ShowSlim => self.slim.iter_mut().for_each(|slim| slim.open = true),
            Action::CancelSlim => self.slim.iter().for_each(SlimModel::stop),
            Action::CancelTab(id) => self.in_tab(id, Tab::cancel),
            Action::LogIn(id) => self.login_for(id),
            Action::ShowMachine => self.show_machine(),
        }
    }

    pub(super) fn in_tab(&mut self, id: u64, act: impl FnOnce(&mut Tab)) {
        if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.id == id) {
            act(tab);
        }
    }

    /// Goes to a view of a tab, if it can be shown there, and does something with the tab.
    pub(super) fn show_in(&mut self, id: u64, view: View, act: impl FnOnce(&mut Tab)) {
        // A panel that has the room of the view would hide what is asked for.
        self.inspector.take_if(|inspector| inspector.covers && inspector.tab == id);
        if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.id == id) {
            if view.unavailable(tab.content()).is_none() {
                tab.view = view;
            }
            act(tab);
            (self.front, self.settings_page) = (Some(id), None);
        }
    }

    /// The same for the tab in front and its views.
    pub(super) fn in_view(&mut self, view: View, act: impl FnOnce(&mut TabViews)) {
        let front = self.front.unwrap_or_default();
        self.show_in(front, view, |tab| act(&mut tab.views));
    }

    pub(super) fn copy(&self, text: Option<String>) {
        if let Some(text) = text {
            self.context.copy_text(text);
        }
    }

    /// Opens an image in a new tab; one that is open already comes to the front.
    pub(crate) fn open(&mut self, text: &str) {
        let text = tidy(text);
        if text.is_empty() {
            return;
        }
        self.start.opened();
        self.settings_page = None;
        self.front = Some(self.tab_of(&text));
    }

    /// The tab of an image: a new one, or the one that has it, which tries again if it has failed.
    pub(super) fn tab_of(&mut self, text: &str) -> u64 {
        if let Some(tab) = self.tabs.iter().find(|tab| tab.text == text && !tab.earlier) {
            let id = tab.id;
            if matches!(tab.phase, Phase::Failed(_) | Phase::Cancelled) {
                self.again(id);
            }
            return id;
        }
        let (options, waker) = (self.options.clone(), self.waker());
        self.add_tab(|id| Tab::open(id, text, options, waker))
    }

    /// Adds a tab behind the one in front.
    pub(super) fn add_tab(&mut self, make: impl FnOnce(u64) -> Tab) -> u64 {
        let id = self.next_tab;
        self.next_tab += 1;
        let mut tab = make(id);
        if let Some(profile) = self.default_profile() {
            tab.views.deployment.set_profile(&profile);
        }
        self.tabs.push(tab);
        self.name_tabs();
        id
    }

    /// Opens what was dropped or picked.
    pub(crate) fn open_path(&mut self, path: &Path) {
        match self.text_of(path) {
            Ok(text) => self.open(text),
            Err(message) => {
                self.start.show_message(message);
                self.show_start();
            }
        }
    }

    /// A path as a reference; an error is in the log.
    pub(super) fn text_of<'a>(&mut self, path: &'a Path) -> Result<&'a str, String> {
        path.to_str().ok_or_else(|| {
            let shown = crate::base::text::printable(&path.display().to_string());
            let message = format!("Cannot open {shown}: its name is not UTF-8; rename it first");
            self.log.error(LogSource::WINDOW, &message);
            message
        })
    }

    pub(crate) fn close(&mut self, id: u64) {
        let Some(place) = self.tabs.iter().position(|tab| tab.id == id) else { return };
        self.tabs.remove(place);
        self.name_tabs();
        self.log.forget(id);
        // What is being written goes on.
        self.inspector.take_if(|inspector| inspector.tab == id);
        self.slim.take_if(|slim| slim.tab == id && !slim.is_writing());
        if self.front == Some(id) {
            let next = self.tabs.get(place).or_else(|| self.tabs.last());
            self.front = next.map(|tab| tab.id);
        }
        if self.tabs.is_empty() {
            self.start.focus();
        }
    }

    /// Closes a tab that could not be opened; its reference is there to be corrected.
    fn edit_reference(&mut self, id: u64) {
        let Some(text) = self.tabs.iter().find(|tab| tab.id == id).map(|tab| tab.text.clone()) else {
            return;
        };
        self.close(id);
        self.show_start();
        self.start.put(text);
    }

    pub(crate) fn again(&mut self, id: u64) {
        self.again_with(id, self.options.clone());
    }

    /// Reads the image of a tab again, with other options.
    pub(super) fn again_with(&mut self, id: u64, options: Options) {
        let waker = self.waker();
        self.log.forget(id);
        if let Some(inspector) = self.inspector.as_mut().filter(|inspector| inspector.tab == id) {
            // Versions are numbered by the analysis that goes.
            let opener = self.opener.clone();
            *inspector =
                Inspector::new(id, PathTarget::of(inspector.target.raw.clone()), inspector.page, opener);
        }
        if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.id == id) {
            tab.again(options, waker);
        }
    }

    pub(crate) fn show_start(&mut self) {
        (self.front, self.machine_alone, self.settings_page) = (None, None, None);
        self.start.focus();
        if !self.remote.images.is_busy() {
            self.list_engines();
        }
    }

    /// Shows this machine's GPU: beside the image in front, or alone.
    pub(crate) fn show_machine(&mut self) {
        self.settings_page = None;
        match self.front_tab_mut() {
            Some(tab) if tab.analysis.is_some() || tab.saved.is_some() => tab.view = View::Gpu,
            _ => (self.front, self.machine_alone) = (None, Some(MachineView::default())),
        }
    }

    pub(crate) fn find(&mut self) {
        if let Some(tab) = self.front_tab_mut()
            && !tab.views.get(tab.view).focus_search()
        {
            self.in_view(View::Layers, |views| {
                views.layers.focus_search();
            });
        }
    }

    pub(crate) fn ask(&mut self, pick: Pick) {
        if !self.dialogs.is_waiting() {
            self.asked_by = self.front_tab().map(|tab| (tab.id, tab.view));
        }
        let waker = self.waker();
        self.dialogs.open(pick, waker);
    }

    /// Brings the tab `by` places further to the front, around the end.
    pub(crate) fn step_tab(&mut self, by: isize) {
        let count = self.tabs.len();
        let at = self.tabs.iter().position(|tab| Some(tab.id) == self.front);
        let next = match at {
            Some(at) => (at + count).saturating_add_signed(by) % count.max(1),
            None => 0,
        };
        (self.front, self.settings_page) = (self.tabs.get(next).map(|tab| tab.id), None);
    }

    /// Sets the text size, in steps of ten percent.
    pub(crate) fn zoom(&mut self, percent: u16) {
        let percent = (percent.div_ceil(10) * 10).clamp(*TEXT_SIZES.start(), *TEXT_SIZES.end());
        self.change_settings(|settings| settings.text_size = percent);
    }

    pub(crate) fn set_theme(&mut self, theme: Theme) {
        self.change_settings(|settings| settings.theme = theme);
    }

    /// Counts frames and closes the window after the set number of them, with a word on what they cost:
    /// processor time of this thread from one frame to the next, so painting counts and waiting does not.
    pub(super) fn count_frame(&mut self) {
        self.frames += 1;
        if !self.is_closing()
            && let Some(on_frame) = &mut self.on_frame
        {
            on_frame();
        }
        let Some(last) = self.exit_after_frames else { return };
        self.context.request_repaint();
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let spent = Duration::try_from(spent).unwrap_or_default();
        let cost = spent.saturating_sub(std::mem::replace(&mut self.spent, spent));
        // What came before the second frame is the start of the program.
        if self.frames > 2 {
            self.costs.push(cost);
        }
        if self.frames < last {
            return;
        }
        self.context.send_viewport_cmd(egui::ViewportCommand::Close);
        self.costs.sort_unstable();
        if let (Some(longest), Some(median)) = (self.costs.last(), self.costs.get(self.costs.len() / 2)) {
            let count = self.costs.len();
            // A closed stderr must not keep the window open.
            writeln!(std::io::stderr(), "{count} frames: median {median:.2?}, longest {longest:.2?}").ok();
        }
    }
}
