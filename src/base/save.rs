//! Atomic writes of files.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Writes `bytes` to `file` atomically, by a temporary file in the same folder that is renamed. A device, a pipe and a
/// dangling link are written to directly; an existing file keeps its permissions.
///
/// # Errors
/// System errors; an existing file is then unchanged.
pub fn save(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let write_through = || {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).open(file).and_then(|mut file| file.write_all(bytes))
    };
    let mut mode = None;
    let target = match fs::metadata(file) {
        Ok(facts) if !facts.is_file() => return write_through(),
        Ok(facts) => {
            mode = Some(facts.permissions());
            file.canonicalize()?
        }
        Err(_) if file.is_symlink() => return write_through(),
        Err(_) => file.to_owned(),
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Checked first for its error message: that of the temporary file is lost below.
    fs::metadata(folder)?;
    let mut temporary = tempfile::Builder::new()
        .prefix(".cutaway-")
        // The user's umask applies, as for any new file.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        // Its message names the temporary file, which is irrelevant.
        .map_err(|error| io::Error::from(error.kind()))?;
    temporary.write_all(bytes)?;
    if let Some(mode) = mode {
        temporary.as_file().set_permissions(mode)?;
    }
    temporary.persist(&target)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::save;

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_links_and_permissions() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        save(&file, b"one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&file, &link).unwrap();
        save(&link, b"two").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
        let error = save(&folder.path().join("none/file"), b"").unwrap_err();
        assert!(!error.to_string().contains(".cutaway-"), "{error}");
        assert!(save(folder.path(), b"").is_err());
    }
}
