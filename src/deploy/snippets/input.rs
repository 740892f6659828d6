//! What the lines are written from: facts of an image, safe to write.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::analysis::Analysis;
use crate::base::redact;
use crate::cuda::catalog::{
    AcceleratorNames, Catalog, DriverDelivery, NvccUse, Profile, normalized_python_name,
};
use crate::cuda::compat::{Judge, RunVerdict, TargetGpu};
use crate::cuda::{Inventory, Strategy};

/// Maximum ports, as engines show.
const PORTS: usize = 32;
/// Maximum words of a command that is copied.
const WORDS: usize = 256;
/// Maximum pip packages written.
const PACKAGES: usize = 200;
/// Maximum length of a deployment's name: below the 63 of a DNS label.
const NAME_BYTES: usize = 40;

/// A machine that runs the image, under the name of its platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineName {
    /// Name of the platform.
    pub name: String,
    /// GPU with compute capability.
    pub gpu: String,
}

/// Facts of an image for the lines to paste. Texts from the image may have any content.
#[derive(Clone, Debug, Default)]
pub struct SnippetInput {
    /// Id of the profile.
    pub profile: String,
    /// The reference to write; `None` if the image has no name at a registry.
    pub reference: Option<String>,
    /// Name for the deployment: letters, digits and `-`.
    pub name: String,
    /// Entrypoint; empty without one.
    pub entrypoint: Vec<String>,
    /// Command; empty without one.
    pub command: Vec<String>,
    /// Whether entrypoint or command were left out because they contain a secret.
    pub redacted: bool,
    /// User and group as numbers.
    pub user: Option<(u32, Option<u32>)>,
    /// Exposed ports; `true` for UDP.
    pub ports: Vec<(u16, bool)>,
    /// Whether it uses CUDA.
    pub uses_cuda: bool,
    /// Folder of the driver's libraries that the loader of the image does not search; only where the platform mounts one.
    pub driver_folder: Option<String>,
    /// `LD_LIBRARY_PATH` and `PATH` of the image.
    pub loader_path: Option<String>,
    /// `PATH` of the image.
    pub path: Option<String>,
    /// Value for `NVIDIA_DRIVER_CAPABILITIES`, if the image's own lacks `compute`.
    pub capabilities: Option<String>,
    /// Azure VM sizes that run it.
    pub azure: Vec<MachineName>,
    /// Cerebrium's GPUs that run it.
    pub cerebrium: Vec<MachineName>,
    /// GKE's GPUs that run it.
    pub gke: Vec<MachineName>,
    /// Values of the label `nvidia.com/gpu.product` of GPUs that run it.
    pub products: Vec<MachineName>,
    /// Python version, such as `3.12`.
    pub python: Option<String>,
    /// Pip packages that no other one requires, with their versions.
    pub pip: Vec<(String, String)>,
    /// Whether all CUDA libraries of its frameworks come from wheels, and pip compiles none of its packages with nvcc.
    pub cuda_in_wheels: bool,
}

static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$",
    )
    .ok()
});

/// Whether a text is an image reference that every platform reads.
fn is_reference(text: &str) -> bool {
    text.len() <= 512 && REFERENCE.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

impl SnippetInput {
    /// The facts of an image for a platform; `None` until the inventory is complete.
    pub fn of(analysis: &Analysis, profile: &Profile) -> Option<Self> {
        let (needs, inventory) = (analysis.needs()?, analysis.inventory.as_deref()?);
        let catalog = analysis.known_rules();
        let image = &analysis.image;
        let config = image.config.as_ref().and_then(|config| config.config().as_ref());
        let words = |list: Option<&Vec<String>>| list.cloned().unwrap_or_default();
        let entrypoint = words(config.and_then(|config| config.entrypoint().as_ref()));
        let command = words(config.and_then(|config| config.cmd().as_ref()));
        let redacted = [&entrypoint, &command].into_iter().any(|words| is_secret(words));
        let copied = |words: Vec<String>| if redacted || words.len() > WORDS { Vec::new() } else { words };
        let environment = config.and_then(|config| config.env().as_ref());
        let variable = |name: &str| {
            let pairs = environment.into_iter().flatten().filter_map(|pair| pair.split_once('='));
            pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).next_back()
        };
        let reference = reference(image.source.as_str(), &image.reference, &image.tags);
        let folder = profile.driver_folder.as_ref().filter(|_| profile.driver == DriverDelivery::Folder);
        let loader_path = variable("LD_LIBRARY_PATH");
        let searched = |folder: &str| {
            let path = loader_path.as_deref().unwrap_or_default();
            path.split(':').any(|part| part.trim_end_matches('/') == folder)
        };
        let capabilities = variable("NVIDIA_DRIVER_CAPABILITIES").and_then(|value| {
            let named: Vec<&str> = value.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
            let lacks = !named.is_empty() && !named.iter().any(|one| matches!(*one, "compute" | "all"));
            lacks.then(|| format!("compute,{}", named.join(",")))
        });
        let mut ports: Vec<(u16, bool)> = config
            .and_then(|config| config.exposed_ports().as_ref())
            .into_iter()
            .flatten()
            .filter_map(|port| port_of(port))
            .collect();
        ports.sort_unstable();
        ports.dedup();
        ports.truncate(PORTS);
        let mut input = Self {
            profile: profile.id.clone(),
            name: name_of(reference.as_deref().unwrap_or(&image.reference)),
            reference,
            entrypoint: copied(entrypoint),
            command: copied(command),
            redacted,
            user: config.and_then(|config| user_of(config.user().as_deref()?)),
            ports,
            uses_cuda: needs.uses_cuda,
            driver_folder: folder.filter(|folder| needs.uses_cuda && !searched(folder)).cloned(),
            loader_path,
            path: variable("PATH"),
            capabilities,
            python: python_of(inventory),
            pip: top_packages(inventory),
            cuda_in_wheels: in_wheels(inventory) && !needs_compiler(inventory, catalog),
            ..Self::default()
        };
        if needs.uses_cuda {
            input.find_machines(&Judge::new(&needs, catalog), catalog);
        }
        Some(input)
    }

    fn find_machines(&mut self, judge: &Judge<'_>, catalog: &Catalog) {
        let runs = |target: &TargetGpu| {
            matches!(
                judge.judge(target).verdict,
                RunVerdict::Runs | RunVerdict::RunsWithJit | RunVerdict::RunsWithCompat
            )
        };
        // The usual machines of a platform come first: others are older, larger, or in few regions.
        let order = |machines: &mut Vec<MachineName>, profile: &str| {
            let usual = catalog.profile(profile).map_or(&[][..], |profile| &profile.machines);
            let place = |one: &MachineName| usual.iter().position(|machine| machine.name == one.name);
            machines.sort_by_key(|one| place(one).unwrap_or(usize::MAX));
        };
        let named = |names| {
            let known = catalog.accelerators(names).filter(|one| !one.retired).filter_map(|one| {
                let target = TargetGpu::named(catalog, &one.target)?;
                // Nodes of a cluster are usually not of the CPU architecture of the GPU's own board.
                runs(&target).then(|| (one, target.title()))
            });
            let each = |(one, gpu): (&crate::cuda::catalog::Accelerator, String)| {
                let names = if names == AcceleratorNames::GpuProduct {
                    &one.names[..]
                } else {
                    one.names.get(..1).unwrap_or_default()
                };
                names
                    .iter()
                    .map(|name| MachineName { name: name.clone(), gpu: gpu.clone() })
                    .collect::<Vec<_>>()
            };
            known.flat_map(each).collect::<Vec<MachineName>>()
        };
        self.cerebrium = named(AcceleratorNames::Cerebrium);
        order(&mut self.cerebrium, "cerebrium");
        self.gke = named(AcceleratorNames::Gke);
        order(&mut self.gke, "gke");
        self.products = named(AcceleratorNames::GpuProduct);
        let retired: BTreeSet<&str> = catalog
            .machines()
            .iter()
            .filter(|machine| machine.retired)
            .flat_map(|machine| machine.sizes.iter().map(|size| size.id.as_str()))
            .collect();
        self.azure = TargetGpu::all(catalog)
            .into_iter()
            .filter(|target| !retired.contains(target.id.as_str()))
            .filter_map(|target| {
                let name = target.id.strip_prefix("azure:")?.to_owned();
                runs(&target).then(|| MachineName { name, gpu: target.title() })
            })
            .collect();
        order(&mut self.azure, "azureml");
    }

    /// The reference to write.
    pub(super) fn image(&self) -> &str {
        self.reference.as_deref().unwrap_or(super::PLACEHOLDER)
    }

    /// Comment lines about what the lines leave open.
    pub(super) fn remarks(&self) -> String {
        let mut text = String::new();
        if self.reference.is_none() {
            text += &super::quote::comment(
                "The image has no name at a registry: push it, and write its name here.",
            );
        }
        if self.redacted {
            text += &super::quote::comment(
                "The command of the image is not copied: it contains what looks like a secret.",
            );
        }
        text
    }
}

fn is_secret(words: &[String]) -> bool {
    redact::words(words) != words
}

/// The name of an image at a registry, or in an engine.
fn reference(source: &str, reference: &str, tags: &[String]) -> Option<String> {
    let bare = ["docker://", "registry:", "docker-daemon:", "docker:", "podman://", "podman:"]
        .iter()
        .find_map(|prefix| reference.strip_prefix(prefix))
        .unwrap_or(reference);
    let has_name = matches!(source, "registry" | "docker-daemon" | "podman");
    let own = has_name.then(|| bare.to_owned()).filter(|name| is_reference(name));
    own.or_else(|| tags.iter().find(|tag| tag.contains([':', '/']) && is_reference(tag)).cloned())
}

/// A name of letters, digits and `-` from a reference: its last part without tag.
fn name_of(reference: &str) -> String {
    let bare = reference.split('@').next().unwrap_or_default();
    let last = bare.rsplit('/').next().unwrap_or_default();
    let mut parts = last.split(':').filter(|part| !part.is_empty());
    // `sample:devel`, `oci:folder:tag`: transports are no names.
    let first = parts.next().unwrap_or_default();
    let name = match first {
        "sample" | "oci" | "oci-archive" | "docker-archive" | "dir" | "rootfs" => {
            parts.next().unwrap_or(first)
        }
        _ => first,
    };
    let stem = name.split(".tar").next().unwrap_or(name);
    let mut clean = String::new();
    for c in stem.chars().take(NAME_BYTES) {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_lowercase() || c.is_ascii_digit() => clean.push(c),
            _ if !clean.is_empty() && !clean.ends_with('-') => clean.push('-'),
            _ => {}
        }
    }
    let clean = clean.trim_matches('-');
    // Names of services begin with a letter.
    if clean.starts_with(|c: char| c.is_ascii_lowercase()) {
        clean.to_owned()
    } else {
        format!("app-{clean}").trim_end_matches('-').to_owned()
    }
}

fn port_of(port: &str) -> Option<(u16, bool)> {
    let (number, protocol) = port.split_once('/').unwrap_or((port, "tcp"));
    let number = number.parse::<u16>().ok().filter(|number| *number > 0)?;
    match protocol {
        "tcp" => Some((number, false)),
        "udp" => Some((number, true)),
        _ => None,
    }
}

fn user_of(user: &str) -> Option<(u32, Option<u32>)> {
    let (user, group) = match user.split_once(':') {
        Some((user, group)) => (user, group.parse().ok()),
        None => (user, None),
    };
    Some((user.parse().ok()?, group))
}

/// The Python version of the packages folder with the most packages.
fn python_of(inventory: &Inventory) -> Option<String> {
    static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"/python(3\.[0-9]{1,2})/").ok());
    let roots = inventory.packages.iter().filter(|package| package.manager == "pip");
    let mut counts: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for root in roots.filter_map(|package| package.root.as_deref()) {
        let text = String::from_utf8_lossy(root);
        if let Some(found) = VERSION.as_ref().and_then(|pattern| pattern.captures(&text)) {
            *counts.entry(found[1].to_owned()).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(version, _)| version)
}

/// Pip packages that no other package requires, without the tools of pip itself.
fn top_packages(inventory: &Inventory) -> Vec<(String, String)> {
    const TOOLS: [&str; 6] = ["pip", "setuptools", "wheel", "uv", "pipenv", "virtualenv"];
    let pip = || inventory.packages.iter().filter(|package| package.manager == "pip");
    let required: BTreeSet<String> =
        pip().flat_map(|package| &package.depends).filter_map(|line| required_name(line)).collect();
    let plain = |text: &str| {
        !text.is_empty()
            && text.len() <= 128
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-+!".contains(c))
    };
    let mut top: Vec<(String, String)> = pip()
        .map(|package| (normalized_python_name(&package.name), package.version.clone()))
        .filter(|(name, version)| plain(name) && plain(version))
        .filter(|(name, _)| !required.contains(name) && !TOOLS.contains(&name.as_str()))
        .collect();
    top.sort();
    top.dedup_by(|one, other| one.0 == other.0);
    top.truncate(PACKAGES);
    top
}

/// The package that a line of `Requires-Dist` requires here; `None` if only with an extra, or with some version of
/// Python, which need not be the one of the image.
fn required_name(line: &str) -> Option<String> {
    let (requirement, marker) = line.split_once(';').unwrap_or((line, ""));
    if ["extra", "python_version", "python_full_version"].iter().any(|word| marker.contains(word)) {
        return None;
    }
    let requirement = requirement.trim();
    let end = requirement.find(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c));
    Some(normalized_python_name(requirement.get(..end.unwrap_or(requirement.len()))?))
}

/// Whether pip would compile a package of the image with nvcc.
fn needs_compiler(inventory: &Inventory, catalog: &Catalog) -> bool {
    let pip = inventory.packages.iter().filter(|package| package.manager == "pip");
    let nvcc = |name: &str| catalog.python_package(&normalized_python_name(name))?.nvcc;
    pip.into_iter().any(|package| nvcc(&package.name) == Some(NvccUse::Build))
}

/// Whether at least one framework uses CUDA, and all of them get it from wheels.
fn in_wheels(inventory: &Inventory) -> bool {
    let mut with_cuda = inventory
        .frameworks
        .iter()
        .filter(|framework| !matches!(framework.strategy, Strategy::None | Strategy::Unknown))
        .peekable();
    with_cuda.peek().is_some() && with_cuda.all(|framework| framework.strategy == Strategy::WheelBundled)
}
