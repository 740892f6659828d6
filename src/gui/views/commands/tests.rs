use std::collections::HashSet;

use super::{Command, Menu};
use crate::gui::views::View;

#[test]
fn titles_and_keys_are_each_used_once() {
    let (mut titles, mut keys) = (HashSet::new(), HashSet::new());
    for info in Command::all().map(Command::info) {
        assert!(titles.insert(info.title), "{}", info.title);
        for shortcut in info.keys {
            assert!(keys.insert(format!("{shortcut:?}")), "{}: {shortcut:?}", info.title);
        }
    }
}

#[test]
fn words_are_sentence_case_without_exclamation() {
    for info in Command::all().map(Command::info) {
        for text in [info.title, info.about] {
            assert!(text.starts_with(char::is_uppercase) || text.contains(':'), "{text}");
            assert!(!text.contains('!') && !text.ends_with('.'), "{text}");
        }
    }
}

#[test]
fn every_view_has_its_key_and_every_menu_its_commands() {
    assert!(View::ALL.iter().all(|view| Command::Show(*view).info().keys.len() == 1));
    for menu in Menu::ALL {
        let groups: Vec<u8> = menu.commands().map(|command| command.info().group).collect();
        assert!(!groups.is_empty() && groups.is_sorted(), "{}: groups stand together", menu.title());
    }
}
