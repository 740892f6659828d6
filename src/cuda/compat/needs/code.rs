//! Files with GPU code that are in use, and their weight in the verdict.

use hashbrown::{HashMap, HashSet};

use super::frameworks::{Frameworks, is_core, whole_name};
use super::look::{Look, is_cuda_component};
use crate::base::text::escape;
use crate::cuda::compat::{CodeFile, Weight};
use crate::cuda::links::{ObjectId, RootKind, file_name, folder_of, site_root};
use crate::cuda::{GpuCode, HolderKind, Level, Library, Supplier};
use crate::formats::fatbin::Suffix;
use crate::rootfs::NodeId;

/// Frameworks in packages with GPU code that compute on the CPU by default. Sources: the documentation of
/// xgboost on `device`, of lightgbm on `device_type`, of catboost on `task_type`.
const ON_PROCESSOR: [&str; 3] = ["catboost", "lightgbm", "xgboost"];

/// A file with GPU code.
struct Holder<'a> {
    node: NodeId,
    object: ObjectId,
    /// Its library, if it is one.
    library: Option<&'a Library>,
    /// Index of its framework.
    framework: Option<usize>,
    code: Vec<GpuCode>,
}

/// All files with GPU code in use, sorted by path.
pub(super) fn used(look: &Look<'_>, frameworks: &Frameworks) -> Vec<CodeFile> {
    let holders = holders(look, frameworks);
    let largest = largest(look, &holders);
    let mut files: Vec<CodeFile> =
        (0..).zip(&holders).map(|(at, one)| file(look, one, at, &largest)).collect();
    // CUDA components and files that the image starts are not part of a framework's choice.
    let stands = |(file, holder): &(&mut CodeFile, &Holder<'_>)| {
        file.weight == Weight::Decides
            && holder.framework.is_some()
            && !look.is_started(holder.object)
            && component(holder).is_none()
    };
    let mut standing: Vec<(&mut CodeFile, &Holder<'_>)> =
        files.iter_mut().zip(&holders).filter(stands).collect();
    // A framework that another one needs is not an alternative to it: vllm does not run without torch. Such
    // needs are matched by name only, since the libraries of extension modules are loaded beforehand.
    let needs = standing.iter().flat_map(|(_, holder)| &look.inventory.links.object(holder.object).needs);
    let needed: HashSet<&str> = needs.map(|need| &*need.name).collect();
    if standing.len() > 1 {
        for (file, holder) in &mut standing {
            let name = escape(look.rootfs.node(holder.node).name());
            file.among_frameworks = !needed.contains(&*name);
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Files with SASS or PTX that are in use.
fn holders<'a>(look: &Look<'a>, frameworks: &Frameworks) -> Vec<Holder<'a>> {
    let runs = |row: &&GpuCode| row.is_for_running();
    let libraries = look
        .libraries
        .iter()
        // cuDNN is checked by its version.
        .filter(|library| !matches!(&*library.component, "driver" | "cudnn"))
        .map(|library| (library.node, library.object, Some(*library), &library.gpu_code));
    let others = look.inventory.holders.iter().filter(|holder| holder.kind != HolderKind::Archive);
    let others = others.filter_map(|holder| {
        let object = look.object_at(holder.node).filter(|id| look.is_used(*id))?;
        Some((holder.node, object, None, &holder.gpu_code))
    });
    let with_code = libraries.chain(others).filter(|(.., code)| code.iter().any(|row| runs(&row)));
    with_code
        .map(|(node, object, library, code)| Holder {
            node,
            object,
            library,
            framework: frameworks.of(look, node),
            code: code.iter().filter(runs).cloned().collect(),
        })
        .collect()
}

/// For each framework: the index of the file with the most GPU code, core libraries first, and the number of
/// files. Architecture-specific files never represent a framework.
fn largest(look: &Look<'_>, holders: &[Holder<'_>]) -> HashMap<usize, (usize, usize)> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut best: HashMap<usize, ((bool, u64), usize)> = HashMap::new();
    for (at, holder) in holders.iter().enumerate() {
        let Some(place) = holder.framework.filter(|_| component(holder).is_none()) else { continue };
        let Some(framework) = look.inventory.frameworks.get(place) else { continue };
        *counts.entry(place).or_default() += 1;
        let for_one = holder.code.iter().all(|row| row.suffix == Some(Suffix::A));
        if for_one || named_for_one(look, holder).is_some() {
            continue;
        }
        let bytes = holder.code.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
        let size = (is_core(look, framework, holder.node), bytes);
        if best.get(&place).is_none_or(|(known, _)| size > *known) {
            best.insert(place, (size, at));
        }
    }
    let count = |place: &usize| counts.get(place).copied().unwrap_or(1);
    best.into_iter().map(|(place, (_, at))| (place, (at, count(&place)))).collect()
}

/// The CUDA component of a file.
fn component<'a>(holder: &Holder<'a>) -> Option<&'a str> {
    let name = &*holder.library?.component;
    is_cuda_component(name).then_some(name)
}

fn file(
    look: &Look<'_>,
    holder: &Holder<'_>,
    at: usize,
    largest: &HashMap<usize, (usize, usize)>,
) -> CodeFile {
    let component = component(holder);
    let (weight, evidence) = weight(look, holder, at, largest);
    let rule = component.and_then(|name| look.catalog.component(name));
    CodeFile {
        path: look.shown(holder.node),
        what: what(look, holder),
        weight,
        evidence,
        from_sm: rule.and_then(|rule| rule.needs_sm),
        among_frameworks: false,
        code: holder.code.clone(),
    }
}

fn weight(
    look: &Look<'_>,
    holder: &Holder<'_>,
    at: usize,
    largest: &HashMap<usize, (usize, usize)>,
) -> (Weight, String) {
    let path = look.shown(holder.node);
    // A file that the image starts, or that is linked to one, is not selected by GPU.
    if let Some(why) = named_for_one(look, holder).filter(|_| !look.is_started(holder.object)) {
        return (Weight::Optional, why);
    }
    let object = look.inventory.links.object(holder.object);
    let firm = look.is_firm(holder.object);
    match component(holder) {
        Some("cublas") if firm => {
            let by = object.reached.as_ref().map(|reached| look.inventory.links.object(reached.from).node);
            let by = by.map_or_else(|| "something in use".to_owned(), |node| look.shown(node));
            return (Weight::Decides, format!("loaded by {by}"));
        }
        Some(name) => {
            let text = format!("{path} is in use; unknown whether kernels of {name} run");
            return (Weight::MayDecide, text);
        }
        None => {}
    }
    let framework = holder.framework.and_then(|place| look.inventory.frameworks.get(place));
    let starts = |kind: RootKind| matches!(kind, RootKind::Entrypoint | RootKind::Preload);
    let root = object.root.as_ref();
    if let Some(root) = root.filter(|root| starts(root.kind)) {
        return (Weight::Decides, format!("{path} is {}", root.why));
    }
    if framework.is_none() && is_of_application(look, holder) && look.is_started(holder.object) {
        let chain = look.inventory.links.chain(holder.object);
        let first = chain.last().map(|id| look.inventory.links.object(*id));
        let by = first.and_then(|first| Some((first, first.root.as_ref().filter(|root| starts(root.kind))?)));
        let why = by.map_or_else(
            || format!("{path} is loaded by the image's start command"),
            |(first, root)| format!("{path} is loaded by {}, {}", look.shown(first.node), root.why),
        );
        return (Weight::Decides, why);
    }
    if let Some((framework, (best, count))) =
        framework.zip(holder.framework.and_then(|place| largest.get(&place)))
        && *best == at
        && framework.level != Level::Kernels
        && !look.is_aside(holder.node)
        && !ON_PROCESSOR.contains(&&*framework.name)
    {
        let of = if *count > 1 { "the largest of" } else { "the only one of" };
        return (Weight::Decides, format!("{of} {}'s files with GPU code", framework.name));
    }
    let text = match root {
        Some(root) => format!("{path} is {}: unknown whether its kernels run", root.why),
        None => format!("{path} is in use; unknown whether its kernels run"),
    };
    (Weight::MayDecide, text)
}

/// Whether the file was added by the author of the image.
fn is_of_application(look: &Look<'_>, holder: &Holder<'_>) -> bool {
    if let Some(library) = holder.library {
        return library.supplier == Supplier::Application;
    }
    let path = look.path(holder.node);
    look.inventory.owners.of(holder.node).is_none()
        && site_root(&path).is_none()
        && look.catalog.toolkit_root(&path).is_none()
}

/// The reason why the loader of a file selects it by GPU: its name contains a single architecture.
fn named_for_one(look: &Look<'_>, holder: &Holder<'_>) -> Option<String> {
    let path = look.path(holder.node);
    let number = [file_name(&path), file_name(folder_of(&path))].into_iter().find_map(one_architecture)?;
    Some(format!("{} is for sm_{number} by its name: its loader chooses by GPU", escape(&path)))
}

/// The SM number in a file name: 75 for `libnvinfer_builder_resource_sm75.so.10`; `None` without one or with
/// several.
fn one_architecture(name: &[u8]) -> Option<u32> {
    let mut found = None;
    for word in name.to_ascii_lowercase().split(|byte| !byte.is_ascii_alphanumeric()) {
        let Some(rest) = word.strip_prefix(b"sm") else { continue };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, end) = rest.split_at_checked(digits)?;
        if !(2..=3).contains(&digits) || !matches!(end, b"" | b"a" | b"f") {
            continue;
        }
        let number: u32 = str::from_utf8(number).ok()?.parse().ok()?;
        if found.replace(number).is_some_and(|known| known != number) {
            return None;
        }
    }
    found
}

/// Name of the owner: component, framework, package or application.
fn what(look: &Look<'_>, holder: &Holder<'_>) -> String {
    if let (Some(name), Some(library)) = (component(holder), holder.library) {
        return match &library.version {
            Some((version, _)) => format!("{name} {version}"),
            None => name.to_owned(),
        };
    }
    if let Some(framework) = holder.framework.and_then(|place| look.inventory.frameworks.get(place)) {
        let whole = whole_name(framework);
        return whole.split('+').next().unwrap_or(&whole).to_owned();
    }
    let owner = look.inventory.owners.of(holder.node);
    match owner.and_then(|place| look.inventory.packages.get(place)) {
        Some(package) => format!("{} {}", package.name, package.version),
        None => super::APPLICATION.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::one_architecture;

    #[test]
    fn names_tell_one_architecture() {
        for (name, wanted) in [
            ("libnvinfer_builder_resource_sm75.so.10.13.0", Some(75)),
            ("sm100", Some(100)),
            ("flash_sm90a.so", Some(90)),
            ("kernels_sm80_sm90.so", None),
            ("libsm6.so.1", None),
            ("small.so", None),
            ("libkernels.so", None),
        ] {
            assert_eq!(one_architecture(name.as_bytes()), wanted, "{name}");
        }
    }
}
