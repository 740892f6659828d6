//! `/etc/os-release`: the distribution of a root filesystem.

/// The fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OsRelease {
    /// `ID`, such as `ubuntu`.
    pub id: Option<String>,
    /// `VERSION_ID`, such as `24.04`.
    pub version_id: Option<String>,
    /// `PRETTY_NAME`, for people.
    pub pretty_name: Option<String>,
}

/// Maximum bytes read; real files have some hundred.
const BYTES: usize = 64 << 10;

/// Parses such a file: shell assignments, of which the last one of a name counts.
pub fn read(bytes: &[u8]) -> OsRelease {
    let mut found = OsRelease::default();
    for line in bytes.get(..BYTES).unwrap_or(bytes).split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        let Some(equals) = line.iter().position(|byte| *byte == b'=') else { continue };
        let (name, value) = (line.get(..equals), line.get(equals + 1..));
        let place = match name {
            Some(b"ID") => &mut found.id,
            Some(b"VERSION_ID") => &mut found.version_id,
            Some(b"PRETTY_NAME") => &mut found.pretty_name,
            _ => continue,
        };
        *place = Some(unquote(value.unwrap_or_default())).filter(|value| !value.is_empty());
    }
    found
}

/// One shell word without its quotes and escapes.
fn unquote(word: &[u8]) -> String {
    let mut plain = Vec::new();
    let mut quote = None;
    let mut bytes = word.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'\\') => plain.extend(bytes.next()),
            (Some(b'"'), b'\\') => match bytes.next_if(|next| matches!(next, b'"' | b'\\' | b'$' | b'`')) {
                Some(next) => plain.push(next),
                None => plain.push(byte),
            },
            (None, _) if byte.is_ascii_whitespace() => break,
            _ => plain.push(byte),
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{OsRelease, read};

    #[test]
    fn values_are_unquoted_as_a_shell_does_it() {
        let text =
            b"PRETTY_NAME=\"Ubuntu 24.04.1 \\\"LTS\\\" \\$x \\n\"\nNAME=\"Ubuntu\"\nVERSION_ID='24.04'\r\n\
            # ID=no\n  ID=ubuntu # no comment in a file of the shell\nVERSION_CODENAME=\nBROKEN\n=\n";
        let expected = OsRelease {
            id: Some("ubuntu".into()),
            version_id: Some("24.04".into()),
            pretty_name: Some("Ubuntu 24.04.1 \"LTS\" $x \\n".into()),
        };
        assert_eq!(read(text), expected);
        assert_eq!(
            read(b"ID=\"rocky\nID='open"),
            OsRelease { id: Some("open".into()), ..OsRelease::default() }
        );
        assert_eq!(read(b"VERSION_ID=\\9\"\".'4'\nID=\xff").version_id.as_deref(), Some("9.4"));
        assert_eq!(read(&vec![b'='; 1 << 20]), OsRelease::default());
    }
}
