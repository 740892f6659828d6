//! Kubernetes manifests: GPU limits, node labels, tolerations and environment of every pod specification.

mod labels;
mod pods;

use super::base_name::BaseName;
use super::node::{Node, Position};
use super::value::{FileFinding, FileImage, FileRule, JudgedImage, listed};
use crate::cuda::catalog::Catalog;
use crate::findings::Severity;
use labels::{NodeLabel, labels};
use pods::{Container, Excuse, Pod, objects, pods};

const GPU: &str = "nvidia.com/gpu";
const MIG: &str = "nvidia.com/mig-";
/// The label of GKE's GPU nodes.
const GKE: &str = "cloud.google.com/gke-accelerator";
/// Where GKE's device plugin mounts the driver.
const GKE_DRIVER: &str = "/usr/local/nvidia/lib64";
/// Maximum number of images of a file that are listed.
const IMAGES: usize = 1_000;

/// Prefix of the node labels of GKE.
const GKE_LABELS: &str = "cloud.google.com/";
/// Prefixes of the node labels of EKS and its node provisioner.
const EKS_LABELS: [&str; 3] = ["eks.amazonaws.com/", "karpenter.k8s.aws/", "alpha.eksctl.io/"];

/// Id of the platform whose node labels the pods select; `kubernetes` if they select none of a platform.
pub(super) fn profile(documents: &[Node]) -> &'static str {
    let pods = documents.iter().flat_map(pods);
    let names: Vec<String> = pods
        .flat_map(|pod| {
            labels(pod.spec, "").into_iter().map(|label| label.name.to_owned()).collect::<Vec<_>>()
        })
        .collect();
    if names.iter().any(|name| name.starts_with(GKE_LABELS)) {
        "gke"
    } else if names.iter().any(|name| EKS_LABELS.iter().any(|prefix| name.starts_with(prefix))) {
        "eks"
    } else {
        "kubernetes"
    }
}

/// A note if no document has a pod specification: nothing is judged.
pub(super) fn without_pods(documents: &[Node]) -> Option<FileFinding> {
    if documents.iter().any(|document| !pods(document).is_empty()) {
        return None;
    }
    let all: Vec<&Node> = documents.iter().flat_map(objects).map(|object| object.node).collect();
    let (lists, objects): (Vec<&Node>, Vec<&Node>) = all
        .into_iter()
        .partition(|object| object.get("items").is_some_and(|items| !items.items().is_empty()));
    // The items of a typed list need not repeat their kind.
    let kinds = |objects: Vec<&'_ Node>| -> Vec<(String, Position)> {
        let kinds = objects.into_iter().filter_map(|object| object.get("kind"));
        kinds.filter_map(|kind| Some((kind.text()?.to_owned(), kind.at))).collect()
    };
    let mut found = kinds(objects);
    if found.is_empty() {
        found = kinds(lists);
    }
    let (_, at) = found.first()?;
    let at = *at;
    let text = format!(
        "No pod specification found in {}: nothing is checked.",
        listed(found.into_iter().map(|(kind, _)| kind))
    );
    Some(
        FileFinding::new(FileRule::NotChecked, Severity::Info, at, "kind", text)
            .fix("Pass a pod, or an object with a pod template, such as a Deployment or a Job."),
    )
}

/// The images of all documents, each reference once.
pub(super) fn images(documents: &[Node]) -> Vec<FileImage> {
    let mut images: Vec<FileImage> = Vec::new();
    for document in documents {
        for (reference, at) in
            pods(document).iter().flat_map(Pod::containers).filter_map(|container| container.image())
        {
            if images.len() < IMAGES && !images.iter().any(|known| known.reference == reference) {
                images.push(FileImage { reference: reference.to_owned(), at });
            }
        }
    }
    images
}

pub(super) fn judge(
    document: &Node,
    image: Option<&JudgedImage<'_>>,
    catalog: &Catalog,
    findings: &mut Vec<FileFinding>,
) {
    for object in objects(document) {
        let pods = object.pods();
        let asking = pods.iter().filter(|pod| pod.asks()).count();
        for pod in &pods {
            let others = asking > usize::from(pod.asks());
            judge_pod(pod, object.excuse(others), image, catalog, findings);
        }
    }
}

fn judge_pod(
    pod: &Pod<'_>,
    excuse: Option<Excuse>,
    image: Option<&JudgedImage<'_>>,
    catalog: &Catalog,
    findings: &mut Vec<FileFinding>,
) {
    let labels = labels(pod.spec, &pod.path);
    let is_gke = labels.iter().any(|label| label.name == GKE);
    let containers = pod.containers();
    let mut gpus = false;
    for container in &containers {
        let asked = quantities(container, findings);
        gpus |= asked;
        // A container without an image, such as a model of KServe, may be of any that is passed.
        let named = container.image();
        let read = image
            .filter(|image| named.map_or(image.reference.is_none(), |(reference, _)| image.is(reference)))
            .filter(|image| takes(image, &containers, container));
        let is_cuda = read.map_or_else(
            || named.is_some_and(|(reference, _)| BaseName::parse(reference).cuda.is_some()),
            |image| image.needs.uses_cuda,
        );
        if let Some(named) = named
            && is_cuda
            && !asked
            && !container.is_init
        {
            findings.push(no_gpu(container, named, read.is_some(), excuse));
        }
        visible_devices(container, asked, findings);
        findings.extend(loader_path(container, read, is_gke && (asked || is_cuda)));
        if let Some(read) = read {
            for label in &labels {
                label.judge(read, catalog, findings);
            }
        }
    }
    for label in &labels {
        label.judge_name(catalog, findings);
    }
    if gpus && !is_gke {
        findings.extend(toleration(pod));
    }
}

/// Whether an image that was read without naming the container is this container's: the one with a GPU, or the only
/// one.
fn takes(image: &JudgedImage<'_>, all: &[Container<'_>], this: &Container<'_>) -> bool {
    if image.reference.is_some() || all.len() == 1 {
        return true;
    }
    let with_gpu: Vec<&Container<'_>> = all.iter().filter(|one| one.gpu("limits").is_some()).collect();
    match with_gpu[..] {
        [] => !this.is_init,
        _ => with_gpu.iter().any(|one| one.path == this.path),
    }
}

/// Judges the GPU quantities of a container; whether it gets a GPU.
fn quantities(container: &Container<'_>, findings: &mut Vec<FileFinding>) -> bool {
    let key = |list: &str, name: &str| format!("{}.resources.{list}[\"{name}\"]", container.path);
    let (limit, request) = (container.gpu("limits"), container.gpu("requests"));
    let mut high = |at, key: &str, text: String, fix: &str| {
        findings.push(
            FileFinding::new(FileRule::GpuQuantity, Severity::High, at, key, text)
                .evidence("kubernetes.io/docs, Schedule GPUs: limits only, or equal limits and requests; whole numbers")
                .fix(fix),
        );
    };
    if let Some((name, quantity, at)) = limit
        && quantity.parse::<u32>().is_err()
    {
        let text = format!("{name}: {quantity} is not a whole number of GPUs.");
        high(at, &key("limits", name), text, "Ask for a whole number; share a GPU with MIG or time slicing.");
    }
    match (limit, request) {
        (None, Some((name, _, at))) => {
            let text = format!("{name} is requested without a limit: the API server rejects the pod.");
            high(at, &key("requests", name), text, "Set it in limits.");
        }
        (Some((_, limit, _)), Some((name, request, at))) if limit != request => {
            let text = format!("The request of {request} {name} differs from the limit of {limit}.");
            high(at, &key("requests", name), text, "Remove the request, or set it to the limit.");
        }
        _ => {}
    }
    limit.is_some_and(|(_, quantity, _)| quantity != "0")
}

fn no_gpu(
    container: &Container<'_>,
    (reference, at): (&str, Position),
    was_read: bool,
    excuse: Option<Excuse>,
) -> FileFinding {
    let (severity, known) = if was_read {
        (Severity::High, "uses CUDA")
    } else {
        (Severity::Medium, "is a CUDA image by its name")
    };
    let limit = format!("resources: {{limits: {{{GPU}: 1}}}}");
    let (severity, result, fix) = match excuse {
        None => (severity, "it gets no GPU", format!("Add to the container: {limit}")),
        Some(Excuse::OtherPods) => (
            Severity::Info,
            "it gets no GPU, while other pods of the object do",
            format!("If it needs a GPU, add to the container: {limit}"),
        ),
        Some(Excuse::Runtime) => (
            Severity::Info,
            "the object that uses the runtime must set it",
            format!("Add to the object that uses it: {limit}"),
        ),
    };
    let text = format!("{reference} {known}, and the container has no limit for {GPU}: {result}.");
    FileFinding::new(FileRule::NoGpu, severity, at, &format!("{}.image", container.path), text)
        .evidence("kubernetes.io/docs, Schedule GPUs")
        .fix(fix)
}

fn visible_devices(container: &Container<'_>, asked: bool, findings: &mut Vec<FileFinding>) {
    const NAME: &str = "NVIDIA_VISIBLE_DEVICES";
    let Some((value, at)) = container.variable(NAME) else { return };
    let key = format!("{}.env.{NAME}", container.path);
    let (severity, text) = match value {
        "none" | "void" | "" if asked => {
            (Severity::High, format!("{NAME}={value:?} hides the GPU that the container asks for."))
        }
        "none" | "void" | "" => return,
        _ => (
            Severity::Medium,
            format!("{NAME}={value} goes past the device plugin: the container may see GPUs of other pods."),
        ),
    };
    findings.push(
        FileFinding::new(FileRule::VisibleDevices, severity, at, &key, text)
            .evidence("NVIDIA/k8s-device-plugin, README: the variable is set by the plugin")
            .fix("Remove the variable; the device plugin sets it."),
    );
}

/// Whether the loader finds the driver on GKE, and what a variable of the manifest removes from the search path.
fn loader_path(
    container: &Container<'_>,
    image: Option<&JudgedImage<'_>>,
    is_gke: bool,
) -> Option<FileFinding> {
    const NAME: &str = "LD_LIBRARY_PATH";
    let set = container.variable(NAME);
    let own = image.and_then(|image| image.variable(NAME));
    let has = |path: &str, folder: &str| path.split(':').any(|part| part.trim_end_matches('/') == folder);
    if is_gke {
        let fix = format!("Set in the container: {NAME}={GKE_DRIVER}");
        let source = "container-engine-accelerators, GPU device plugin: the driver is mounted at /usr/local/nvidia, \
            and the loader's cache is not updated";
        if let Some((value, at)) = set.filter(|(value, _)| !has(value, GKE_DRIVER)) {
            let text = format!("{NAME}={value} lacks {GKE_DRIVER}: libcuda.so.1 is not found on GKE.");
            let key = format!("{}.env.{NAME}", container.path);
            return Some(
                FileFinding::new(FileRule::DriverPath, Severity::High, at, &key, text)
                    .evidence(source)
                    .fix(format!("Set it to {GKE_DRIVER}:{value}")),
            );
        }
        let (_, at) = container.image()?;
        if let Some(image) = image.filter(|_| set.is_none()) {
            let by_variable = own.is_some_and(|own| has(own, GKE_DRIVER));
            if image.needs.uses_cuda && !by_variable {
                let text = format!(
                    "The image does not set {NAME} to {GKE_DRIVER}: libcuda.so.1 is not found on GKE, unless ldconfig runs \
                    at start."
                );
                let key = format!("{}.image", container.path);
                return Some(
                    FileFinding::new(FileRule::DriverPath, Severity::High, at, &key, text)
                        .evidence(source)
                        .evidence(format!("{NAME} of the image: {}", own.unwrap_or("not set")))
                        .fix(fix),
                );
            }
        } else if set.is_none() && BaseName::parse(container.image()?.0).plain {
            let text =
                format!("{} is not known to set {NAME}: GKE needs {GKE_DRIVER} in it.", container.image()?.0);
            let key = format!("{}.image", container.path);
            return Some(
                FileFinding::new(FileRule::DriverPath, Severity::Medium, at, &key, text)
                    .evidence(source)
                    .fix(fix),
            );
        }
    }
    let ((value, at), own) = (set?, own?);
    let lost: Vec<&str> =
        own.split(':').filter(|part| !part.is_empty() && !has(value, part.trim_end_matches('/'))).collect();
    (!lost.is_empty()).then(|| {
        let text = format!("{NAME} replaces that of the image: {} is no longer searched.", lost.join(", "));
        FileFinding::new(
            FileRule::LoaderPath,
            Severity::Low,
            at,
            &format!("{}.env.{NAME}", container.path),
            text,
        )
        .evidence(format!("{NAME} of the image: {own}"))
        .fix(format!("Set it to {value}:{}", lost.join(":")))
    })
}

/// Whether the pod tolerates the usual taint of GPU nodes.
fn toleration(pod: &Pod<'_>) -> Option<FileFinding> {
    let list = pod.spec.get("tolerations").map(Node::items).unwrap_or_default();
    let tolerates = |item: &Node| {
        let key = item.text_of("key");
        key == Some(GPU) || (key.is_none() && item.text_of("operator") == Some("Exists"))
    };
    if list.iter().any(tolerates) {
        return None;
    }
    let text = format!("The pod does not tolerate {GPU}:NoSchedule, which many clusters set on GPU nodes.");
    let at = pod.spec.get("tolerations").map_or(pod.spec.at, |node| node.at);
    Some(
        FileFinding::new(FileRule::Toleration, Severity::Info, at, &format!("{}.tolerations", pod.path), text)
            .evidence("kubernetes.io/docs, Taints and Tolerations: ExtendedResourceToleration adds it where enabled, as on GKE")
            .fix(format!("Add: tolerations: [{{key: {GPU}, operator: Exists, effect: NoSchedule}}]")),
    )
}

impl NodeLabel<'_> {
    fn judge(&self, image: &JudgedImage<'_>, catalog: &Catalog, findings: &mut Vec<FileFinding>) {
        if self.name == "kubernetes.io/arch" {
            let Some(platform) = &image.needs.platform else { return };
            let fits = |value: &&(&str, Position)| value.0.eq_ignore_ascii_case(&platform.architecture);
            if let Some((value, at)) = self.values.first()
                && !self.values.iter().any(|value| fits(&value))
            {
                let text = format!("The image is for {}, the nodes are {value}.", platform.architecture);
                findings.push(
                    FileFinding::new(FileRule::Architecture, Severity::High, *at, &self.key, text)
                        .fix(format!("Build the image for linux/{value}.")),
                );
            }
            return;
        }
        self.judge_machines(image, catalog, findings);
    }
}
