//! Names of copied files, for builders that record only a hash of them.

use crate::layer::{EntryKind, LayerIndex};

/// Maximum names. More are as well a folder.
const MOST: usize = 12;

/// Names of the files that a `COPY` put into the folder `to`, sorted, as far as its layer proves them: it has nothing
/// but these files, in one folder. `None` if the only file may have another name in the build context.
pub(super) fn names(index: &LayerIndex, to: &str) -> Option<Vec<String>> {
    let files: Vec<_> = index.entries().filter(|entry| index.kind(*entry) != EntryKind::Directory).collect();
    let first = *files.first().filter(|_| files.len() <= MOST)?;
    let folder = index.dir(first);
    let all = |entry: &_| index.kind(*entry) == EntryKind::File && index.dir(*entry) == folder;
    let parts: Vec<&str> = to.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let wanted: String = parts.iter().flat_map(|part| ["/", part]).collect();
    let path = index.dir_path(folder);
    let is_there =
        if to.starts_with('/') { path == wanted.as_bytes() } else { path.ends_with(wanted.as_bytes()) };
    // `COPY a b` makes a file of this name, unless there is such a folder.
    let is_folder = matches!(to.rsplit('/').next(), None | Some("" | "."));
    let is_renamed = !is_folder && parts.last().is_some_and(|last| last.as_bytes() == index.name(first));
    if !files.iter().all(all) || !is_there || is_renamed || parts.contains(&"..") {
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
        for to in ["./", ".", "/app/", "app/", "/app", "./app", "/app/."] {
            assert_eq!(names(&one, to), Some(vec!["package.json".to_owned()]), "{to}");
        }
        // Perhaps renamed, elsewhere, or below.
        for to in ["/app/package.json", "package.json", "/srv/", "/ap", "pp/", "/", "../app/"] {
            assert_eq!(names(&one, to), None, "{to}");
        }
        let two = layer(&[("app/b.lock", File), ("app/a.toml", File)]);
        assert_eq!(names(&two, "/app/"), Some(vec!["a.toml".to_owned(), "b.lock".to_owned()]));
        for other in [
            layer(&[("app/a", File), ("app/src/b", File)]),
            layer(&[("app/a", File), ("app/b", Symlink)]),
            layer(&[("app/a b", File)]),
            layer(&[("app/a*", File)]),
            layer(&[("app/-a", File)]),
            layer(&[("app", Directory)]),
        ] {
            assert_eq!(names(&other, "/app/"), None);
        }
    }
}
