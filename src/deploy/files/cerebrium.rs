//! `cerebrium.toml`: base image, dependencies and hardware.

use super::base_name::BaseName;
use super::machines::{Wanted, accelerator, fits, unknown};
use super::node::{Node, Position};
use super::python::{self, Base, Dependency, Installed, Manager};
use super::value::{FileFinding, FileImage, FileRule, JudgedImage};
use crate::cuda::catalog::{AcceleratorNames, Catalog};
use crate::findings::Severity;

const BASE: &str = "cerebrium.deployment.docker_base_image_url";
const COMPUTE: &str = "cerebrium.hardware.compute";
const DOCKERFILE: &str = "cerebrium.runtime.custom.dockerfile_path";
/// A base image without CUDA, as the documentation names it.
const SLIM: &str = "docker_base_image_url = \"debian:bookworm-slim\"";

/// The base image.
pub(super) fn images(document: &Node) -> Vec<FileImage> {
    let base = document.at_path(&["cerebrium", "deployment", "docker_base_image_url"]);
    let image = base.and_then(|node| Some(FileImage { reference: node.text()?.to_owned(), at: node.at }));
    image.into_iter().collect()
}

pub(super) fn judge(
    document: &Node,
    image: Option<&JudgedImage<'_>>,
    catalog: &Catalog,
    findings: &mut Vec<FileFinding>,
) {
    let Some(root) = document.get("cerebrium") else { return };
    let installed = installed(root);
    let base = images(document).into_iter().next();
    let base = base.as_ref().map(|base| Base {
        reference: &base.reference,
        name: BaseName::parse(&base.reference),
        at: base.at,
        key: BASE,
        slim: SLIM,
    });
    let dockerfile = root.at_path(&["runtime", "custom", "dockerfile_path"]);
    if let Some(dockerfile) = dockerfile {
        let text =
            "A Dockerfile builds the image: its base image and packages decide, and they are not read here."
                .to_owned();
        findings.push(
            FileFinding::new(FileRule::NotChecked, Severity::Info, dockerfile.at, DOCKERFILE, text)
                .evidence("It must EXPOSE the port of the file, set a WORKDIR and have a CMD [cerebrium.ai/docs, custom Dockerfiles]")
                .fix("Build it and pass the image with --image."),
        );
    } else {
        python::judge(base.as_ref(), &installed, catalog, findings);
    }
    let deployment = root.get("deployment");
    if deployment.and_then(|deployment| deployment.text_of("name")).is_none() {
        let at = deployment.map_or(root.at, |node| node.at);
        let text = "The deployment has no name.".to_owned();
        findings.push(FileFinding::new(
            FileRule::MissingKey,
            Severity::High,
            at,
            "cerebrium.deployment.name",
            text,
        ));
    }
    let image = image.filter(|image| base.as_ref().is_none_or(|base| image.is(base.reference)));
    hardware(root, base.as_ref(), &installed.dependencies, image, catalog, findings);
}

/// Dependencies, the files that name more of them, and commands that run while the image is built.
fn installed(root: &Node) -> Installed {
    let mut installed = Installed::default();
    for (table, manager) in [("pip", Manager::Pip), ("conda", Manager::Conda), ("apt", Manager::Apt)] {
        if root
            .at_path(&["dependencies", "paths", table])
            .and_then(Node::text)
            .is_some_and(|path| !path.is_empty())
        {
            installed.unread.push(format!("cerebrium.dependencies.paths.{table}"));
        }
        let Some(list) = root.at_path(&["dependencies", table]) else { continue };
        if !list.items().is_empty() || list.text().is_some() {
            installed.unread.push(format!("cerebrium.dependencies.{table}"));
        }
        for entry in list.entries() {
            let key = format!("cerebrium.dependencies.{table}.{}", entry.key);
            if entry.key == "_file_relative_path" {
                installed.unread.push(key);
                continue;
            }
            let version = entry.node.text().unwrap_or_default();
            installed.dependencies.extend(Dependency::new(manager, &entry.key, version, entry.at, &key));
        }
    }
    for name in ["pre_build_commands", "shell_commands"] {
        let Some(commands) = root.at_path(&["deployment", name]) else { continue };
        let all = commands.items().iter().chain([commands]).filter_map(Node::text);
        let key = format!("cerebrium.deployment.{name}");
        for command in all {
            if calls_nvcc(command) {
                installed.calls_nvcc = Some(key.clone());
            } else if !installed.unread.contains(&key) {
                installed.unread.push(key.clone());
            }
        }
    }
    installed
}

/// Whether a shell command runs nvcc, by name or path; not if it only asks where nvcc is.
fn calls_nvcc(command: &str) -> bool {
    const ASKS: [&str; 5] = ["which", "whereis", "type", "hash", "-v"];
    // A command in quotes is one for another shell.
    let mut words = command.split(|c: char| c.is_whitespace() || ";&|()'\"`".contains(c));
    let mut before = "";
    words.any(|word| {
        let calls = word.rsplit('/').next() == Some("nvcc") && !ASKS.contains(&before);
        before = word;
        calls
    })
}

fn hardware(
    root: &Node,
    base: Option<&Base<'_>>,
    dependencies: &[Dependency],
    image: Option<&JudgedImage<'_>>,
    catalog: &Catalog,
    findings: &mut Vec<FileFinding>,
) {
    let Some(hardware) = root.get("hardware") else { return };
    if let Some(count) = hardware.get("gpu_count") {
        let is_count = count.text().and_then(|text| text.parse::<u32>().ok());
        if is_count.is_none() {
            let text = "The number of GPUs must be a whole number.".to_owned();
            let key = "cerebrium.hardware.gpu_count";
            findings.push(FileFinding::new(FileRule::GpuQuantity, Severity::High, count.at, key, text));
        }
    }
    let Some((name, at)) = hardware.get("compute").and_then(|node| Some((node.text()?, node.at))) else {
        return;
    };
    let wanted = Wanted { name, at, key: COMPUTE };
    if name.eq_ignore_ascii_case("CPU") {
        findings.extend(cpu(base, image, at));
        return;
    }
    match accelerator(catalog, AcceleratorNames::Cerebrium, name) {
        None => findings.push(unknown(&wanted, "The compute type")),
        Some(known) => {
            findings.extend(known.retired(&wanted));
            python::judge_gpu(&wanted, &known.target, base, dependencies, catalog, findings);
            findings.extend(image.and_then(|image| fits(&wanted, &known.target, image, catalog)));
        }
    }
}

/// CUDA without a GPU.
fn cpu(base: Option<&Base<'_>>, image: Option<&JudgedImage<'_>>, at: Position) -> Option<FileFinding> {
    let named = base.filter(|base| base.name.cuda.is_some());
    let reads = image.is_some_and(|image| image.needs.uses_cuda);
    if named.is_none() && !reads {
        return None;
    }
    let subject = named.map_or("The image", |base| base.reference);
    let text = format!("{subject} has CUDA, and compute = \"CPU\" has no GPU.");
    Some(
        FileFinding::new(FileRule::NoGpu, Severity::Medium, at, COMPUTE, text)
            .fix("Choose a GPU, or a base image without CUDA."),
    )
}
