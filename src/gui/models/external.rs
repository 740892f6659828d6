//! Opens a file of an image with the desktop's program for it: a copy that cannot be changed or run, in a private folder
//! that is removed with the window.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::format::end_of;
use super::report::{Opener, Opening};
use super::saver::{SaveState, Saver};
use crate::analysis::{Analysis, Options};
use crate::base::size::human;
use crate::base::text::{printable, without_errno};
use crate::contents::{ContentsError, save_file};
use crate::cuda::Inode;
use crate::cuda::links::file_name;
use crate::jobs::Waker;

/// Bytes of all copies: folders for temporary files may be in memory.
const MOST_BYTES: u64 = 1 << 30;
/// Bytes of a name: file systems take 255, and titles of windows fewer.
const NAME: usize = 120;
/// Bytes in which the group of a desktop entry begins; other files have it nowhere.
const ENTRY_WITHIN: usize = 4 << 10;
const ENTRY: &[u8] = b"[Desktop Entry]";

/// Ends of the names of what desktops run or install when it is opened.
const RUN: &str = "app appimage apk bash bat class cmd com command cpl csh deb desktop directory dmg exe fish \
                   flatpak flatpakref flatpakrepo hta jar jnlp js jse ksh lnk mobileconfig mpkg msi msix pif pkg pl \
                   ps1 py pyc pyw pyz rb reg rpm run scpt scr sh snap terminal tool url vbe vbs webloc workflow wsf \
                   zsh";

/// The private folder of a window: made when it is first needed, removed with this.
#[derive(Default)]
pub struct ExternalFolder {
    folder: Option<TempDir>,
    /// Folders that were made in it.
    count: u64,
}

impl ExternalFolder {
    /// An empty folder in it, for one file of so many bytes; else why there is none.
    fn next(&mut self, bytes: u64) -> Result<PathBuf, String> {
        if bytes > MOST_BYTES {
            return Err(format!("more than {}; save it instead", human(MOST_BYTES)));
        }
        let fault = |place: &Path, error: &std::io::Error| {
            format!("temporary folder {}: {}", printable(&place.display().to_string()), reason(error))
        };
        let folder = match &mut self.folder {
            Some(folder) => folder,
            none => {
                let only_mine = Permissions::from_mode(0o700);
                let folder = tempfile::Builder::new().prefix("cutaway-").permissions(only_mine).tempdir();
                none.insert(folder.map_err(|error| fault(&std::env::temp_dir(), &error))?)
            }
        };
        let used = used(folder.path()).map_err(|error| fault(folder.path(), &error))?;
        if used.saturating_add(bytes) > MOST_BYTES {
            let place = printable(&folder.path().display().to_string());
            let (used, most) = (human(used), human(MOST_BYTES));
            return Err(format!("copies in {place} have {used} of {most}; save it instead"));
        }
        self.count += 1;
        let inner = folder.path().join(self.count.to_string());
        DirBuilder::new().mode(0o700).create(&inner).map_err(|error| fault(&inner, &error))?;
        Ok(inner)
    }

    /// Removes it with all that is in it.
    pub fn remove(&mut self) {
        self.folder = None;
    }
}

/// Bytes of the copies in a private folder.
fn used(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0_u64;
    for inner in fs::read_dir(folder)? {
        for copy in fs::read_dir(inner?.path())? {
            bytes = bytes.saturating_add(copy?.metadata()?.len());
        }
    }
    Ok(bytes)
}

fn reason(error: &std::io::Error) -> String {
    printable(&without_errno(&error.to_string()))
}

/// The file that is being opened.
pub struct External {
    /// Writes the copy; its state is shown.
    pub saver: Saver,
    opening: Opening,
    /// The copy, until the desktop is asked.
    copy: Option<PathBuf>,
}

impl External {
    /// Nothing yet; `opener` asks the desktop.
    pub fn new(opener: Opener) -> Self {
        Self { saver: Saver::default(), opening: Opening::new(opener), copy: None }
    }

    /// Opens a file of which the path, the first bytes and the size are known.
    pub fn open(
        &mut self,
        (analysis, options): (&Arc<Analysis>, &Options),
        file: (Inode, Vec<u8>),
        (head, size): (&[u8], u64),
        folder: &mut ExternalFolder,
        waker: &Waker,
    ) {
        let name = safe_name(file_name(&file.1));
        let path = match refusal(&name, head).map_or_else(|| folder.next(size), Err) {
            Ok(folder) => folder.join(&name),
            Err(reason) => {
                self.saver.state = SaveState::Failed(format!("Cannot open {name}: {reason}"));
                return;
            }
        };
        self.copy = Some(path.clone());
        let (analysis, options) = (Arc::clone(analysis), options.clone());
        self.saver.start(waker, move |progress, cancel| {
            save_file((&analysis, &options), file, &path, false, (progress, cancel))?;
            let shown = path.display().to_string();
            // Changes would be lost with the folder, so that programs are told that there can be none.
            fs::set_permissions(&path, Permissions::from_mode(0o400))
                .map_err(|error| ContentsError::Write { to: shown.clone(), reason: reason(&error) })?;
            Ok(format!("Opened the copy {}, which is removed when the window closes", printable(&shown)))
        });
    }

    /// Takes the results. Called on each frame.
    pub fn update(&mut self, waker: &Waker) {
        self.saver.update();
        match self.saver.state {
            SaveState::Saved(_) => {
                if let Some(copy) = self.copy.take() {
                    self.opening.start(copy, waker);
                }
            }
            SaveState::Saving => {}
            SaveState::Idle | SaveState::Failed(_) => self.copy = None,
        }
        if let Some(why) = self.opening.failed() {
            self.saver.state = SaveState::Failed(why);
        }
    }
}

/// Why a file is not opened: it would run, or install something. Scripts are refused too: some desktops run them.
fn refusal(name: &str, head: &[u8]) -> Option<String> {
    let start = &head[..head.len().min(ENTRY_WITHIN)];
    let is_entry = start.windows(ENTRY.len()).any(|part| part == ENTRY);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let kind = match head {
        [0x7f, b'E', b'L', b'F', ..] => "an ELF program or library",
        [b'M', b'Z', ..] => "a Windows program",
        [0xfe, 0xed, 0xfa, 0xce | 0xcf, ..]
        | [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..]
        | [0xca, 0xfe, 0xba, 0xbe, ..] => "a macOS program or Java class",
        [b'#', b'!', ..] => "a script",
        [0xed, 0xab, 0xee, 0xdb, ..] => "an RPM package",
        _ if head.starts_with(b"!<arch>\ndebian-binary") => "a Debian package",
        _ if is_entry => "a desktop entry",
        _ => {
            let ending = ending.filter(|ending| RUN.split(' ').any(|run| run == ending))?;
            return Some(format!("desktops run or install .{ending} files; save it instead"));
        }
    };
    Some(format!("it is {kind}, which a desktop may run or install; save it instead"))
}

/// A name that is one file in a folder, is no option, is not hidden, and reads as it is.
fn safe_name(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let keeps = |c: char| c.is_alphanumeric() || " ._-+=@,()".contains(c);
    let name: String = name.chars().map(|c| if keeps(c) { c } else { '_' }).collect();
    // The end decides which program opens it.
    let name = end_of(name.trim_end_matches(['.', ' ']), NAME);
    let name = name.trim_start_matches(['.', '-', ' ']);
    if name.is_empty() { "file".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{ExternalFolder, MOST_BYTES, refusal, safe_name};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_could_run_is_refused() {
        let text = b"plain text".as_slice();
        let cases: [(&str, &[u8], &str); 14] = [
            ("tool", b"\x7fELF\x02\x01", "an ELF program"),
            ("lib.txt", b"\x7fELF", "an ELF program"),
            ("setup", b"MZ\x90\0", "a Windows program"),
            ("run.txt", b"#!/bin/sh\n", "a script"),
            ("entry.sh", text, ".sh"),
            ("a.py", text, ".py"),
            ("a.desktop", text, ".desktop"),
            ("A.DESKTOP", text, ".desktop"),
            ("notes", b"# c\n[Desktop Entry]\nExec=x\n", "a desktop entry"),
            ("a.AppImage", text, ".appimage"),
            ("a.jar", b"PK\x03\x04", ".jar"),
            ("a.bin", b"\xed\xab\xee\xdb\x03", "an RPM package"),
            ("a.a", b"!<arch>\ndebian-binary   1", "a Debian package"),
            ("Main", b"\xca\xfe\xba\xbe", "Java class"),
        ];
        for (name, head, reason) in cases {
            let found = refusal(name, head).unwrap();
            assert!(found.contains(reason), "{name}: {found}");
        }
        for (name, head) in
            [("a.png", &b"\x89PNG"[..]), ("notes.txt", text), ("a.a", b"!<arch>\nx.o/"), ("", b"")]
        {
            assert_eq!(refusal(name, head), None, "{name}");
        }
    }

    #[test]
    fn names_are_safe() {
        for (name, safe) in [
            (&b"plot 1.png"[..], "plot 1.png"),
            (b"../../etc/passwd", "_.._etc_passwd"),
            (b"-rf", "rf"),
            (b".hidden.txt", "hidden.txt"),
            ("a\u{202e}gnp.exe".as_bytes(), "a_gnp.exe"),
            (b"a\nb\0.txt", "a_b_.txt"),
            (b"a.desktop. ", "a.desktop"),
            (b"\xff\xfe", "__"),
            (b"", "file"),
            (b"..", "file"),
        ] {
            assert_eq!(safe_name(name), safe);
        }
        for letter in ["x", "\u{e4}", "\u{7532}", "\u{20000}", "\u{202e}", ".", "-"] {
            let long = safe_name(format!("{}z.png", letter.repeat(255)).as_bytes());
            assert!(long.len() <= 120 && long.ends_with("z.png") && !long.starts_with(['.', '-']), "{long}");
        }
    }

    #[test]
    fn the_folder_is_private_and_goes_away() {
        let mut folder = ExternalFolder::default();
        let [one, two] = [folder.next(1).unwrap(), folder.next(1).unwrap()];
        assert_ne!(one, two);
        for path in [&one, &one.parent().unwrap().to_owned()] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        assert!(folder.next(MOST_BYTES + 1).unwrap_err().contains("more than 1.00 GiB"));
        std::fs::write(one.join("file"), "x").unwrap();
        assert!(folder.next(MOST_BYTES).unwrap_err().ends_with("have 1 B of 1.00 GiB; save it instead"));
        folder.next(MOST_BYTES - 1).unwrap();
        folder.remove();
        assert!(!one.exists() && !two.exists() && !one.parent().unwrap().exists());
    }
}
