//! The requirements of an image, derived from its inventory and configuration.

mod code;
mod drivers;
mod environments;
mod frameworks;
mod look;
mod versions;

use std::collections::BTreeMap;

use super::{CudaNeed, LoaderFolder, Needs, NeedsInput, UsedCudnn};
use crate::base::redact;
use crate::base::text::{escape, printable};
use crate::cuda::catalog::numbers;
use crate::cuda::{search_folders, shown_folder};
use frameworks::Frameworks;
use look::Look;

/// Owner of files without a package or framework.
const APPLICATION: &str = "the application";

/// The requirements of the image. Reads each file with GPU code about once.
pub fn needs(input: &NeedsInput<'_>) -> Needs {
    let look = Look::new(input);
    let folders = search_folders(look.variable("LD_LIBRARY_PATH"), &look.paths, input.layers);
    let frameworks = Frameworks::new(&look);
    let code = code::used(&look, &frameworks);
    let versions = versions::of(&look, &frameworks, &code);
    let (compat, own_drivers) = drivers::in_image(&look, &folders);
    let shown = |path: &[u8]| {
        let trimmed = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        // The root folder keeps its slash.
        shown_folder(path.get(..trimmed.max(1)).unwrap_or(path))
    };
    Needs {
        platform: input.image.platform.clone(),
        environment: environment(&look),
        incomplete: look.incomplete(&code),
        uses_cuda: !code.is_empty() || !versions.is_empty() || loads_cuda(&look),
        versions,
        code,
        cudnn: cudnn(&look),
        compat,
        own_drivers,
        loader_folders: folders
            .iter()
            .map(|folder| LoaderFolder { path: shown(&folder.path), by: folder.by.clone() })
            .collect(),
    }
}

/// The variables that affect verdicts, sorted by name. Values that look like secrets are redacted; no verdict
/// depends on them.
fn environment(look: &Look<'_>) -> Vec<(String, String)> {
    const NAMES: [&str; 4] =
        ["NVIDIA_DISABLE_REQUIRE", "CUDA_VERSION", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_VISIBLE_DEVICES"];
    let pairs = look.environment().iter().filter_map(|pair| pair.split_once('='));
    let decides = |name: &str| name.starts_with("NVIDIA_REQUIRE_") || NAMES.contains(&name);
    let last: BTreeMap<&str, &str> = pairs.filter(|(name, _)| decides(name)).collect();
    let shown = |(name, value): (&str, &str)| (printable(name), printable(&redact::value(name, value)));
    last.into_iter().map(shown).collect()
}

/// Whether a file in use depends on the driver's or a CUDA library, present or missing.
fn loads_cuda(look: &Look<'_>) -> bool {
    let links = &look.inventory.links;
    let mut known = look::Names::default();
    let asks = links.ids().filter(|id| look.is_used(*id)).any(|id| {
        let object = links.object(id);
        let opens = object.opens.iter().filter(|open| !open.optional).map(|open| &open.name);
        object.needs.iter().map(|need| &need.name).chain(opens).any(|name| known.is_cuda(look, name))
    });
    // Some libraries open others by built-in names, without an entry in the dlopen table.
    asks || look.inventory.mentions.iter().any(|mention| {
        look.object_at(mention.node).is_some_and(|id| look.is_used(id))
            && mention.libraries.iter().any(|name| known.is_cuda(look, name))
    })
}

/// cuDNN in use, one entry for each cuDNN version and CUDA major version.
fn cudnn(look: &Look<'_>) -> Vec<UsedCudnn> {
    let mut found: BTreeMap<(Vec<u32>, Option<u32>), UsedCudnn> = BTreeMap::new();
    for library in look.libraries.iter().filter(|library| &*library.component == "cudnn") {
        let Some((text, _)) = &library.version else { continue };
        let version: Vec<u32> = numbers(text.as_bytes()).into_iter().take(3).collect();
        // A soname contains only the major version, which is not sufficient.
        if version.len() < 2 {
            continue;
        }
        let cuda_major = library.cuda_major.as_ref().map(|(major, _)| *major);
        let path = look.path(library.node);
        let firm = look.is_firm(library.object);
        let name = version.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
        let whole = crate::cuda::links::file_name(&path).starts_with(b"libcudnn.so");
        let one = UsedCudnn { version: name, path: escape(&path), cuda_major, firm };
        match found.entry((version, cuda_major)) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(one);
            }
            std::collections::btree_map::Entry::Occupied(mut place) => {
                let known = place.get_mut();
                known.firm |= firm;
                // `libcudnn.so` itself represents its sub-libraries.
                if whole {
                    known.path = one.path;
                }
            }
        }
    }
    found.into_values().collect()
}

/// Highest version first; among equal versions those certainly used.
fn sort(versions: &mut [CudaNeed]) {
    versions.sort_by(|a, b| {
        let key = |need: &CudaNeed| (need.version.major, need.version.minor.unwrap_or(0), need.firm);
        key(b).cmp(&key(a)).then_with(|| (&a.who, &a.subject).cmp(&(&b.who, &b.subject)))
    });
}
