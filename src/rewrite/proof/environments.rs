//! Python virtual environments.

use super::image_pair::ImagePair;
use crate::formats::python_environment::includes_system_packages;

/// Whether a Python, started under this name, does not search the packages of the system: it is in a virtual
/// environment without them. Python looks for `pyvenv.cfg` in the folder of its name, before links, and above (PEP 405).
pub(super) fn is_isolated(pair: &ImagePair<'_>, name: &[u8]) -> bool {
    let Some((folder, _)) = pair.new.program_in(name) else { return false };
    let above = pair.new.node(folder).parent().id();
    let settings = [folder, above].into_iter().find_map(|folder| pair.new.find_from(folder, b"pyvenv.cfg"));
    let bytes = settings.and_then(|node| {
        let (layer, entry) = pair.new.node(node).content()?;
        pair.layer(layer)?.facts.document(entry)?.bytes().ok()
    });
    bytes.is_some_and(|bytes| !includes_system_packages(&bytes))
}
