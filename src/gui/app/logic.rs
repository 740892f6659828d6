//! Logic without painting: job updates, requests of panels, commands.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use super::commands::command;
use super::{App, Phase, Request, Tab};
use crate::cache::Cache;
use crate::gui::dialogs::Pick;
use crate::gui::models::findings::PlanChange;
use crate::gui::models::typed::tidy;
use crate::gui::views::gpu::MachineView;
use crate::gui::views::{Action, View};

/// Refresh interval of progress counters.
const TICK: Duration = Duration::from_millis(100);

impl App {
    /// Polls jobs and dialogs.
    pub(super) fn poll(&mut self) {
        let Self { tabs, log, settings, options, .. } = self;
        for tab in tabs {
            let news = tab.poll();
            for message in tab.new_messages() {
                log.message(&tab.title, message);
            }
            if !news {
                continue;
            }
            let warnings = tab.new_warnings();
            log.warnings(tab.id, &tab.title, warnings);
            match &tab.phase {
                Phase::Failed(failure) => log.error(&tab.title, failure.message.clone()),
                Phase::Done => settings.remember(&tab.text),
                Phase::Asking | Phase::Running | Phase::Stopping | Phase::Cancelled => {}
            }
        }
        options.cache.iter().flat_map(Cache::take_notes).for_each(|note| log.note(note));
        self.machine.poll();
        self.poll_remote();
        self.poll_dialogs();
        self.poll_drops();
        if self.is_busy() {
            self.context.request_repaint_after(TICK);
        }
        if let Some(left) = self.dialogs.late_in() {
            self.context.request_repaint_after(left + Duration::from_millis(10));
        }
        self.set_title();
    }

    /// Runs the actions of panels and views.
    pub(super) fn carry_out(&mut self) {
        let requests = std::mem::take(&mut self.requests);
        if !requests.is_empty() {
            self.context.request_repaint();
        }
        for request in requests {
            match request {
                Request::Run(command) => {
                    if (command.when)(self).is_ok() {
                        (command.run)(self);
                    }
                }
                Request::Open(text) => self.open(&text),
                Request::Front(tab) => self.front = Some(tab),
                Request::Close(tab) => self.close(tab),
                Request::Cancel(tab) => {
                    if let Some(tab) = self.tabs.iter_mut().find(|open| open.id == tab) {
                        tab.cancel();
                    }
                }
                Request::Again(tab) => self.again(tab),
                Request::Show(view) => self.show_view(view),
                Request::Machine => self.show_machine(),
                Request::Start => self.show_start(),
                Request::Copy(text) => self.context.copy_text(text),
                Request::Log(open) => self.log_open = open,
                Request::Login(tab) => self.login_for(tab),
            }
        }
    }

    /// Runs an action of a view in the front tab.
    pub(crate) fn act(&mut self, action: Action) {
        if let Action::CopyText(text) = action {
            self.context.copy_text(text);
            return;
        }
        let Some(tab) = self.front_tab_mut() else { return };
        match action {
            Action::ShowView(view) => self.show_view(view),
            Action::SelectPath(path) => {
                tab.layers.select_path(path);
                tab.view = View::Layers;
            }
            Action::SelectLayer(layer) => {
                tab.layers.select_layer(layer);
                tab.view = View::Layers;
            }
            Action::SelectFinding(id) => {
                tab.findings.select(&id);
                tab.view = View::Findings;
            }
            Action::ChangePlan(change) => tab.plan.change(change),
            Action::LoadPlan(saved) => {
                let loaded = tab.plan.load(saved);
                let (title, error) = (tab.title.clone(), loaded.as_ref().err().cloned());
                tab.findings.plan_loaded(loaded);
                if let Some(error) = error {
                    self.log.error(&title, error);
                }
            }
            Action::Command(id) => self.requests.extend(command(id).map(Request::Run)),
            Action::Pick(pick) => self.ask(pick),
            Action::Report(error) => {
                let title = tab.title.clone();
                self.log.error(&title, error);
            }
            Action::CopyText(_) => {}
            Action::OpenImage(text) => self.open(&text),
            Action::OpenBeside(text) => self.open_beside(&text),
            Action::ShowPathIn(id, path) => self.in_tab(id, |tab| {
                tab.layers.select_path(path);
                tab.view = View::Layers;
            }),
            Action::ShowLayerIn(id, layer) => self.in_tab(id, |tab| {
                tab.layers.select_layer(layer);
                tab.view = View::Layers;
            }),
            Action::ShowTab(id) => self.in_tab(id, |_| ()),
            Action::Again(id) => self.again(id),
            Action::CancelTab(id) => self.requests.push(Request::Cancel(id)),
            Action::ShowLog => self.log_open = true,
            Action::Cancel => tab.cancel(),
        }
    }

    /// Opens an image in a new tab; one that is open already comes to the front.
    pub(crate) fn open(&mut self, text: &str) {
        let text = tidy(text);
        if text.is_empty() {
            return;
        }
        self.start.opened();
        if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.text == text) {
            let id = tab.id;
            let ended = matches!(tab.phase, Phase::Failed(_) | Phase::Cancelled);
            self.front = Some(id);
            if ended {
                self.again(id);
            }
            return;
        }
        self.front = Some(self.open_tab(&text));
    }

    /// Opens an image in a new tab, which stays behind the one in front.
    pub(super) fn open_tab(&mut self, text: &str) -> u64 {
        let id = self.next_tab;
        self.next_tab += 1;
        self.tabs.push(Tab::open(id, text, self.options.clone(), self.waker()));
        id
    }

    /// Opens what was dropped or picked.
    pub(crate) fn open_path(&mut self, path: &Path) {
        if let Some(text) = path.to_str() {
            self.open(text);
        } else {
            let shown = crate::base::text::printable(&path.display().to_string());
            let message = format!("Cannot open {shown}: its name is not UTF-8; rename it first");
            self.log.error("", &message);
            self.start.show_message(message);
            self.show_start();
        }
    }

    pub(crate) fn close(&mut self, id: u64) {
        let Some(place) = self.tabs.iter().position(|tab| tab.id == id) else { return };
        self.tabs.remove(place);
        self.log.forget(id);
        if self.front == Some(id) {
            let next = self.tabs.get(place).or_else(|| self.tabs.last());
            self.front = next.map(|tab| tab.id);
        }
    }

    pub(crate) fn again(&mut self, id: u64) {
        let (options, waker) = (self.options.clone(), self.waker());
        self.log.forget(id);
        if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.id == id) {
            tab.again(options, waker);
        }
    }

    pub(crate) fn show_start(&mut self) {
        (self.front, self.machine_alone) = (None, None);
        self.start.focus();
        if !self.remote.images.is_busy() {
            self.list_engines();
        }
    }

    /// Shows this machine's GPU: beside the image in front, or alone.
    pub(crate) fn show_machine(&mut self) {
        match self.front_tab_mut() {
            Some(tab) if tab.analysis.is_some() || tab.saved.is_some() => tab.view = View::Gpu,
            _ => (self.front, self.machine_alone) = (None, Some(MachineView::default())),
        }
    }

    pub(crate) fn check_machine(&mut self) {
        self.show_machine();
        let waker = self.waker();
        self.machine.run(&waker);
    }

    pub(crate) fn show_view(&mut self, view: View) {
        if view.unavailable(self.content()).is_none()
            && let Some(tab) = self.front_tab_mut()
        {
            tab.view = view;
        }
    }

    pub(crate) fn change_plan(&mut self, change: PlanChange) {
        if let Some(tab) = self.front_tab_mut() {
            tab.plan.change(change);
        }
    }

    pub(crate) fn find(&mut self) {
        if let Some(tab) = self.front_tab_mut() {
            match tab.view {
                View::Cuda => tab.cuda.focus_search(),
                View::Findings => tab.findings.focus_search(),
                View::Gpu => tab.gpu.focus_search(),
                View::Compare => tab.compare.focus_search(),
                _ => {
                    tab.view = View::Layers;
                    tab.layers.focus_search();
                }
            }
        }
    }

    pub(crate) fn ask(&mut self, pick: Pick) {
        if !self.dialogs.is_waiting() {
            self.asked_by = self.front;
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
        self.front = self.tabs.get(next).map(|tab| tab.id);
    }

    pub(crate) fn zoom(&mut self, percent: u16) {
        self.settings.set_zoom(percent);
        self.apply_settings();
    }

    pub(crate) fn apply_settings(&self) {
        self.context.set_theme(self.settings.theme);
        self.context.set_zoom_factor(self.settings.zoom());
    }

    /// Counts frames and closes the window after the set number of them, with a word on what they cost:
    /// processor time of this thread from one frame to the next, so painting counts and waiting does not.
    pub(super) fn count_frame(&mut self) {
        self.frames += 1;
        if let Some(on_frame) = &mut self.on_frame {
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

    fn set_title(&mut self) {
        let title = match self.front_tab() {
            Some(tab) => format!("{} – Cutaway", tab.title),
            None => "Cutaway".to_owned(),
        };
        if title != self.title {
            self.context.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }
}
