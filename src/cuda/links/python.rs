//! Python extension modules, and the Python that loads them.

use super::paths::file_name;
use super::resolver_state::ResolverState;
use super::roots::{DEFAULT_PATH, search_path};
use crate::rootfs::NodeId;

/// Whether a shared object is a Python extension module, by name and folder.
pub(super) fn is_extension(path: &[u8]) -> bool {
    let name = file_name(path);
    let Some(stem) = name.strip_suffix(b".so") else { return false };
    if stem.ends_with(b".abi3") || stem.windows(9).any(|part| part == b".cpython-") {
        return true;
    }
    let folders = [&b"site-packages"[..], b"dist-packages", b"lib-dynload"];
    !name.starts_with(b"lib") && path.split(|byte| *byte == b'/').any(|part| folders.contains(&part))
}

/// The Python of an extension module: that of its `lib/python3.12`, otherwise of its tag (`cpython-312`),
/// otherwise the default `python3`.
pub(super) fn python_of(state: &mut ResolverState<'_>, path: &[u8]) -> Option<u32> {
    if state.exhausted() {
        return None;
    }
    let mut candidates: Vec<Vec<u8>> = Vec::new();
    let mut names: Vec<Vec<u8>> = Vec::new();
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let is_version =
        |part: &&[u8]| part.strip_prefix(b"python").and_then(<[u8]>::first).is_some_and(u8::is_ascii_digit);
    if let Some(at) = parts.iter().rposition(is_version) {
        // The parent of `python3.12` is `lib` or `lib64`, whose parent is the prefix.
        let prefix = parts[..at.saturating_sub(1)].join(&b'/');
        names.push(parts[at].to_vec());
        for name in [parts[at], b"python3", b"python"] {
            candidates.push([&prefix, &b"/bin/"[..], name].concat());
        }
    }
    names.extend(tagged(file_name(path)));
    names.push(b"python3".to_vec());
    for name in &names {
        for folder in search_path(state).into_iter().chain(DEFAULT_PATH) {
            candidates.push([folder, b"/", name].concat());
        }
    }
    candidates.iter().find_map(|candidate| {
        let object = state.object_by_path(NodeId::ROOT, candidate)?;
        state.binary(object).executable.then_some(object)
    })
}

/// Python name from the tag of a module: `python3.12` for `x.cpython-312-x86_64-linux-gnu.so`.
fn tagged(name: &[u8]) -> Option<Vec<u8>> {
    let at = name.windows(9).position(|part| part == b".cpython-")?;
    let digits: Vec<u8> = name[at + 9..].iter().copied().take_while(u8::is_ascii_digit).collect();
    let (major, minor) = digits.split_at_checked(1)?;
    Some([b"python", major, b".", minor].concat())
}
