//! What the window remembers by itself, under one key of its own. What the user chooses is in the settings file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::gui::widgets::split::PaneSizes;
use crate::source::redacted;

/// How many images are remembered.
const RECENT: usize = 12;
/// How many open images are remembered.
const OPEN: usize = 24;
const KEY: &str = "cutaway";
const VERSION: u32 = 1;
/// The name that the folder of the window's data is known by.
pub(crate) const APP: &str = "cutaway";

/// The file that keeps earlier checks of this machine's GPU, beside what the window remembers; `None` where the
/// system has no place for data.
pub(crate) fn gpu_history() -> Option<PathBuf> {
    Some(eframe::storage_dir(APP)?.join("gpu-history.json"))
}

/// The remembered state. Fields may be added with a default; anything else raises the version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Remembered {
    version: u32,
    /// References opened lately, newest first.
    #[serde(default)]
    pub(crate) recent: Vec<String>,
    /// Those of the recent ones that could not be opened the last time.
    #[serde(default)]
    pub(crate) failed: BTreeSet<String>,
    /// References of the open tabs, in their order.
    #[serde(default)]
    pub(crate) open: Vec<String>,
    /// The one of them that was in front.
    #[serde(default)]
    pub(crate) front: Option<String>,
    /// Sizes of panes that were moved.
    #[serde(default)]
    pub(crate) panes: PaneSizes,
}

impl Default for Remembered {
    fn default() -> Self {
        Self {
            version: VERSION,
            recent: Vec::new(),
            failed: BTreeSet::new(),
            open: Vec::new(),
            front: None,
            panes: PaneSizes::new(),
        }
    }
}

/// Whether a reference may be kept: one that carries user info could not be opened again without its secret.
fn can_be_kept(reference: &str) -> bool {
    redacted(reference) == reference
}

impl Remembered {
    /// What was remembered; the default when there is nothing, or nothing that this version can read.
    pub(crate) fn load(storage: Option<&dyn eframe::Storage>) -> Self {
        let stored: Option<Self> = storage.and_then(|storage| eframe::get_value(storage, KEY));
        let mut remembered = stored.filter(|remembered| remembered.version == VERSION).unwrap_or_default();
        remembered.recent.truncate(RECENT);
        remembered.open.truncate(OPEN);
        remembered
    }

    /// Remembers.
    pub(crate) fn save(&self, storage: &mut dyn eframe::Storage) {
        eframe::set_value(storage, KEY, self);
    }

    /// Puts `reference` before all others, if it can be opened again. Samples are always at hand.
    pub(crate) fn remember(&mut self, reference: &str) {
        if !can_be_kept(reference) || reference.starts_with("sample:") {
            return;
        }
        self.recent.retain(|known| known != reference);
        self.recent.insert(0, reference.to_owned());
        self.recent.truncate(RECENT);
        self.failed.remove(reference);
    }

    /// Remembers that a recent image could not be opened.
    pub(crate) fn remember_failure(&mut self, reference: &str) {
        self.failed.retain(|failed| self.recent.contains(failed));
        if self.recent.iter().any(|known| known == reference) {
            self.failed.insert(reference.to_owned());
        }
    }

    /// Keeps the references of the open tabs, and which of them is in front.
    pub(crate) fn keep_open<'a>(&mut self, tabs: impl Iterator<Item = &'a str>, front: Option<&str>) {
        self.open = tabs.filter(|text| can_be_kept(text)).take(OPEN).map(str::to_owned).collect();
        self.front = front.filter(|front| self.open.iter().any(|text| text == front)).map(str::to_owned);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{KEY, OPEN, RECENT, Remembered};

    #[derive(Default)]
    struct Memory(HashMap<String, String>);

    impl eframe::Storage for Memory {
        fn get_string(&self, key: &str) -> Option<String> {
            self.0.get(key).cloned()
        }
        fn set_string(&mut self, key: &str, value: String) {
            self.0.insert(key.to_owned(), value);
        }
        fn remove_string(&mut self, key: &str) {
            self.0.remove(key);
        }
        fn flush(&mut self) {}
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let mut remembered = Remembered::default();
        remembered.remember("oci:a");
        remembered.keep_open(["oci:a", "oci:b"].into_iter(), Some("oci:a"));
        remembered.panes.insert("layers".to_owned(), [Some(300.0), None]);
        let mut memory = Memory::default();
        remembered.save(&mut memory);
        assert_eq!(Remembered::load(Some(&memory)), remembered);
    }

    #[test]
    fn open_images_are_kept_with_the_one_in_front() {
        let mut remembered = Remembered::default();
        let secret = "docker://me:secret@registry.example/image";
        remembered.keep_open(["oci:a", secret, "oci:b"].into_iter(), Some("oci:a"));
        assert_eq!(remembered.open, ["oci:a", "oci:b"]);
        assert_eq!(remembered.front.as_deref(), Some("oci:a"));
        remembered.keep_open([secret].into_iter(), Some(secret));
        assert_eq!((remembered.open.len(), remembered.front.clone()), (0, None));
        let many: Vec<String> = (0..100).map(|index| format!("oci:{index}")).collect();
        remembered.keep_open(many.iter().map(String::as_str), None);
        assert_eq!(remembered.open.len(), OPEN);
    }

    #[test]
    fn another_version_and_nonsense_give_the_default() {
        for stored in ["(version:2,recent:[\"oci:a\"])", "nonsense", ""] {
            let memory = Memory(HashMap::from([(KEY.to_owned(), stored.to_owned())]));
            assert_eq!(Remembered::load(Some(&memory)), Remembered::default(), "{stored}");
        }
        // Earlier versions kept the theme here.
        let earlier = "(version:1,theme:Dark,zoom_percent:90,recent:[\"oci:a\"])";
        let memory = Memory(HashMap::from([(KEY.to_owned(), earlier.to_owned())]));
        assert_eq!(Remembered::load(Some(&memory)).recent, ["oci:a"]);
    }

    #[test]
    fn recent_images_are_few_and_hold_no_secret() {
        let mut remembered = Remembered::default();
        for index in 0..20 {
            remembered.remember(&format!("oci:{index}"));
        }
        remembered.remember("oci:15");
        assert_eq!(remembered.recent.len(), RECENT);
        assert_eq!(remembered.recent[..3], ["oci:15", "oci:19", "oci:18"]);
        remembered.remember("docker://me:secret@registry.example/image");
        assert_eq!(remembered.recent[0], "oci:15");
    }
}
