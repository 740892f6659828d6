//! All commands of the window in one table: menu bar, shortcuts, tooltips, palette and key sheet
//! are made from it.

mod table;

use egui::KeyboardShortcut;

use super::App;
pub use table::COMMANDS;

/// A menu of the menu bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    /// Opening and closing.
    File,
    /// What is in front, and how it looks.
    View,
    /// The image in front.
    Image,
    /// Help.
    Help,
}

impl Menu {
    /// All menus in the order of the bar.
    pub const ALL: [Self; 4] = [Self::File, Self::View, Self::Image, Self::Help];

    /// Its name in the bar.
    pub const fn title(self) -> &'static str {
        match self {
            Self::File => "File",
            Self::View => "View",
            Self::Image => "Image",
            Self::Help => "Help",
        }
    }
}

/// A command of the window.
pub struct Command {
    /// Stable ID.
    pub id: &'static str,
    /// Its name in menus and in the palette.
    pub title: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Its position.
    pub menu: Menu,
    /// Group within the menu; groups are separated by a line.
    pub group: u8,
    /// The keys that run it; the first is the one that is shown.
    pub keys: &'static [KeyboardShortcut],
    /// Why it cannot run now.
    pub(crate) when: fn(&App) -> Result<(), &'static str>,
    /// What it does.
    pub(crate) run: fn(&mut App),
    /// Whether it is checked.
    pub(crate) chosen: Option<fn(&App) -> bool>,
}

impl Command {
    /// The keys as they are shown, such as `Ctrl+K`; empty without any.
    pub fn keys_text(&self, context: &egui::Context) -> String {
        self.keys.first().map(|keys| keys_text(context, *keys)).unwrap_or_default()
    }

    /// The tooltip: what it does, or why it cannot be done now.
    pub(crate) fn tooltip(&self, app: &App) -> String {
        (self.when)(app).err().unwrap_or(self.about).to_owned()
    }
}

/// Keys as printed on a keyboard: `Ctrl++` for `Ctrl+Plus` in egui.
pub(crate) fn keys_text(context: &egui::Context, keys: KeyboardShortcut) -> String {
    let text = context.format_shortcut(&keys);
    let signs = [("Plus", "+"), ("Minus", "-"), ("Equals", "="), ("Period", "."), ("PageUp", "Page up")];
    let sign = signs.iter().chain(&[("PageDown", "Page down")]).find(|(name, _)| text.ends_with(name));
    match sign {
        Some((name, sign)) => format!("{}{sign}", text.trim_end_matches(name)),
        None => text,
    }
}

/// The command with this id.
pub fn command(id: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.id == id)
}

/// The command whose keys were pressed; its keys are used up. One at a time, those with the most
/// modifiers first, since egui also takes `Ctrl+Shift+P` for `Ctrl+P`.
pub(crate) fn pressed(input: &mut egui::InputState) -> Option<&'static Command> {
    let weight = |keys: &KeyboardShortcut| u8::from(keys.modifiers.shift) + u8::from(keys.modifiers.alt);
    for wanted in (0..=2).rev() {
        for command in COMMANDS {
            let mut keys = command.keys.iter().filter(|keys| weight(keys) == wanted);
            if keys.any(|keys| input.consume_shortcut(keys)) {
                return Some(command);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{COMMANDS, Menu, command};
    use crate::gui::views::View;

    #[test]
    fn ids_titles_and_keys_are_each_used_once() {
        let ids: HashSet<_> = COMMANDS.iter().map(|command| command.id).collect();
        assert_eq!(ids.len(), COMMANDS.len());
        let titles: HashSet<_> = COMMANDS.iter().map(|command| command.title).collect();
        assert_eq!(titles.len(), COMMANDS.len());
        let mut keys = HashSet::new();
        for command in COMMANDS {
            for shortcut in command.keys {
                assert!(keys.insert(format!("{shortcut:?}")), "{}: {shortcut:?}", command.id);
            }
        }
    }

    #[test]
    fn words_are_sentence_case_without_exclamation() {
        for command in COMMANDS {
            for text in [command.title, command.about] {
                assert!(text.starts_with(char::is_uppercase) || text.contains(':'), "{text}");
                assert!(!text.contains('!') && !text.ends_with('.'), "{text}");
            }
        }
    }

    #[test]
    fn every_view_has_its_key_and_every_menu_its_commands() {
        let views: Vec<_> = COMMANDS.iter().filter(|command| command.id.starts_with("view.")).collect();
        for (number, view) in View::ALL.iter().enumerate() {
            assert_eq!(views[number].title, view.title());
        }
        for menu in Menu::ALL {
            let mut groups: Vec<u8> =
                COMMANDS.iter().filter(|command| command.menu == menu).map(|command| command.group).collect();
            assert!(groups.is_sorted(), "{}: groups stand together", menu.title());
            groups.dedup();
            assert!(!groups.is_empty());
        }
        assert!(command("help.palette").is_some());
        assert!(command("none").is_none());
    }
}
