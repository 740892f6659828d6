//! Names of copied files, for builders that record only a hash of them.

use crate::layer::{EntryKind, LayerIndex};

/// Maximum names in one `COPY`. A layer with more files was probably filled from a folder.
const MOST: usize = 12;

/// Names of the files that a `COPY` likely put into the folder `to`, an absolute path, sorted: its layer has nothing but
/// these files, in that folder. A folder that was copied with them may have had some of them. `None` if the only file may
/// have another name in the build context.
pub(super) fn names(index: &LayerIndex, to: &str) -> Option<Vec<String>> {
    let files: Vec<_> = index.entries().filter(|entry| index.kind(*entry) != EntryKind::Directory).collect();
    let first = *files.first().filter(|_| files.len() <= MOST)?;
    let folder = index.dir(first);
    let all = |entry: &_| index.kind(*entry) == EntryKind::File && index.dir(*entry) == folder;
    let parts: Vec<&str> = to.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let wanted: String = parts.iter().flat_map(|part| ["/", part]).collect();
    // `COPY a /b` makes a file of this name, unless there is such a folder.
    let is_folder = matches!(to.rsplit('/').next(), None | Some("" | "."));
    let is_renamed = !is_folder && parts.last().is_some_and(|last| last.as_bytes() == index.name(first));
    if !files.iter().all(all)
        || index.dir_path(folder) != wanted.as_bytes()
        || is_renamed
        || parts.contains(&"..")
    {
        return None;
    }
    let mut names: Vec<String> =
        files.iter().map(|entry| plain(index.name(*entry))).collect::<Option<_>>()?;
    names.sort_unstable();
    names.dedup();
    Some(names)
}

/// A name that a `COPY` takes as it stands: no pattern, variable or flag.
fn plain(name: &[u8]) -> Option<String> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-+@".contains(byte);
    let name = name.iter().all(is_plain).then(|| String::from_utf8_lossy(name).into_owned())?;
    (!name.starts_with('-')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::names;
    use crate::base::Limits;
    use crate::layer::{EntryKind, IndexBuilder, LayerIndex, NewEntry};

    fn layer(entries: &[(&str, EntryKind)]) -> LayerIndex {
        let mut index = IndexBuilder::new(&Limits::default());
        for (path, kind) in entries {
            let entry = NewEntry {
                kind: *kind,
                size: 0,
                mode: 0o644,
                uid: 0,
                gid: 0,
                mtime: 0,
                link: b"",
                body_at: None,
            };
            index.add_path(path.as_bytes(), entry).unwrap();
        }
        index.finish()
    }

    #[test]
    fn files_in_a_folder_are_named() {
        use EntryKind::{Directory, File, Symlink};
        let one = layer(&[("app", Directory), ("app/package.json", File)]);
        for to in ["/app/", "/app", "/app/.", "//app/"] {
            assert_eq!(names(&one, to), Some(vec!["package.json".to_owned()]), "{to}");
        }
        // Perhaps renamed, or elsewhere.
        for to in ["/app/package.json", "/package.json", "/srv/", "/ap", "/", "/srv/../app/", "/srv/app/"] {
            assert_eq!(names(&one, to), None, "{to}");
        }
        let two = layer(&[("app/b.lock", File), ("app/a.toml", File)]);
        assert_eq!(names(&two, "/app/"), Some(vec!["a.toml".to_owned(), "b.lock".to_owned()]));
        for other in [
            layer(&[("app/a", File), ("app/src/b", File)]),
            layer(&[("app/a", File), ("app/b", Symlink)]),
            layer(&[("app/a", File), ("app/b", EntryKind::HardLink)]),
            layer(&[("app/a", File), ("app/.wh.b", File)]),
            layer(&[("app/a", File), ("app/.wh..wh..opq", File)]),
            layer(&[("app/a b", File)]),
            layer(&[("app/a*", File)]),
            layer(&[("app/-a", File)]),
            layer(&[("app", Directory)]),
        ] {
            assert_eq!(names(&other, "/app/"), None);
        }
        let paths: Vec<String> = (0..=super::MOST).map(|number| format!("app/{number}")).collect();
        let many: Vec<(&str, EntryKind)> = paths.iter().map(|path| (path.as_str(), File)).collect();
        assert_eq!(names(&layer(&many), "/app/"), None);
        assert_eq!(names(&layer(&many[1..]), "/app/").map(|names| names.len()), Some(super::MOST));
    }
}
