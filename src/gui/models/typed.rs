//! What people type or paste.

use crate::source::prefix_in_case;

/// A path or reference without quotes, `file://` and the space around; `~` is the home folder, and prefixes of paths
/// are understood in any case.
pub fn tidy(text: &str) -> String {
    let text = text.trim();
    let unquoted =
        ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(text);
    let path = unquoted.strip_prefix("file://").unwrap_or(unquoted);
    if let Some(path) = prefix_in_case(path) {
        return path;
    }
    match (path.strip_prefix("~/"), std::env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{}/{rest}", home.trim_end_matches('/')),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn pasted_references_are_tidied() {
        for (pasted, wanted) in [
            (" oci:tool \n", "oci:tool"),
            ("'/images/my tool.tar'", "/images/my tool.tar"),
            ("\"a\"", "a"),
            ("file:///images/tool.tar", "/images/tool.tar"),
            ("Rootfs:/mnt", "rootfs:/mnt"),
            ("OCI:Tool", "oci:Tool"),
            ("oci-Archive:a", "oci-archive:a"),
            ("Docker.example/a", "Docker.example/a"),
            ("'", "'"),
            ("", ""),
        ] {
            assert_eq!(tidy(pasted), wanted, "{pasted}");
        }
        assert!(!tidy("~/tool.tar").starts_with('~'));
    }
}
