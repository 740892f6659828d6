//! Recognises the base image from environment, labels, history, packages and the distribution release; an
//! image has no reference to its base.

use super::catalog::{BaseFacts, BaseImageRule};
use super::context::InventoryContext;
use super::libraries::upstream;
use super::packages::Packages;
use super::value::{BaseImage, Flavor, LowerBase};
use crate::base::convert::layer16;
use crate::base::text::printable;
use crate::formats::document::DocumentKind;
use crate::formats::os_release::{self, OsRelease};

/// An entry of the history.
struct Step<'a> {
    created_by: &'a str,
    /// Number of layers up to and including its own.
    layers: usize,
}

/// The base image; `None` if unknown.
pub(super) fn find(context: &InventoryContext<'_>, packages: &Packages) -> Option<BaseImage> {
    let config = context.input.image.config.as_ref();
    let pairs: Vec<(&str, &str)> =
        context.environment().iter().filter_map(|pair| pair.split_once('=')).collect();
    let labels =
        config.and_then(|config| config.config().as_ref()).and_then(|config| config.labels().clone());
    let mut labels: Vec<(String, String)> = labels.unwrap_or_default().into_iter().collect();
    labels.sort();
    let labels: Vec<(&str, &str)> =
        labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let steps = steps(context);
    let history: Vec<&str> = steps.iter().map(|step| step.created_by).collect();
    let facts = BaseFacts { environment: &pairs, labels: &labels, history: &history };
    let release = release(context);
    let rules: Vec<&BaseImageRule> = context.catalog.base_images_of(facts).collect();
    let Some(rule) = rules.first() else { return distribution_only(context, &steps, release.as_ref()) };
    let variable = |name: &str| context.variable(name).map(printable);
    let distribution = distribution_tag(context, release.as_ref());
    let cuda_version = variable("CUDA_VERSION");
    let flavor = match rule.flavor.as_deref() {
        Some("base") => Flavor::Base,
        Some("runtime") => Flavor::Runtime,
        Some("devel") => Flavor::Devel,
        _ => Flavor::None,
    };
    let label =
        |wanted: &str| labels.iter().find(|(name, _)| *name == wanted).map(|(_, value)| printable(value));
    let cudnn_version = if rule.cudnn {
        variable("NV_CUDNN_VERSION")
            .or_else(|| label("com.nvidia.cudnn.version"))
            .or_else(|| cudnn_package(context, packages))
            .map(|version| upstream("dpkg", &version).to_owned())
    } else {
        None
    };
    let tag = cuda_version.as_deref().zip(distribution.as_deref()).and_then(|(version, distribution)| {
        context.catalog.toolkit(version)?.image_tag(flavor.as_str(), rule.cudnn, distribution)
    });
    let (layers, counted) = layers(context, rule, &steps);
    let variant = variant(context, rule, layers, release.as_ref());
    let reference = match tag {
        Some(tag) if flavor != Flavor::None => Some(format!("{}:{tag}", rule.repository)),
        _ => rule.reference(&pairs).map(|reference| {
            let suffix = variant.as_ref().map_or("", |(suffix, _)| *suffix);
            printable(&format!("{reference}{suffix}"))
        }),
    };
    let mut evidence = vec![format!("configuration of {} ({})", rule.repository, rule.id)];
    for wanted in &rule.environment {
        if let Some(value) = context.variable(&wanted.name) {
            let pair = crate::base::redact::assignment(&format!("{}={value}", wanted.name));
            evidence.push(format!("environment {}", crate::base::text::elide_end(&printable(&pair), 100)));
        }
    }
    evidence.push(counted);
    evidence.extend(variant.map(|(_, why)| why));
    if let Some(distribution) = &distribution {
        evidence.push(format!("os-release: {distribution}"));
    }
    let below = below(context, rule, &steps, release.as_ref(), distribution.as_deref(), layers);
    Some(BaseImage { reference, flavor, cuda_version, cudnn_version, distribution, layers, below, evidence })
}

/// The end of the tag of a variant of the image, with the evidence.
fn variant(
    context: &InventoryContext<'_>,
    rule: &BaseImageRule,
    layers: usize,
    release: Option<&OsRelease>,
) -> Option<(&'static str, String)> {
    if release.and_then(|release| release.id.as_deref()) == Some("alpine") {
        return Some(("-alpine", "os-release: the variant on Alpine Linux".to_owned()));
    }
    let package = rule.full.as_deref()?;
    let count = if layers == 0 { context.input.layers.len() } else { layers };
    let mut is_listed = false;
    for layer in 0..layer16(count) {
        let read = context.layer(layer)?;
        // Of every layer, not the visible ones: an upgrade replaces them.
        for document in read.facts.documents() {
            if document.kind == DocumentKind::DpkgList {
                is_listed = true;
                let name = read.index.name(document.entry).strip_prefix(package.as_bytes());
                if name.is_some_and(|rest| rest.starts_with(b".") || rest.starts_with(b":")) {
                    return None;
                }
            }
        }
    }
    is_listed.then(|| ("-slim", format!("no package {package} in its layers: the slim variant")))
}

/// The plain image of a distribution, if the lowest layer contains its `os-release`.
fn distribution_only(
    context: &InventoryContext<'_>,
    steps: &[Step<'_>],
    release: Option<&OsRelease>,
) -> Option<BaseImage> {
    let release = release?;
    let id = release.id.as_deref()?;
    let distribution = context.catalog.distribution(id)?;
    let version = release.version_id.as_deref().unwrap_or_default();
    if context.input.layers.len() < 2 {
        // A single folder or layer: the base image is unknown.
        return None;
    }
    // Images without a package manager, such as distroless, have the `os-release` of a distribution but are
    // not based on its image.
    let bare = !context.visible(DocumentKind::DpkgStatusPart).is_empty();
    let told = steps.last().map_or(0, |step| step.layers);
    let lost = told > 0 && told != context.input.layers.len();
    let mut evidence = vec![format!("os-release: {} {}", printable(id), printable(version))];
    if bare {
        evidence
            .push("var/lib/dpkg/status.d: an image without a package manager, such as distroless".to_owned());
    }
    if lost {
        evidence.push("the history does not match the layers: end of the base image unknown".to_owned());
    }
    Some(BaseImage {
        reference: if bare { None } else { distribution.image(version) },
        flavor: Flavor::None,
        cuda_version: None,
        cudnn_version: None,
        distribution: distribution_tag(context, Some(release)),
        layers: usize::from(!bare && !lost && brings_release(context)),
        below: Vec::new(),
        evidence,
    })
}

/// Whether the lowest layer contains `os-release`, as in images built on a distribution's image.
fn brings_release(context: &InventoryContext<'_>) -> bool {
    let lowest = context.layer(0);
    lowest.is_some_and(|read| {
        read.facts.documents().iter().any(|document| document.kind == DocumentKind::OsRelease)
    })
}

fn release(context: &InventoryContext<'_>) -> Option<OsRelease> {
    let files = context.visible(DocumentKind::OsRelease);
    files.iter().find_map(|file| Some(os_release::read(&file.document.bytes().ok()?)))
}

/// The distribution in the form of NVIDIA's image tags, such as `ubuntu24.04`.
fn distribution_tag(context: &InventoryContext<'_>, release: Option<&OsRelease>) -> Option<String> {
    let release = release?;
    let (id, version) = (release.id.as_deref()?, release.version_id.as_deref().unwrap_or_default());
    let known = context.catalog.distribution(id).and_then(|distribution| distribution.tag(version));
    Some(known.unwrap_or_else(|| printable(&format!("{id}{version}"))))
}

fn cudnn_package(context: &InventoryContext<'_>, packages: &Packages) -> Option<String> {
    let package = packages.list.iter().find(|package| {
        matches!(package.manager, "dpkg" | "rpm")
            && context
                .catalog
                .component_of_package(&package.name)
                .is_some_and(|component| component.name == "cudnn")
    })?;
    Some(package.version.clone())
}

fn steps<'a>(context: &InventoryContext<'a>) -> Vec<Step<'a>> {
    let Some(config) = &context.input.image.config else { return Vec::new() };
    let mut layers = 0;
    let mut steps = Vec::new();
    for entry in config.history().iter().flatten() {
        if entry.empty_layer() != Some(true) {
            layers += 1;
        }
        steps.push(Step { created_by: entry.created_by().as_deref().unwrap_or_default(), layers });
    }
    steps
}

/// Text in the last history entry of each flavor in NVIDIA's Dockerfiles.
const LAST_STEPS: [(Flavor, &str); 3] = [
    (Flavor::Base, "NVIDIA_DRIVER_CAPABILITIES"),
    (Flavor::Runtime, "/opt/nvidia/nvidia_entrypoint.sh"),
    (Flavor::Devel, "LIBRARY_PATH"),
];

/// The images below a base of `layers` layers, the lowest first.
fn below(
    context: &InventoryContext<'_>,
    rule: &BaseImageRule,
    steps: &[Step<'_>],
    release: Option<&OsRelease>,
    distribution: Option<&str>,
    layers: usize,
) -> Vec<LowerBase> {
    let mut found: Vec<LowerBase> = Vec::new();
    let mut add = |reference: Option<String>, flavor: Flavor, count: usize| {
        let above = found.last().map_or(0, |lower: &LowerBase| lower.layers);
        if let Some(reference) = reference.filter(|_| above < count && count < layers) {
            found.push(LowerBase { reference, flavor, layers: count });
        }
    };
    let own = release.and_then(|release| {
        context.catalog.distribution(release.id.as_deref()?)?.image(release.version_id.as_deref()?)
    });
    // CUDA images begin with an instruction that sets `NVARCH`. For other images only the first layer is
    // known to be the distribution's.
    let first = steps.iter().position(|step| step.created_by.contains("NVARCH"));
    let distribution_layers = match first {
        Some(0) => 0,
        Some(place) => steps[place - 1].layers,
        None => usize::from(brings_release(context)),
    };
    add(own, Flavor::None, distribution_layers);
    let toolkit = context.variable("CUDA_VERSION").and_then(|version| context.catalog.toolkit(version));
    for (flavor, text) in &LAST_STEPS[..2] {
        if rule.flavor.as_deref() == Some(flavor.as_str()) && !rule.cudnn {
            break;
        }
        let last = steps.iter().find(|step| step.created_by.contains(text));
        let tag = toolkit
            .zip(distribution)
            .and_then(|(toolkit, release)| toolkit.image_tag(flavor.as_str(), false, release));
        if let Some(step) = last {
            add(tag.map(|tag| format!("{}:{tag}", rule.repository)), *flavor, step.layers);
        }
    }
    found
}

/// Number of layers of the base image, with the evidence.
fn layers(context: &InventoryContext<'_>, rule: &BaseImageRule, steps: &[Step<'_>]) -> (usize, String) {
    let most = context.input.layers.len();
    let told = steps.last().map_or(0, |step| step.layers);
    if told > 0 && told != most {
        let what = format!("the history has {told} layers, the image {most}: end of the base image unknown");
        return (0, what);
    }
    // The first match is the base: instructions on top of it may set the same variables again.
    let first = |wanted: &dyn Fn(&str) -> bool| steps.iter().position(|step| wanted(step.created_by));
    let flavor = LAST_STEPS.iter().find(|(flavor, _)| rule.flavor.as_deref() == Some(flavor.as_str()));
    let mut place = flavor.and_then(|(flavor, text)| {
        first(&|step| {
            let fits = step.contains(text);
            // The devel image sets LIBRARY_PATH to the stubs; other images may set it to any value.
            if *flavor == Flavor::Devel { fits && step.contains("stubs") } else { fits }
        })
    });
    if let Some(last) = &rule.last {
        place = first(&|step| step.contains(last.as_str()));
    }
    if rule.cudnn {
        // All instructions between cuDNN's label and the installation of its packages belong to the base.
        let label = first(&|step| step.contains("com.nvidia.cudnn.version"));
        let install = first(&|step| step.contains("${NV_CUDNN_PACKAGE}"));
        place = place.max(label).max(install);
    }
    if let Some(step) = place.and_then(|place| steps.get(place)) {
        let first = match step.layers {
            1 => "layer".to_owned(),
            count => format!("{count} layers"),
        };
        return (step.layers.min(most), format!("history: base image is the first {first}"));
    }
    let by_history = rule.history.is_empty();
    match rule.layers {
        // An image with fewer layers than the base alone was squashed.
        Some(count) if by_history && usize::try_from(count).is_ok_and(|count| count <= most) => {
            let count = usize::try_from(count).unwrap_or(most);
            (count, format!("end of the base image not in the history; such images have {count} layers"))
        }
        _ => (0, "end of the base image not in the history".to_owned()),
    }
}
