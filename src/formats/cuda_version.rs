//! `version.json` of a CUDA toolkit, and its predecessor `version.txt` (before CUDA 11.1).

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
struct Component {
    version: Option<String>,
}

/// Maximum bytes of such a file. Real ones have some thousand.
const BYTES: usize = 1 << 20;

/// Maximum bytes of a version.
const VERSION_BYTES: usize = 64;

/// The version of the toolkit in either file, such as `13.0.2`; `None` if it has none.
pub fn read(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.trim_ascii();
    if bytes.len() > BYTES {
        return None;
    }
    if !bytes.starts_with(b"{") {
        let text = std::str::from_utf8(bytes).ok()?;
        let cuda = text.lines().find_map(|line| line.trim().strip_prefix("CUDA Version "))?;
        return plain(cuda);
    }
    let mut parts: BTreeMap<String, Component> = serde_json::from_slice(bytes).ok()?;
    plain(&parts.remove("cuda")?.version?)
}

/// The text as a version; `None` if it does not have the form of one.
fn plain(version: &str) -> Option<String> {
    let version = version.trim();
    let fits = version.starts_with(|first: char| first.is_ascii_digit())
        && version.len() <= VERSION_BYTES
        && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+_~".contains(&byte));
    fits.then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn both_files_are_read() {
        let json = br#"
            {"cuda": {"name": "CUDA SDK", "version": "13.0.2"},
             "cuda_cudart": {"name": "CUDA Runtime (cudart)", "version": "13.0.96", "more": [1]},
             "odd": {"name": "nothing"}, "worse": {"version": "1.0\u001b[31m"}}"#;
        assert_eq!(read(json).unwrap(), "13.0.2");
        assert_eq!(read(b"CUDA Version 10.2.89\n").unwrap(), "10.2.89");
        assert_eq!(read(b"CUDA Version 10.0.130\nCUDA Patch Version 10.0.130.1\n").unwrap(), "10.0.130");
    }

    #[test]
    fn other_files_are_none() {
        let deep = [b"{\"cuda\":".repeat(100_000), b"1".to_vec()].concat();
        let other: [&[u8]; 7] = [
            b"",
            b"{}",
            b"{\"cuda\": 1}",
            b"CUDA",
            b"CUDA Version \n",
            b"{\"cuda\": {\"version\": \"x\"}}",
            &deep,
        ];
        for bytes in other {
            assert_eq!(read(bytes), None);
        }
    }
}
