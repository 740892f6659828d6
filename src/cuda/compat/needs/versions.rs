//! CUDA versions that files in use were built for.

use hashbrown::HashSet;

use super::frameworks::{Frameworks, whole_name};
use super::look::{Look, is_cuda_component};
use super::sort;
use crate::base::text::escape;
use crate::cuda::catalog::{Catalog, major_minor, numbers};
use crate::cuda::compat::{CodeFile, CudaNeed, CudaVersion, Weight};
use crate::cuda::{Level, Library, StringReference, VersionSource};
use crate::formats::fatbin::GpuKind;

/// Maximum number of listed versions; real images have one to three.
const MOST: usize = 36;

/// Source of a requirement; for each source, each version is listed once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Who {
    Runtime,
    Framework,
    Application,
    Toolkit,
    Library,
}

/// Required CUDA versions, highest first.
pub(super) fn of(look: &Look<'_>, frameworks: &Frameworks, code: &[CodeFile]) -> Vec<CudaNeed> {
    let runtimes: Vec<CudaNeed> = look
        .libraries
        .iter()
        .filter(|one| &*one.component == "cudart")
        .filter_map(|one| of_library(look, one))
        .collect();
    let has_runtime = !runtimes.is_empty();
    let mut found: Vec<(Who, CudaNeed)> = runtimes.into_iter().map(|need| (Who::Runtime, need)).collect();
    found.extend(of_frameworks(look, frameworks).into_iter().map(|need| (Who::Framework, need)));
    found.extend(
        code.iter().filter_map(|file| of_ptx(look.catalog, file)).map(|need| (Who::Application, need)),
    );
    found.extend(of_toolkit(look).map(|need| (Who::Toolkit, need)));
    let most = found.iter().map(|(_, need)| need.version.major).max();
    let others = look.libraries.iter().filter(|one| is_cuda_component(&one.component));
    let others = others.filter(|one| &*one.component != "cudart").filter(|one| {
        let major = one.cuda_major.as_ref().map(|(major, _)| *major);
        !has_runtime || major > most
    });
    found.extend(others.filter_map(|one| of_library(look, one)).map(|need| (Who::Library, need)));
    // Of equal requirements, one in certain use is listed, otherwise the first.
    found.sort_by_key(|(_, need)| !need.firm);
    let mut told = HashSet::new();
    found.retain(|(who, need)| told.insert((*who, need.version)));
    let mut versions: Vec<CudaNeed> = found.into_iter().map(|(_, need)| need).collect();
    sort(&mut versions);
    versions.truncate(MOST);
    versions
}

/// Requirement by the version of a library, otherwise by the major version of its soname, folder or package.
fn of_library(look: &Look<'_>, library: &Library) -> Option<CudaNeed> {
    let (major, why) = library.cuda_major.as_ref().map_or((None, ""), |(major, why)| (Some(*major), why));
    let minor = library.version.as_ref().and_then(|(version, source)| {
        let minor = minor_of(look.catalog, &library.component, version, *source)?;
        (major.is_none() || major == Some(minor.0)).then_some((minor, version, *source))
    });
    let path = look.path(library.node);
    let name = escape(crate::cuda::links::file_name(&path));
    let (version, evidence) = match minor {
        Some(((major, minor), version, source)) => {
            let by = match source {
                VersionSource::FileName => "from its name",
                VersionSource::Link => "from a file name beside it",
                VersionSource::Package => "from its package",
                VersionSource::Note => "from its note",
            };
            let text = format!("version {version} {by}, released with CUDA {major}.{minor}");
            (CudaVersion { major, minor: Some(minor) }, text)
        }
        None => (CudaVersion { major: major?, minor: None }, format!("CUDA {} ({why})", major?)),
    };
    Some(CudaNeed {
        version,
        who: library.soname.clone().unwrap_or(name),
        subject: escape(&path),
        evidence,
        firm: look.is_firm(library.object),
    })
}

/// CUDA version with which a component's version was released; `None` if unknown.
fn minor_of(catalog: &Catalog, component: &str, version: &str, source: VersionSource) -> Option<(u32, u32)> {
    let shipped: Vec<(u32, u32)> = match component {
        "cudart" => catalog.toolkits_of_cudart(version).filter_map(|one| major_minor(&one.version)).collect(),
        "cublas" => catalog.toolkits_of_cublas(version).filter_map(|one| major_minor(&one.version)).collect(),
        _ => Vec::new(),
    };
    if let [one, rest @ ..] = &shipped[..] {
        return rest.iter().all(|other| other == one).then_some(*one);
    }
    // These components have the toolkit's version; `libcudart.so.11.0` is the soname of all 11.x.
    let bears =
        matches!(component, "cudart" | "nvrtc" | "nvjitlink" | "nvfatbin" | "nvvm" | "cupti" | "nvtx");
    let whole = numbers(version.as_bytes()).len() > 2 || source == VersionSource::Package;
    major_minor(version).filter(|(major, _)| bears && whole && (7..100).contains(major))
}

/// Requirements of frameworks with files in use.
fn of_frameworks(look: &Look<'_>, frameworks: &Frameworks) -> Vec<CudaNeed> {
    let list = &look.inventory.frameworks;
    let mut in_use: Vec<Option<bool>> = vec![None; list.len()];
    let links = &look.inventory.links;
    for id in links.ids().filter(|id| look.is_used(*id)) {
        let place = frameworks.of(look, links.object(id).node);
        if let Some(state) = place.and_then(|place| in_use.get_mut(place)) {
            *state = Some(state.unwrap_or(false) || look.is_firm(id));
        }
    }
    let mut used: Vec<_> =
        list.iter().zip(in_use).filter_map(|(framework, firm)| Some((framework, firm?))).collect();
    used.sort_by_key(|(framework, _)| framework.level != Level::Framework);
    let need = |(framework, firm): (&crate::cuda::Framework, bool)| {
        let text = framework.cuda_version.as_deref()?;
        let who = whole_name(framework);
        Some(CudaNeed {
            version: CudaVersion::parse(text)?,
            evidence: format!("{who} was built for CUDA {}", CudaVersion::parse(text)?),
            who,
            subject: escape(&framework.path),
            firm,
        })
    };
    used.into_iter().filter_map(need).collect()
}

/// CUDA version from the PTX of the application: the PTX ISA version identifies the toolkit. The only
/// evidence for programs with a static CUDA runtime.
fn of_ptx(catalog: &Catalog, file: &CodeFile) -> Option<CudaNeed> {
    if file.weight != Weight::Decides || file.what != super::APPLICATION {
        return None;
    }
    let ptx = file.code.iter().filter(|row| row.kind == GpuKind::Ptx);
    let (major, minor) = ptx.filter_map(|row| row.isa).max()?;
    let isa = format!("{major}.{minor}");
    let writes = catalog.toolkits().iter().filter(|toolkit| toolkit.ptx_isa == isa);
    // Several toolkits may emit it: the first one is the minimum.
    let version = writes.map(|toolkit| numbers(toolkit.version.as_bytes())).min()?;
    let version = CudaVersion { major: *version.first()?, minor: version.get(1).copied() };
    Some(CudaNeed {
        version,
        who: file.path.clone(),
        subject: file.path.clone(),
        evidence: format!("its PTX ISA {isa} is that of CUDA {version}"),
        firm: true,
    })
}

/// The toolkit at `/usr/local/cuda`, if a library of it is in use, or a file of the application names its nvcc.
fn of_toolkit(look: &Look<'_>) -> Option<CudaNeed> {
    let toolkit = look.inventory.toolkits.get(look.inventory.toolkit?)?;
    let version = CudaVersion::parse(toolkit.version.as_deref()?)?;
    let is_its = |library: &&&Library| {
        let path = look.path(library.node);
        is_cuda_component(&library.component)
            && path.strip_prefix(&toolkit.root[..]).is_some_and(|rest| rest.starts_with(b"/"))
    };
    let its: Vec<&&Library> = look.libraries.iter().filter(is_its).collect();
    let firm = its.iter().find(|library| look.is_firm(library.object));
    let why = if let Some(one) = firm.or(its.first()) {
        format!("in use: {}", look.shown(one.node))
    } else {
        look.paths.lookup(&[&toolkit.root[..], b"/bin/nvcc"].concat())?;
        let names_it = |mention: &&StringReference| mention.words.contains(&"nvcc");
        let file = look.inventory.mentions.iter().find(names_it)?.node;
        format!("{} names nvcc", look.shown(file))
    };
    Some(CudaNeed {
        version,
        who: format!("CUDA toolkit {version}"),
        evidence: format!("{why}; version from {}", toolkit.evidence),
        subject: escape(&toolkit.root),
        firm: firm.is_some(),
    })
}
