//! The CUDA content in a few words.

use std::collections::BTreeMap;

use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::base::text::{escape, printable};
use crate::cuda::{Framework, Inventory, Level, Library, Strategy};

/// A framework or service that uses the GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameworkItem {
    /// Name and version.
    pub title: String,
    /// How it gets its CUDA libraries.
    pub about: String,
    /// Why that is known.
    pub evidence: String,
    /// Its path, any bytes.
    pub raw: Vec<u8>,
}

/// The header above the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The content in a sentence.
    pub sentence: String,
    /// Where the toolkit and the base image come from: small print.
    pub origin: Vec<String>,
    /// Frameworks and services that use CUDA, or of which that is unknown.
    pub frameworks: Vec<FrameworkItem>,
    /// The others by name, but for web servers, which nobody expects to use it.
    pub without_cuda: Vec<String>,
    /// What is still being looked into.
    pub waits_for: Option<String>,
    /// What was looked for, where there is no CUDA content at all.
    pub nothing: Option<String>,
}

impl Summary {
    pub(super) fn new(inventory: &Inventory) -> Self {
        let nothing = inventory.libraries.is_empty()
            && inventory.holders.is_empty()
            && inventory.gpu_code.is_empty()
            && inventory.toolkits.is_empty()
            && inventory.frameworks.is_empty();
        Self {
            sentence: sentence(inventory),
            origin: origin(inventory),
            frameworks: inventory.frameworks.iter().filter(|one| !is_without(one)).map(framework).collect(),
            without_cuda: without_cuda(inventory),
            waits_for: inventory.waits_for.as_deref().map(printable),
            nothing: nothing.then(|| checked_items(inventory)),
        }
    }
}

/// The main toolkit of the image: the target of `/usr/local/cuda`, or the only one.
fn toolkit(inventory: &Inventory) -> Option<&crate::cuda::Toolkit> {
    match (inventory.toolkit, inventory.toolkits.as_slice()) {
        (Some(place), toolkits) => toolkits.get(place),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
}

fn sentence(inventory: &Inventory) -> String {
    let toolkit = toolkit(inventory);
    let mut cuda = match toolkit.and_then(|toolkit| toolkit.version.as_deref()) {
        Some(version) => format!("CUDA {}", printable(version)),
        None if inventory.toolkits.len() > 1 => counted(inventory.toolkits.len(), "CUDA toolkit"),
        None if toolkit.is_some() => "CUDA, unknown version".to_owned(),
        None => "No toolkit".to_owned(),
    };
    if let Some(toolkit) = toolkit {
        cuda = format!("{cuda} {}", toolkit.flavor.label());
    }
    if let Some(version) = toolkit.and_then(|toolkit| toolkit.cudnn_version.as_deref()) {
        cuda = format!("{cuda} with cuDNN {}", printable(version));
    }
    let own: Vec<&Library> =
        inventory.libraries.iter().filter(|library| library.hard_link_of.is_none()).collect();
    let bytes: u64 = own.iter().map(|library| library.bytes).sum();
    let libraries = counted(own.len(), "library");
    let mut text = format!("{cuda}; {libraries} of {}", human(bytes));
    let code: u64 = inventory.gpu_code.iter().map(|sum| sum.bytes).sum();
    if code > 0 {
        let mut archs: Vec<u32> = inventory.gpu_code.iter().map(|sum| sum.arch).collect();
        archs.sort_unstable();
        archs.dedup();
        let archs = counted(archs.len(), "architecture");
        text = format!("{text}; {} of GPU code for {archs}", human(code));
    } else if !own.is_empty() {
        text.push_str("; no GPU code");
    }
    text.push('.');
    text
}

fn origin(inventory: &Inventory) -> Vec<String> {
    let mut origin = Vec::new();
    for toolkit in inventory.toolkits.iter().take(3) {
        let version = match (&toolkit.version, inventory.toolkits.len()) {
            (Some(version), 2..) => format!(", {}", printable(version)),
            _ => String::new(),
        };
        let evidence = match toolkit.evidence.as_str() {
            "" => String::new(),
            evidence => format!(" (version from {})", printable(evidence)),
        };
        origin.push(format!("toolkit in {}{version}{evidence}", escape(&toolkit.root)));
    }
    if inventory.toolkits.len() > 3 {
        origin.push(format!("and {} more", grouped(inventory.toolkits.len() as u64 - 3)));
    }
    if let Some(base) = &inventory.base {
        let name = base.reference.as_deref().or(base.distribution.as_deref());
        origin.extend(name.map(|name| format!("base image {}", printable(name))));
    }
    origin
}

fn is_without(framework: &Framework) -> bool {
    framework.strategy == Strategy::None
}

fn without_cuda(inventory: &Inventory) -> Vec<String> {
    let mut copies: BTreeMap<String, usize> = BTreeMap::new();
    let others = inventory.frameworks.iter().filter(|one| is_without(one) && one.level != Level::Server);
    for name in others.map(title) {
        *copies.entry(name).or_default() += 1;
    }
    let shown = |(name, count)| if count == 1 { name } else { format!("{name} ({count} copies)") };
    copies.into_iter().map(shown).collect()
}

fn title(framework: &Framework) -> String {
    let version = framework.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
    printable(&format!("{}{version}", framework.name))
}

fn framework(framework: &Framework) -> FrameworkItem {
    let built = framework.cuda_version.as_deref();
    let built = built.map_or_else(String::new, |version| format!("built for CUDA {version}; "));
    FrameworkItem {
        title: title(framework),
        about: printable(&format!("{built}{}", framework.strategy.label())),
        evidence: printable(&framework.evidence),
        raw: framework.path.clone(),
    }
}

fn checked_items(inventory: &Inventory) -> String {
    format!(
        "Checked {} and shared objects and {}. Found no CUDA library, GPU code, CUDA toolkit \
         or GPU framework.",
        counted(inventory.links.objects.len(), "executable"),
        counted(inventory.packages.len(), "package"),
    )
}
