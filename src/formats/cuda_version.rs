//! `version.json` of a CUDA toolkit, and its predecessor `version.txt` (before CUDA 11.1).

use std::collections::BTreeMap;

use serde::Deserialize;

/// The versions of a toolkit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CudaVersion {
    /// The toolkit itself, such as `13.0.2`.
    pub cuda: String,
    /// Component versions by their key in the file, such as `cuda_cudart`; `version.txt` has none.
    pub components: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Component {
    version: Option<String>,
}

/// Maximum bytes of such a file. Real ones have some thousand.
const BYTES: usize = 1 << 20;

/// Maximum bytes of a version.
const VERSION_BYTES: usize = 64;

/// Parses either file; `None` if it has no toolkit version.
pub fn read(bytes: &[u8]) -> Option<CudaVersion> {
    let bytes = bytes.trim_ascii();
    if bytes.len() > BYTES {
        return None;
    }
    if !bytes.starts_with(b"{") {
        let text = std::str::from_utf8(bytes).ok()?;
        let cuda = text.lines().find_map(|line| line.trim().strip_prefix("CUDA Version "))?;
        return Some(CudaVersion { cuda: plain(cuda)?, components: BTreeMap::new() });
    }
    let parts: BTreeMap<String, Component> = serde_json::from_slice(bytes).ok()?;
    let mut components: BTreeMap<String, String> =
        parts.into_iter().filter_map(|(name, part)| Some((name, plain(&part.version?)?))).collect();
    Some(CudaVersion { cuda: components.remove("cuda")?, components })
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
        let found = read(json).unwrap();
        assert_eq!(found.cuda, "13.0.2");
        assert_eq!(
            found.components.into_iter().collect::<Vec<_>>(),
            [("cuda_cudart".into(), "13.0.96".into())]
        );
        assert_eq!(read(b"CUDA Version 10.2.89\n").unwrap().cuda, "10.2.89");
        assert_eq!(read(b"CUDA Version 10.0.130\nCUDA Patch Version 10.0.130.1\n").unwrap().cuda, "10.0.130");
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
