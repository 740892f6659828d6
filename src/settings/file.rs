//! The settings file: where it is, reading, and changes that keep its text.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use toml_edit::{Array, DocumentMut, Item, Table, Value};

use super::document::FILE_BYTES;
use super::{KEYS, Key, Settings, SettingsError};
use crate::base::read_at::{open_regular, read_up_to};
use crate::base::save::save;
use crate::base::text::printable;

/// Another place for the file.
const VARIABLE: &str = "CUTAWAY_SETTINGS";
/// First line of a file that the window makes.
const HEAD: &str = "# Settings of Cutaway: `cutaway explain settings` describes them.\n";

/// A settings file, which need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsFile {
    path: PathBuf,
}

impl SettingsFile {
    /// The file at `path`.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The user's file: `CUTAWAY_SETTINGS`, else `cutaway/settings.toml` in the configuration folder of the XDG
    /// specification.
    ///
    /// # Errors
    /// A relative path in the variable, or no home folder.
    pub fn of_user() -> Result<Self, SettingsError> {
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(path);
            if !path.is_absolute() {
                return Err(SettingsError::Relative(printable(&path.to_string_lossy())));
            }
            return Ok(Self::new(path));
        }
        let folders = ProjectDirs::from("", "", "cutaway").ok_or(SettingsError::NoHome)?;
        let folder = folders.config_dir();
        // A relative home folder is none.
        if folder.is_absolute() {
            Ok(Self::new(folder.join("settings.toml")))
        } else {
            Err(SettingsError::NoHome)
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its path as it is shown.
    pub fn shown(&self) -> String {
        printable(&self.path.to_string_lossy())
    }

    /// Its values; the defaults if there is no file.
    ///
    /// # Errors
    /// The file cannot be read, or is invalid: with line and column.
    pub fn load(&self) -> Result<Settings, SettingsError> {
        Settings::parse(&self.shown(), &self.text()?)
    }

    /// Changes values: `change` gets those of the file, and what it changes is replaced in the text. Comments, order
    /// and layout stay. Makes the file and its folder if they do not exist; writes nothing if nothing changes.
    ///
    /// # Errors
    /// The file is invalid, and stays as it is; it cannot be read or written; or the new values are invalid.
    pub fn change(&self, change: impl FnOnce(&mut Settings)) -> Result<Settings, SettingsError> {
        let text = self.text()?;
        let before = Settings::parse(&self.shown(), &text)?;
        let mut after = before.clone();
        change(&mut after);
        if after == before {
            return Ok(after);
        }
        let changed = edited(&text, &before, &after);
        // What the window wrote must be readable the next time: checked before the file is replaced.
        let after = Settings::parse(&self.shown(), &changed)?;
        self.write(&changed)?;
        Ok(after)
    }

    fn text(&self) -> Result<String, SettingsError> {
        let unreadable = |source| SettingsError::Unreadable { file: self.shown(), source };
        let bytes = match open_regular(&self.path).and_then(|file| read_up_to(file, FILE_BYTES as u64)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(unreadable(error)),
        };
        String::from_utf8(bytes)
            .map_err(|_| unreadable(io::Error::new(io::ErrorKind::InvalidData, "not UTF-8")))
    }

    fn write(&self, text: &str) -> Result<(), SettingsError> {
        let folder = self.path.parent().map_or(Ok(()), fs::create_dir_all);
        folder
            .and_then(|()| save(&self.path, text.as_bytes()))
            .map_err(|source| SettingsError::Unwritable { file: self.shown(), source })
    }
}

/// The text with the values that differ replaced.
fn edited(text: &str, before: &Settings, after: &Settings) -> String {
    let mut document: DocumentMut = text.parse().unwrap_or_default();
    for key in KEYS {
        let (old, new) = ((key.value)(before), (key.value)(after));
        if old.as_ref().map(ToString::to_string) == new.as_ref().map(ToString::to_string) {
            continue;
        }
        put(&mut document, key, new);
    }
    let written = document.to_string();
    if text.trim().is_empty() { format!("{HEAD}\n{}", written.trim_start()) } else { written }
}

/// Sets or removes one key.
fn put(document: &mut DocumentMut, key: &Key, value: Option<Value>) {
    let Some(value) = value else {
        if let Some(table) = document.get_mut(key.table).and_then(Item::as_table_like_mut) {
            table.remove(key.name);
        }
        return;
    };
    let table = document.entry(key.table).or_insert_with(|| Item::Table(Table::new()));
    let Some(table) = table.as_table_like_mut() else { return };
    match table.get_mut(key.name).and_then(Item::as_value_mut) {
        Some(Value::Array(there)) if value.is_array() => {
            if let Value::Array(wanted) = value {
                merge(there, &wanted);
            }
        }
        Some(there) => {
            // The comment behind the value is part of its decoration.
            let decor = there.decor().clone();
            *there = value;
            *there.decor_mut() = decor;
        }
        None => {
            table.insert(key.name, Item::Value(value));
        }
    }
}

/// Makes the entries of a list those of another, touching only what differs. A comment behind an entry is part of the
/// next one's prefix, or of the end of the list: it goes with the entry that it is behind.
fn merge(there: &mut Array, wanted: &Array) {
    let wanted: Vec<&str> = wanted.iter().filter_map(Value::as_str).collect();
    let old = std::mem::take(there);
    let first = old.get(0).map(|entry| prefix(entry.decor()));
    let indent = first.as_deref().and_then(|first| Some(first.get(first.rfind('\n')?..)?.to_owned()));
    let had: Vec<String> = old.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let (end, comma) = (old.trailing().as_str().unwrap_or_default().to_owned(), old.trailing_comma());
    *there.decor_mut() = old.decor().clone();
    let (mut comment, mut kept) = (String::new(), true);
    for mut entry in old {
        let before = prefix(entry.decor());
        let (behind, rest) = split_comment(&before);
        if kept {
            behind.clone_into(&mut comment);
        }
        kept = entry.as_str().is_none_or(|entry| wanted.contains(&entry));
        if kept {
            entry.decor_mut().set_prefix(std::mem::take(&mut comment) + rest);
            there.push_formatted(entry);
        }
    }
    let (behind, rest) = split_comment(&end);
    if kept {
        behind.clone_into(&mut comment);
    }
    for text in wanted.into_iter().filter(|text| !had.iter().any(|known| known == text)) {
        let usual = if there.is_empty() { "" } else { " " };
        let before = match &indent {
            Some(indent) => indent.as_str(),
            None if comment.is_empty() => usual,
            None => "\n",
        };
        let mut entry = Value::from(text);
        entry.decor_mut().set_prefix(std::mem::take(&mut comment) + before);
        there.push_formatted(entry);
    }
    there.set_trailing(comment + rest);
    there.set_trailing_comma(comma && !there.is_empty());
}

fn prefix(decor: &toml_edit::Decor) -> String {
    decor.prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default().to_owned()
}

/// A comment that ends the line of the entry before, and the rest.
fn split_comment(prefix: &str) -> (&str, &str) {
    let line = prefix.find('\n').unwrap_or(prefix.len());
    if prefix[..line].contains('#') { prefix.split_at(line) } else { ("", prefix) }
}

impl Settings {
    /// Whether the values can be kept in a file.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn check(&self) -> Result<(), String> {
        match Self::parse("settings", &self.to_text(|_| None)) {
            Err(SettingsError::Fault { message, .. }) => Err(message),
            Err(error) => Err(error.to_string()),
            Ok(_) => Ok(()),
        }
    }

    /// All values as a file: what is in effect, with what each key means. `note` gives a remark for a key.
    pub fn to_text(&self, note: impl Fn(&Key) -> Option<String>) -> String {
        let mut lines = Vec::new();
        let mut table = "";
        for key in KEYS {
            if key.table != table {
                if !table.is_empty() {
                    lines.push(String::new());
                }
                table = key.table;
                lines.push(format!("[{table}]"));
            }
            let note = note(key).map(|note| format!(" ({note})")).unwrap_or_default();
            lines.push(format!("# {}{note}", key.about));
            lines.push(match (key.value)(self) {
                Some(value) => format!("{} = {value}", key.name),
                None => format!("# {} is not set", key.name),
            });
        }
        lines.join("\n") + "\n"
    }
}
