//! Paths as people type them, to nodes of the merged view.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::error::LookupError;
use crate::analysis::Analysis;
use crate::base::text::escape;
use crate::cuda::links::{Paths, file_name};
use crate::findings::policy::{Pattern, near};
use crate::layer::LayerIndex;
use crate::rootfs::{NodeId, NodeKind, Rootfs, Timeline};

/// Maximum number of symbolic links in one lookup, as in Linux.
const MAX_LINKS: usize = 40;
/// Similar names that an error has at most.
const NEAR: usize = 8;

/// Where a walk ended, and why it did not go on.
struct Stopped {
    /// The last folder or file that is there.
    at: NodeId,
    /// The name that it does not have.
    name: Vec<u8>,
    found: String,
}

/// The node at a path. Symbolic links in the path are followed inside the image; one at its end only with
/// `follow`. A path that is not there is tried again as the contract writes paths, `\xNN` for bytes that are not text.
///
/// # Errors
/// The path is not there: what was found, and similar names.
pub fn find(analysis: &Analysis, rootfs: &Rootfs, path: &[u8], follow: bool) -> Result<NodeId, LookupError> {
    let paths = Paths::new(rootfs);
    let stopped = match walk(&paths, path, follow) {
        Ok(node) => return Ok(node),
        Err(stopped) => stopped,
    };
    if let Some(raw) = unescape(path).filter(|raw| raw != path)
        && let Ok(node) = walk(&paths, &raw, follow)
    {
        return Ok(node);
    }
    let mut found = stopped.found;
    if let Some(layers) = removed(analysis, path) {
        found = format!("{found}; {layers}");
    }
    let near = similar(rootfs, stopped.at, &stopped.name);
    Err(LookupError { path: escape(path), found, near })
}

fn walk(paths: &Paths<'_>, path: &[u8], follow: bool) -> Result<NodeId, Stopped> {
    let rootfs = paths.rootfs();
    let mut at = NodeId::ROOT;
    let mut links = 0;
    let mut left: Vec<&[u8]> = path.rsplit(|byte| *byte == b'/').collect();
    // The links that led here, for the message.
    let mut link: Option<String> = None;
    while let Some(part) = left.pop() {
        let stop = |name: &[u8], found: String| {
            let found = link.as_ref().map_or_else(|| found.clone(), |link| format!("{link}, and {found}"));
            Stopped { at, name: name.to_vec(), found }
        };
        let here = || escape(&rootfs.node(at).path());
        match part {
            b"" | b"." => {}
            _ if rootfs.node(at).kind() != NodeKind::Directory => {
                return Err(stop(b"", format!("{} is not a folder", here())));
            }
            b".." => at = rootfs.node(at).parent().id(),
            name => {
                let Some(child) = paths.child(at, name) else {
                    return Err(stop(name, format!("{} has no {}", here(), escape(name))));
                };
                let last = left.iter().all(|part| part.is_empty());
                let Some(target) = paths.link(child).filter(|_| follow || !last) else {
                    at = child;
                    continue;
                };
                links += 1;
                let shown = escape(&rootfs.node(child).path());
                if links > MAX_LINKS {
                    return Err(stop(
                        b"",
                        format!("more than {MAX_LINKS} symbolic links, one of them {shown}"),
                    ));
                }
                if target.is_empty() {
                    return Err(stop(b"", format!("{shown} is a symbolic link without a target")));
                }
                link = Some(format!("{shown} is a symbolic link to {}", escape(target)));
                if target.starts_with(b"/") {
                    at = NodeId::ROOT;
                }
                left.extend(target.rsplit(|byte| *byte == b'/'));
            }
        }
    }
    Ok(at)
}

/// What upper layers did to a path that lower layers have.
fn removed(analysis: &Analysis, path: &[u8]) -> Option<String> {
    let layers: Option<Vec<Arc<LayerIndex>>> =
        analysis.layers.iter().map(|layer| Some(Arc::clone(&layer.read.as_ref()?.index))).collect();
    let timeline = Timeline::new(&layers?);
    let full: Vec<u8> = if path.starts_with(b"/") { path.to_vec() } else { [b"/", path].concat() };
    let last = timeline.versions(timeline.find(&full)?).next_back()?;
    let by = last.until?;
    Some(format!("layer {} has it, and layer {by} removes it", last.layer))
}

/// Paths with similar names: in the folder where the lookup ended, else the same name elsewhere.
fn similar(rootfs: &Rootfs, folder: NodeId, name: &[u8]) -> Vec<String> {
    if name.is_empty() {
        return Vec::new();
    }
    let wanted = escape(name);
    let folder = rootfs.node(folder);
    let names: Vec<String> = folder.children().map(|child| escape(child.name())).collect();
    let start = escape(&folder.path());
    let start = if start == "/" { "" } else { &start };
    let mut found: Vec<String> = near(&wanted, names.iter().map(String::as_str))
        .iter()
        .map(|name| format!("{start}/{name}"))
        .collect();
    let elsewhere = rootfs.nodes().filter(|node| node.name() == name && node.id() != NodeId::ROOT);
    found.extend(elsewhere.take(NEAR).map(|node| escape(&node.path())));
    found.truncate(NEAR);
    found
}

/// The nodes that a path or glob names, links not followed. A glob is that of `cutaway.toml`: `*` is anything except a
/// slash, `**` anything. A path that is there is never a glob.
///
/// # Errors
/// Nothing has that name.
pub fn select(analysis: &Analysis, rootfs: &Rootfs, text: &[u8]) -> Result<BTreeSet<NodeId>, LookupError> {
    let error = match find(analysis, rootfs, text, false) {
        Ok(node) => return Ok(BTreeSet::from([node])),
        Err(error) if !text.contains(&b'*') => return Err(error),
        Err(error) => error,
    };
    let mut glob = error.path;
    if !glob.starts_with('/') {
        glob.insert(0, '/');
    }
    let refused = |found: String| LookupError { path: escape(text), found, near: Vec::new() };
    let pattern =
        Pattern::new(glob.trim_end_matches('/')).map_err(|reason| refused(format!("bad glob: {reason}")))?;
    let matches = |node: &crate::rootfs::Node<'_>| pattern.is_match(&escape(&node.path()));
    let found: BTreeSet<NodeId> =
        rootfs.nodes().skip(1).filter(matches).map(crate::rootfs::Node::id).collect();
    if found.is_empty() {
        let what = match file_name(text) {
            b"" => "no path matches".to_owned(),
            _ => "no path matches; * does not match a slash, ** does".to_owned(),
        };
        return Err(refused(what));
    }
    Ok(found)
}

/// A path as the contract writes it, as bytes: `\xNN` and `\\`. `None` if a backslash is followed by something else.
pub fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next()? {
            b'\\' => bytes.push(b'\\'),
            b'x' => {
                let mut digit =
                    || char::from(rest.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let (high, low) = (digit()?, digit()?);
                bytes.push(high << 4 | low);
            }
            _ => return None,
        }
    }
    Some(bytes)
}
