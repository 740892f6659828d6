//! Dependencies against the base image: CUDA twice, CUDA or nvcc missing, GPUs that torch has no code for.

mod dependency;

use super::base_name::BaseName;
use super::machines::Wanted;
use super::node::Position;
use super::value::{FileFinding, FileRule, listed};
use crate::cuda::Flavor;
use crate::cuda::catalog::{Catalog, NvccUse, PythonCuda};
use crate::cuda::compat::{CudaVersion, TargetGpu};
use crate::findings::Severity;

pub(super) use dependency::{Dependency, Manager};

/// The base image as a file names it.
pub(super) struct Base<'a> {
    pub(super) reference: &'a str,
    pub(super) name: BaseName,
    pub(super) at: Position,
    pub(super) key: &'a str,
    /// What to write instead of it, without CUDA.
    pub(super) slim: &'a str,
}

/// What a file installs.
#[derive(Default)]
pub(super) struct Installed {
    pub(super) dependencies: Vec<Dependency>,
    /// Keys that install or compile more, which is not read: other files, shell commands.
    pub(super) unread: Vec<String>,
    /// The key of a command that calls nvcc while the image is built.
    pub(super) calls_nvcc: Option<String>,
}

/// Judges dependencies and base image against each other.
pub(super) fn judge(
    base: Option<&Base<'_>>,
    installed: &Installed,
    catalog: &Catalog,
    findings: &mut Vec<FileFinding>,
) {
    let dependencies = &installed.dependencies;
    // The CUDA wheels of a list serve packages that otherwise load the libraries of the system, as their extras do.
    // cuDNN requires cuBLAS, so that either may be listed alone; the runtime alone has neither.
    let is_wheel = |one: &Dependency| {
        let starts = ["nvidia-cublas", "nvidia-cudnn"];
        one.manager == Manager::Pip && starts.iter().any(|start| one.name.starts_with(start))
    };
    let has_wheels = dependencies.iter().any(is_wheel);
    let cuda = |one: &Dependency| match one.cuda(catalog) {
        Some(PythonCuda::Base) if has_wheels => Some(PythonCuda::Wheels),
        cuda => cuda,
    };
    let with =
        |wanted| dependencies.iter().filter(|one| cuda(one) == Some(wanted)).collect::<Vec<&Dependency>>();
    let stack = Stack {
        wheels: with(PythonCuda::Wheels),
        base: with(PythonCuda::Base),
        nvcc: dependencies.iter().filter_map(|one| Some((one, one.nvcc(catalog)?))).collect(),
        installed,
        catalog,
    };
    if let Some(base) = base {
        match base.name.flavor {
            Some(Flavor::Devel) => findings.push(stack.devel(base)),
            Some(Flavor::Runtime) => findings.extend(stack.runtime(base)),
            _ if base.name.plain => stack.plain(base, findings),
            Some(Flavor::Base) => {}
            _ if base.name.has_libraries() && !stack.needs_nvcc() => findings.extend(stack.runtime(base)),
            _ => findings.extend(stack.unknown(base)),
        }
    }
    let Some(wheel) = stack.wheels.first() else { return };
    for one in dependencies.iter().filter(|one| one.is_toolkit()) {
        // Tools that compile are another matter than libraries.
        if one.name.contains("nvcc") || (!stack.nvcc.is_empty() && one.name.contains("toolkit")) {
            continue;
        }
        let text = format!(
            "{} brings its own CUDA libraries in wheels: those of {} are not loaded.",
            wheel.shown(),
            one.shown()
        );
        findings.push(
            FileFinding::new(FileRule::CudaTwice, Severity::Medium, one.at, &one.key, text)
                .evidence(source(catalog, wheel))
                .fix(format!("Remove {}.", one.name)),
        );
    }
}

/// CUDA in the dependencies.
struct Stack<'a> {
    wheels: Vec<&'a Dependency>,
    base: Vec<&'a Dependency>,
    nvcc: Vec<(&'a Dependency, NvccUse)>,
    installed: &'a Installed,
    catalog: &'a Catalog,
}

fn names<'a>(list: impl IntoIterator<Item = &'a Dependency>) -> String {
    listed(list.into_iter().map(Dependency::shown))
}

fn source(catalog: &Catalog, one: &Dependency) -> String {
    let known =
        catalog.python_package(&one.name).map_or("PyPI, extras of the package", |known| &known.source);
    format!("{}: {known}", one.shown())
}

impl Stack<'_> {
    /// A finding about the base, with the sources of what is known of the dependencies.
    fn about(&self, base: &Base<'_>, rule: FileRule, severity: Severity, text: String) -> FileFinding {
        let mut finding = FileFinding::new(rule, severity, base.at, base.key, text);
        let known = self.nvcc.iter().map(|(one, _)| *one).chain(self.wheels.iter().copied());
        let mut told: Vec<&str> = Vec::new();
        for one in known.chain(self.base.iter().copied()) {
            if !told.contains(&one.name.as_str()) && told.len() < 6 {
                told.push(&one.name);
                finding = finding.evidence(source(self.catalog, one));
            }
        }
        if !self.installed.unread.is_empty() {
            let keys = self.installed.unread.join(", ");
            finding = finding.evidence(format!("Not read, and may install or compile more: {keys}"));
        }
        finding
    }

    fn needs_nvcc(&self) -> bool {
        !self.nvcc.is_empty() || self.installed.calls_nvcc.is_some()
    }

    fn devel(&self, base: &Base<'_>) -> FileFinding {
        let reference = base.reference;
        if let Some(key) = &self.installed.calls_nvcc {
            let text = format!(
                "{key} calls nvcc, and {reference} has it; nothing known needs nvcc when the program runs."
            );
            return self
                .about(base, FileRule::DevelBase, Severity::Info, text)
                .fix("Build in a stage of a Dockerfile, and start from a base without nvcc.");
        }
        let nvcc = names(self.nvcc.iter().map(|(one, _)| *one));
        if !self.nvcc.is_empty() {
            let at_run = self.nvcc.iter().any(|(_, nvcc)| *nvcc == NvccUse::Run);
            let (text, fix) = if at_run {
                (format!("nvcc is called when the program runs, by {nvcc}: {reference} has it."), None)
            } else {
                let text =
                    format!("nvcc compiles {nvcc} during installation; nothing known needs nvcc after that.");
                (
                    text,
                    Some(
                        "Install a prebuilt wheel, or build in a stage of a Dockerfile, and start from a base without nvcc.",
                    ),
                )
            };
            let mut finding = self.about(base, FileRule::DevelBase, Severity::Info, text);
            finding.fix = fix.map(str::to_owned);
            return finding;
        }
        let unless = if self.installed.unread.is_empty() {
            String::new()
        } else {
            format!(" Unknown: what {} needs.", self.installed.unread.join(", "))
        };
        if !self.wheels.is_empty() && self.base.is_empty() {
            let text = format!(
                "CUDA comes in the wheels of {}, and {reference} has CUDA again, with compilers and headers. No package \
                of the file needs nvcc.{unless}",
                names(self.wheels.iter().copied())
            );
            return self
                .about(base, FileRule::CudaTwice, Severity::High, text)
                .fix(format!("{} would do.", base.slim));
        }
        let text = if self.base.is_empty() {
            format!(
                "{reference} has compilers and headers, and no package of the file is known to need CUDA or nvcc.{unless}"
            )
        } else {
            format!(
                "The CUDA libraries of the base image are for {}, and no package of the file needs nvcc: the runtime \
                flavor has them.{unless}",
                names(self.base.iter().copied())
            )
        };
        let smaller = base.name.in_flavor("runtime");
        let mut finding = self.about(base, FileRule::DevelBase, Severity::Medium, text);
        finding.fix = smaller.map(|smaller| {
            if self.base.is_empty() {
                format!("{smaller}, or {} if the program needs no CUDA of the base image.", base.slim)
            } else {
                format!("{smaller} would do.")
            }
        });
        finding
    }

    fn runtime(&self, base: &Base<'_>) -> Option<FileFinding> {
        let (reference, wheels) = (base.reference, names(self.wheels.iter().copied()));
        if let Some(missing) = self.without_nvcc(base) {
            return Some(missing);
        }
        (!self.wheels.is_empty() && self.base.is_empty()).then(|| {
            let text = format!(
                "CUDA comes in the wheels of {wheels}: the CUDA libraries of {reference} are not loaded."
            );
            self.about(base, FileRule::CudaTwice, Severity::Medium, text)
                .fix(format!("{} would do.", base.slim))
        })
    }

    /// A package that calls nvcc on a base without it.
    fn without_nvcc(&self, base: &Base<'_>) -> Option<FileFinding> {
        if let Some(key) = &self.installed.calls_nvcc {
            let text = format!("{key} calls nvcc, and {} has none.", base.reference);
            let finding = self.about(base, FileRule::NvccMissing, Severity::High, text);
            return Some(finding.fix("Use a devel base image, or build in a stage of a Dockerfile."));
        }
        let build = self.nvcc.iter().find(|(_, nvcc)| *nvcc == NvccUse::Build);
        let (one, nvcc) = build.or_else(|| self.nvcc.first())?;
        let (severity, when) = match nvcc {
            NvccUse::Build => (Severity::High, "when it is installed, unless pip finds a wheel"),
            NvccUse::Run => (Severity::Medium, "when the program runs, for some of its functions"),
        };
        let text = format!("{} calls nvcc {when}, and {} has none.", one.shown(), base.reference);
        let finding = self.about(base, FileRule::NvccMissing, severity, text);
        Some(finding.fix("Name a prebuilt wheel by URL, or use a devel base image."))
    }

    fn plain(&self, base: &Base<'_>, findings: &mut Vec<FileFinding>) {
        findings.extend(self.without_nvcc(base));
        if let Some(one) = self.base.first() {
            let text = format!(
                "{} loads CUDA libraries of the system, and {} has none.",
                one.shown(),
                base.reference
            );
            findings.push(self.about(base, FileRule::CudaMissing, Severity::High, text).fix(
                "Use the extras that install CUDA wheels (onnxruntime-gpu[cuda,cudnn], cupy[ctk]), or a runtime base image.",
            ));
        }
    }

    fn unknown(&self, base: &Base<'_>) -> Option<FileFinding> {
        let known = !self.wheels.is_empty() || !self.base.is_empty() || self.needs_nvcc();
        known.then(|| {
            let part = if base.name.has_libraries() { "nvcc" } else { "CUDA libraries or nvcc" };
            let text = format!("Whether {} contains {part} is not known from its name.", base.reference);
            FileFinding::new(FileRule::NotChecked, Severity::Info, base.at, base.key, text)
                .fix("Pass the image with --image to read it.")
        })
    }
}

/// Whether torch and the toolkit of the base image have code for a GPU.
pub(super) fn judge_gpu(
    wanted: &Wanted<'_>,
    target: &TargetGpu,
    base: Option<&Base<'_>>,
    dependencies: &[Dependency],
    catalog: &Catalog,
    findings: &mut Vec<FileFinding>,
) {
    let (name, title) = (wanted.name, target.title());
    let torch = dependencies.iter().find(|one| one.manager == Manager::Pip && one.name == "torch");
    let wheel = torch.and_then(|torch| Some((torch, catalog.torch_wheel(torch.version.as_deref()?)?)));
    if let Some((torch, wheel)) = wheel
        && !wheel.sm.iter().any(|sm| sm / 10 == target.sm / 10 && *sm <= target.sm)
    {
        let code: Vec<String> = wheel.sm.iter().map(|sm| format!("sm_{sm}")).collect();
        let text = format!(
            "The wheel of {} has no GPU code for {name} ({title}): no kernel image is available.",
            torch.shown()
        );
        findings.push(
            FileFinding::new(FileRule::GpuNotSupported, Severity::High, wanted.at, wanted.key, text)
                .evidence(format!("GPU code: {}, no PTX [{}]", code.join(", "), wheel.source))
                .fix("Choose another GPU, or a version of torch that was built for this one."),
        );
    }
    let Some((base, cuda)) = base.and_then(|base| Some((base, base.name.cuda?))) else { return };
    let Some(architecture) = catalog.architecture(target.sm) else { return };
    let since = CudaVersion::parse(&architecture.introduced);
    let dropped = architecture.dropped.as_deref().and_then(CudaVersion::parse);
    let before = |one: CudaVersion, other: CudaVersion| {
        (one.major, one.minor.unwrap_or(u32::MAX)) < (other.major, other.minor.unwrap_or(0))
    };
    let text = if since.is_some_and(|since| before(cuda, since)) {
        format!(
            "{} has CUDA {cuda}, which is older than {name} ({title}): its libraries have no code for this GPU, at best \
            PTX that the driver compiles.",
            base.reference
        )
    } else if dropped.is_some_and(|dropped| !before(cuda, dropped)) {
        format!("{} has CUDA {cuda}, which no longer supports {name} ({title}).", base.reference)
    } else {
        return;
    };
    findings.push(
        FileFinding::new(FileRule::GpuNotSupported, Severity::Medium, wanted.at, wanted.key, text)
            .evidence(format!(
                "{}: CUDA {} and later{} [{}]",
                architecture.name,
                architecture.introduced,
                architecture
                    .dropped
                    .as_ref()
                    .map_or_else(String::new, |dropped| format!(", before {dropped}")),
                architecture.source
            ))
            .fix("Choose another GPU, or another CUDA version."),
    );
}
