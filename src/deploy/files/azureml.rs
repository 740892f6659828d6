//! Azure ML: environments, online deployments and jobs.

use super::base_name::BaseName;
use super::machines::{Wanted, fits, machine, unknown};
use super::node::{Node, Value};
use super::python::{self, Base, Dependency, Installed, Manager};
use super::value::{FileFinding, FileImage, FileRule, JudgedImage};
use crate::cuda::catalog::Catalog;
use crate::findings::Severity;

/// A base image without CUDA that Azure ML publishes.
const SLIM: &str = "A base image without CUDA, such as mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu22.04,";
/// Parts of the names of sizes with GPUs of AMD.
const WITHOUT_NVIDIA: [&str; 2] = ["_MI300X", "_V710"];

/// The images of a document.
pub(super) fn images(document: &Node) -> Vec<FileImage> {
    let image = environment(document).and_then(|(environment, _)| environment.get("image"));
    let image = image.and_then(|node| Some(FileImage { reference: node.text()?.to_owned(), at: node.at }));
    image.into_iter().collect()
}

/// The environment of a document, and the prefix of its keys.
fn environment(document: &Node) -> Option<(&Node, &'static str)> {
    match document.get("environment") {
        // A text names a registered environment, or a file.
        Some(environment) if environment.text().is_none() => Some((environment, "environment.")),
        Some(_) => None,
        None => Some((document, "")),
    }
}

pub(super) fn judge(
    document: &Node,
    image: Option<&JudgedImage<'_>>,
    catalog: &Catalog,
    findings: &mut Vec<FileFinding>,
) {
    let is_environment = document.entry("environment").is_none();
    if let Some((environment, prefix)) = environment(document) {
        judge_environment(environment, prefix, is_environment, catalog, findings);
    } else if let Some(named) = document.get("environment").filter(|_| image.is_none()) {
        let name = named.text().unwrap_or_default();
        let text = format!("The environment {name} is not in this file, and its image is not read.");
        findings.push(
            FileFinding::new(FileRule::NotChecked, Severity::Info, named.at, "environment", text)
                .fix("Pass its image with --image."),
        );
    }
    let reference = images(document).into_iter().next();
    let image = image.filter(|image| reference.as_ref().is_none_or(|named| image.is(&named.reference)));
    let sizes = [
        ("instance_type", document.get("instance_type")),
        ("resources.instance_type", document.at_path(&["resources", "instance_type"])),
    ];
    for (key, node) in sizes {
        let Some((name, at)) = node.and_then(|node| Some((node.text()?, node.at))) else { continue };
        let wanted = Wanted { name, at, key };
        judge_size(&wanted, reference.as_ref(), image, catalog, findings);
    }
    if let (Some(image), Some(os)) = (image, document.get("os_type"))
        && let (Some(name), Some(platform)) = (os.text(), image.needs.platform.as_ref())
        && !name.eq_ignore_ascii_case(&platform.os)
    {
        let text = format!("The environment is for {name}, the image for {}.", platform.os);
        findings.push(FileFinding::new(FileRule::Architecture, Severity::High, os.at, "os_type", text));
    }
}

fn judge_environment(
    environment: &Node,
    prefix: &str,
    is_top: bool,
    catalog: &Catalog,
    findings: &mut Vec<FileFinding>,
) {
    let key = |name: &str| format!("{prefix}{name}");
    let mut add = |rule, at, name: &str, text: &str| {
        findings.push(FileFinding::new(rule, Severity::High, at, &key(name), text.to_owned()));
    };
    let (image, build) = (environment.get("image"), environment.get("build"));
    let conda = environment.get("conda_file");
    if is_top && environment.text_of("name").is_none() {
        add(FileRule::MissingKey, environment.at, "name", "The environment has no name.");
    }
    match (image, build) {
        (Some(_), Some(build)) => {
            add(FileRule::KeyConflict, build.at, "build", "image and build exclude each other.");
        }
        (None, None) if conda.is_none() => {
            add(
                FileRule::MissingKey,
                environment.at,
                "image",
                "The environment has neither image nor build.",
            );
        }
        _ => {}
    }
    if let Some(conda) = conda.filter(|_| image.is_none()) {
        add(
            FileRule::MissingKey,
            conda.at,
            "conda_file",
            "conda_file needs image: the packages are installed on it.",
        );
    }
    if let Some(build) = build.filter(|build| build.text_of("path").is_none()) {
        add(FileRule::MissingKey, build.at, "build.path", "build has no path of the build context.");
    }
    if let Some(inference) = environment.get("inference_config") {
        for route in ["liveness_route", "readiness_route", "scoring_route"] {
            let at = inference.get(route).map_or(inference.at, |node| node.at);
            for part in ["path", "port"] {
                if inference.at_path(&[route, part]).and_then(Node::text).is_none() {
                    let text = format!("{route} of inference_config has no {part}.");
                    add(FileRule::MissingKey, at, &format!("inference_config.{route}"), &text);
                }
            }
        }
    }
    let base_key = key("image");
    let base = image.and_then(|node| {
        let reference = node.text()?;
        Some(Base { reference, name: BaseName::parse(reference), at: node.at, key: &base_key, slim: SLIM })
    });
    let Some(conda) = conda else {
        // The packages are in the image: its name alone proves nothing.
        return;
    };
    python::judge(base.as_ref(), &conda_dependencies(conda, &key("conda_file")), catalog, findings);
}

/// The dependencies of a conda file in the document itself; a path is not read.
fn conda_dependencies(conda: &Node, key: &str) -> Installed {
    let mut installed = Installed::default();
    if matches!(conda.value, Value::Scalar { .. }) {
        installed.unread.push(key.to_owned());
        return installed;
    }
    let key = format!("{key}.dependencies");
    for item in conda.get("dependencies").map(Node::items).unwrap_or_default() {
        if let Some(line) = item.text() {
            installed.dependencies.extend(Dependency::of_line(Manager::Conda, line, item.at, &key));
        }
        for line in item.get("pip").map(Node::items).unwrap_or_default() {
            let text = line.text().unwrap_or_default();
            let key = format!("{key}.pip");
            // An option, such as `-r requirements.txt`, names packages elsewhere.
            if text.trim_start().starts_with('-') && !installed.unread.contains(&key) {
                installed.unread.push(key.clone());
            }
            installed.dependencies.extend(Dependency::of_line(Manager::Pip, text, line.at, &key));
        }
    }
    installed
}

fn judge_size(
    wanted: &Wanted<'_>,
    reference: Option<&FileImage>,
    image: Option<&JudgedImage<'_>>,
    catalog: &Catalog,
    findings: &mut Vec<FileFinding>,
) {
    let name = wanted.name;
    if let Some(known) = machine(catalog, &format!("azure:{name}")) {
        findings.extend(known.retired(wanted));
        findings.extend(image.and_then(|image| fits(wanted, &known.target, image, catalog)));
        return;
    }
    let is_cuda = image.map_or_else(
        || reference.is_some_and(|named| BaseName::parse(&named.reference).cuda.is_some()),
        |image| image.needs.uses_cuda,
    );
    // Sizes with GPUs begin with N; a size that the catalogue lacks and that begins otherwise has none.
    let series = name.strip_prefix("Standard_").unwrap_or(name);
    let without =
        !series.starts_with('N') || WITHOUT_NVIDIA.iter().any(|part| name.contains(part)) || is_amd(series);
    if without && is_cuda {
        let text = format!("{name} has no NVIDIA GPU, and the image uses CUDA.");
        findings.push(
            FileFinding::new(FileRule::NoGpu, Severity::High, wanted.at, wanted.key, text)
                .evidence("learn.microsoft.com, Azure Virtual Machines, GPU accelerated sizes: the N series")
                .fix("Choose a size of the lists in cutaway deploy IMAGE --profile azureml."),
        );
    } else if !without {
        findings.push(unknown(wanted, "The VM size"));
    }
}

/// `NVv4` and `NG` have GPUs of AMD too.
fn is_amd(series: &str) -> bool {
    series.starts_with("NG") || (series.starts_with("NV") && series.ends_with("as_v4"))
}
