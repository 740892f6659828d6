//! The default path of a report.

use std::path::{Path, PathBuf};

use super::ReportOptions;
use crate::gui::models::image_names::image_name;

/// Characters of the part of a name that comes from the image.
const NAME: usize = 80;

/// A file beside the user's Dockerfile where there is one; else in the folder that the program was started in, or the
/// home of a user who started it from the desktop.
pub fn default_path(image: &str, choice: &ReportOptions, beside: Option<&Path>) -> PathBuf {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    let started = std::env::current_dir().ok().filter(|folder| folder.parent().is_some());
    let folder = beside.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map(Path::to_owned).or(started).or_else(home).unwrap_or_default();
    folder.join(format!("{}-{}", name(image), choice.ending()))
}

/// The same path for another format, where it ends as the one before does.
pub fn with_extension(typed: &str, before: &ReportOptions, after: &ReportOptions) -> Option<String> {
    let end = |choice: &ReportOptions| choice.format().map(|format| format!(".{}", format.extension()));
    let (old, new) = (end(before)?, end(after)?);
    Some(format!("{}{new}", typed.strip_suffix(&old)?))
}

/// An image's name as a part of a file's name: its last part, without the ends of archives.
fn name(image: &str) -> String {
    let last = image_name(image.trim_end_matches(['/', '.']));
    let last = last.strip_prefix("sample:").unwrap_or(&last);
    let ends = [".gz", ".zst", ".tgz", ".tar", ".json", "-report"];
    let last = ends.iter().fold(last, |name, end| name.strip_suffix(end).unwrap_or(name));
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let name: String =
        last.chars().take(NAME).map(|letter| if fits(letter) { letter } else { '-' }).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "image".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{default_path, name, with_extension};
    use crate::gui::models::report::{ExportFormat, ReportOptions};

    #[test]
    fn names_are_those_of_the_image() {
        for (image, wanted) in [
            ("sample:devel", "devel"),
            ("/srv/images/tool.tar.gz", "tool"),
            ("oci:/srv/tool:latest", "tool-latest"),
            ("registry.example/team/tool:1.2@sha256:ab", "tool-1.2-ab"),
            ("/home/me/tool-report.json", "tool"),
            ("..", "image"),
            ("/", "image"),
            ("a\u{202e}b\n", "a-b"),
        ] {
            assert_eq!(name(image), wanted, "{image:?}");
        }
    }

    #[test]
    fn a_report_lies_beside_the_users_own_file() {
        let choice = ReportOptions::default();
        let place = default_path("sample:devel", &choice, Some(Path::new("/srv/app/Dockerfile")));
        assert_eq!(place, Path::new("/srv/app/devel-report.html"));
        let dockerfile = ReportOptions { form: ExportFormat::Dockerfile, ..ReportOptions::default() };
        assert!(default_path("sample:devel", &dockerfile, None).ends_with("devel-Dockerfile"));
        let json = ReportOptions { form: ExportFormat::Json, ..ReportOptions::default() };
        assert_eq!(with_extension("/a/b.html", &choice, &json).as_deref(), Some("/a/b.json"));
        assert_eq!(with_extension("/a/b.txt", &choice, &json), None);
    }
}
