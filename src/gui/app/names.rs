//! Names of the open images: in their tabs, the title of the window, and the log.

use super::App;
use crate::base::text::elide_middle;
use crate::gui::models::image_names::image_names;

/// Characters of a name in the title of the window.
const IN_TITLE: usize = 60;
/// What follows the name of an image as it was before its file changed.
pub(super) const EARLIER: &str = " (earlier)";

impl App {
    /// Names the open images so that all names differ; called whenever there is another set of them.
    pub(super) fn name_tabs(&mut self) {
        let shown = |tab: &super::Tab| tab.shown.strip_suffix(EARLIER).unwrap_or(&tab.shown).to_owned();
        let mut all: Vec<String> = self.tabs.iter().map(shown).collect();
        // What an image was before is no other image.
        all.sort_unstable();
        all.dedup();
        let names = image_names(&all.iter().map(String::as_str).collect::<Vec<_>>());
        for tab in &mut self.tabs {
            let Some(mut name) = all.binary_search(&shown(tab)).ok().and_then(|at| names.get(at).cloned())
            else {
                continue;
            };
            if tab.earlier {
                name.push_str(EARLIER);
            }
            if tab.title != name {
                self.log.rename(tab.id, &name);
                if let Some(slim) = self.slim.as_mut().filter(|slim| slim.tab == tab.id) {
                    slim.title.clone_from(&name);
                }
                tab.title = name;
            }
        }
    }

    /// Names the image in front in the title of the window.
    pub(super) fn set_title(&mut self) {
        let title = match self.front_tab() {
            Some(tab) => format!("{} – Cutaway", elide_middle(&tab.title, IN_TITLE)),
            None => "Cutaway".to_owned(),
        };
        if title != self.title {
            self.context.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }
}
