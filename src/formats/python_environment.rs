//! `pyvenv.cfg`, which makes a folder a Python virtual environment (PEP 405; `site.py`).

/// Whether the environment also searches the packages of the system: the default unless the last setting says otherwise.
pub fn includes_system_packages(settings: &[u8]) -> bool {
    let mut included = true;
    for line in settings.split(|byte| *byte == b'\n') {
        let Some(at) = line.iter().position(|byte| *byte == b'=') else { continue };
        let (key, value) = (line[..at].trim_ascii(), line[at + 1..].trim_ascii());
        if key.eq_ignore_ascii_case(b"include-system-site-packages") {
            included = value.eq_ignore_ascii_case(b"true");
        }
    }
    included
}

#[cfg(test)]
mod tests {
    use super::includes_system_packages;

    #[test]
    fn environments_say_whether_they_search_the_system() {
        let uv =
            b"home = /usr/bin\nimplementation = CPython\nuv = 0.5.1\ninclude-system-site-packages = false\n";
        assert!(!includes_system_packages(uv));
        assert!(includes_system_packages(b"home = /usr/bin\ninclude-system-site-packages = true\n"));
        assert!(includes_system_packages(b"home = /usr/bin\n"));
        assert!(!includes_system_packages(b"Include-System-Site-Packages=False\r\n"));
        let twice = b"include-system-site-packages = false\ninclude-system-site-packages = TRUE";
        assert!(includes_system_packages(twice));
    }
}
