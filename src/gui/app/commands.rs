//! When each command is available, and what it does.

use super::{App, Phase, Tab};
use crate::gui::dialogs::Pick;
use crate::gui::models::dockerfile::SaveKind;
use crate::gui::models::findings::PlanChange;
use crate::gui::models::inspector::InspectorPage;
use crate::gui::panels::HelpSheet;
use crate::gui::views::{Command, Needs, View};
use crate::gui::widgets::stops::{self, GoTo};
use crate::settings::{TEXT_SIZES, Theme};

/// Why what acts on an image cannot be done in a tab with a saved report.
const NEEDS_IMAGE: &str = "Not available in a saved report: open the image";

/// Why there are no views in a tab whose image could not be opened.
pub(crate) const NOT_OPENED: &str = "The image could not be opened";

fn unless(obstacle: bool, reason: &'static str) -> Result<(), &'static str> {
    if obstacle { Err(reason) } else { Ok(()) }
}

impl App {
    /// Why a command cannot run now.
    pub(crate) fn check(&self, command: Command) -> Result<(), &'static str> {
        let tab = self.front_tab().ok_or("Open an image first");
        let unsaved = |obstacle: bool, reason: &'static str| {
            let reason = if tab.is_ok_and(|tab| tab.saved.is_some()) { NEEDS_IMAGE } else { reason };
            unless(obstacle, reason)
        };
        match command.info().needs {
            Needs::Nothing => Ok(()),
            Needs::NoDialog => unless(self.dialogs.is_waiting(), "A file dialog is already open"),
            Needs::Repository if self.tags_of().is_some() => Ok(()),
            Needs::Repository if tab.is_ok() => Err("This image is not from a registry"),
            Needs::Repository => Err("Enter a registry image name first"),
            Needs::IdleEngines => unless(self.remote.images.is_busy(), "Already refreshing"),
            Needs::Logins => unless(!self.remote.has_logins(), "Not logged in"),
            Needs::Hosts => unless(!self.has_hosts(), "No registry is allowed yet"),
            Needs::Recent => unless(self.remembered.recent.is_empty(), "No recent images"),
            Needs::NoCheck => unless(self.machine.is_checking(), "A GPU check is already running"),
            Needs::Check if !self.machine.is_checking() => Err("No GPU check is running"),
            Needs::Check => unless(self.machine.is_stopping(), "The check is already stopping"),
            Needs::ZoomBelowMost => unless(self.settings.text_size >= *TEXT_SIZES.end(), "Maximum zoom"),
            Needs::ZoomAboveLeast => unless(self.settings.text_size <= *TEXT_SIZES.start(), "Minimum zoom"),
            Needs::Tabs => unless(self.tabs.is_empty(), "Open an image first"),
            Needs::Front => tab.map(drop),
            Needs::View(_) if tab.is_ok_and(Tab::has_failed) => Err(NOT_OPENED),
            Needs::View(view) => view.unavailable(self.content()).map_or(tab.map(drop), Err),
            Needs::Running => match tab?.phase {
                Phase::Running => Ok(()),
                Phase::Stopping => Err("Already stopping"),
                _ => Err("No work is running for this image"),
            },
            Needs::Ended if tab?.earlier => Err("The file has changed since"),
            Needs::Ended => unless(tab?.is_running(), "The image is still loading"),
            Needs::Searchable => unsaved(tab?.analysis.is_none(), "Nothing to search yet"),
            Needs::Loaded => unsaved(tab?.analysis.is_none(), "The image is not loaded yet"),
            Needs::Findings => unsaved(tab?.plan.prediction().is_none(), "Findings are not ready yet"),
            Needs::Undo => unsaved(!tab?.plan.can_undo(), "No change of the plan to undo"),
            Needs::Redo => unsaved(!tab?.plan.can_redo(), "No change of the plan to redo"),
            Needs::Proposal if tab?.views.dockerfile.chosen().is_some() => Ok(()),
            Needs::Proposal if tab?.views.dockerfile.model().is_some() => Err("No proposal for this image"),
            Needs::Proposal => {
                unsaved(true, "No proposal yet: open the Dockerfile view to compute proposals")
            }
            Needs::Dockerfile => {
                unsaved(tab?.views.dockerfile.given().is_none(), "No Dockerfile is open for this image")
            }
            Needs::Path => {
                unsaved(self.selected_target().is_none(), "Select a file or folder in Layers first")
            }
            Needs::File => match self.selected_target() {
                Some(target) if self.is_folder(tab?.id, &target) => {
                    Err("A folder has no contents: select a file")
                }
                target => unsaved(target.is_none(), "Select a file in Layers first"),
            },
            Needs::Comparable => View::Compare.unavailable(tab?.content()).map_or(Ok(()), Err),
            Needs::Compared => {
                unless(tab?.views.compare.columns().len() < 2, "No other image to compare with")
            }
            Needs::Comparison => unless(tab?.views.compare.model().is_none(), "No comparison is open"),
            Needs::Report => {
                let tab = tab?;
                let merged = tab.analysis.as_ref().is_some_and(|analysis| analysis.merge.is_some());
                unless(!merged && tab.saved.is_none(), "Layers are not merged yet")
            }
        }
    }

    /// The tooltip: what a command does, or why it cannot be done now.
    pub(crate) fn tooltip(&self, command: Command) -> &'static str {
        self.check(command).err().unwrap_or(command.info().about)
    }

    /// Whether a command is checked in its menu.
    pub(crate) fn is_chosen(&self, command: Command) -> bool {
        match command {
            Command::Show(view) => self.front_tab().is_some_and(|tab| tab.view == view),
            Command::Log => self.log_open,
            Command::Settings => self.settings_page.is_some(),
            Command::ThemeSystem => self.settings.theme == Theme::System,
            Command::ThemeLight => self.settings.theme == Theme::Light,
            Command::ThemeDark => self.settings.theme == Theme::Dark,
            Command::OnlyDifferences => {
                self.front_tab().is_some_and(|tab| tab.views.compare.only_differences())
            }
            _ => false,
        }
    }

    fn toggle_help(&mut self, sheet: HelpSheet) {
        self.help = if self.help.is_some() { None } else { Some(sheet) };
    }

    /// Runs a command, if it can run now.
    pub fn run(&mut self, command: Command) {
        if self.check(command).is_err() {
            return;
        }
        let (front, waker) = (self.front.unwrap_or_default(), self.waker());
        match command {
            Command::Show(view) => self.in_view(view, |_| ()),
            Command::NewTab => self.show_start(),
            Command::OpenArchive => self.ask(Pick::Archive),
            Command::OpenFolder => self.ask(Pick::Folder),
            Command::SampleDevel => self.open("sample:devel"),
            Command::SampleRuntime => self.open("sample:runtime"),
            Command::ListTags => self.list_tags(),
            Command::ListEngines => self.list_engines(),
            Command::LogIn => self.ask_login(None, None),
            Command::ForgetLogins => self.forget_logins(),
            Command::ForgetHosts => self.forget_hosts(),
            Command::ForgetRecent => self.remembered.recent.clear(),
            Command::Settings => self.show_settings(),
            Command::CloseTab => self.close(front),
            Command::Quit => self.context.send_viewport_cmd(egui::ViewportCommand::Close),
            Command::Find => self.find(),
            Command::NextPane => stops::go(&self.context, GoTo::Pane(true)),
            Command::PreviousPane => stops::go(&self.context, GoTo::Pane(false)),
            Command::UndoPlan => self.in_tab(front, |tab| tab.plan.undo()),
            Command::RedoPlan => self.in_tab(front, |tab| tab.plan.redo()),
            Command::Log => self.log_open = !self.log_open,
            Command::ThemeSystem => self.set_theme(Theme::System),
            Command::ThemeLight => self.set_theme(Theme::Light),
            Command::ThemeDark => self.set_theme(Theme::Dark),
            Command::ZoomIn => self.zoom(self.settings.text_size.saturating_add(10)),
            Command::ZoomOut => self.zoom(self.settings.text_size.saturating_sub(10)),
            Command::ZoomReset => self.zoom(100),
            Command::CheckGpu => {
                self.show_machine();
                self.machine.run(&waker);
            }
            Command::StopCheck => self.machine.stop(),
            Command::Again => self.again(front),
            Command::Cancel => self.in_tab(front, Tab::cancel),
            Command::CopyReference => {
                let text = self.front_tab().map(|tab| tab.shown.clone());
                self.copy(text);
            }
            Command::ShowContents => self.inspect_selected(InspectorPage::Contents),
            Command::ShowWhy => self.inspect_selected(InspectorPage::Why),
            Command::SelectSafe => self.in_tab(front, |tab| tab.plan.change(PlanChange::AllSafe)),
            Command::ClearPlan => self.in_tab(front, |tab| tab.plan.change(PlanChange::Clear)),
            Command::CopyPlan => {
                let text = self.front_tab().and_then(|tab| tab.plan.text());
                self.copy(text);
            }
            Command::SavePlan => self.in_view(View::Findings, |views| views.findings.ask_where_plan()),
            Command::OpenPlan => self.in_view(View::Findings, |views| views.findings.ask_for_plan()),
            Command::WriteSlim => self.ask_slim(),
            Command::CopyDockerfile => {
                let text = self.front_tab().and_then(|tab| tab.views.dockerfile.text(SaveKind::Dockerfile));
                self.copy(text);
                self.in_view(View::Dockerfile, |views| views.dockerfile.copied());
            }
            Command::SaveDockerfile => {
                self.in_view(View::Dockerfile, |views| views.dockerfile.ask_where(SaveKind::Dockerfile));
            }
            Command::SavePatch => {
                self.in_view(View::Dockerfile, |views| views.dockerfile.ask_where(SaveKind::Patch));
            }
            Command::OpenDockerfile => {
                self.in_view(View::Dockerfile, |views| views.dockerfile.ask_for_file());
            }
            Command::OpenPlatformFile => {
                self.in_view(View::Deployment, |views| views.deployment.ask_for_file());
            }
            Command::CloseDockerfile => self.in_view(View::Dockerfile, |views| views.dockerfile.forget()),
            Command::NextChange => self.in_view(View::Dockerfile, |views| views.dockerfile.step(true)),
            Command::PreviousChange => self.in_view(View::Dockerfile, |views| views.dockerfile.step(false)),
            Command::AddImage => self.in_view(View::Compare, |views| views.compare.ask_for_image()),
            Command::NextBaseline => self.in_view(View::Compare, |views| views.compare.next_baseline()),
            Command::OnlyDifferences => {
                self.in_view(View::Compare, |views| views.compare.toggle_only_differences());
            }
            Command::CopyComparison => self.in_view(View::Compare, |views| views.compare.copy(&waker)),
            Command::SaveComparison => self.in_view(View::Compare, |views| views.compare.ask_where()),
            Command::ClearComparison => self.in_view(View::Compare, |views| views.compare.remove_all()),
            Command::SaveReport => self.in_view(View::Report, |views| views.report.ask_where()),
            Command::CopyReport => self.in_view(View::Report, |views| views.report.copy_markdown()),
            Command::NextImage => self.step_tab(1),
            Command::PreviousImage => self.step_tab(-1),
            Command::Palette => self.palette.toggle(),
            Command::Keys => self.toggle_help(HelpSheet::Keys),
            Command::Manual => self.toggle_help(HelpSheet::Manual("window")),
            Command::About => self.toggle_help(HelpSheet::About),
        }
    }
}
