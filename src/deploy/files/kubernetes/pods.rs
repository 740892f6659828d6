//! The pod specifications of a manifest, and their containers.

use super::super::node::{Node, Position};
use super::{GPU, MIG};

/// Maximum length of the path of a pod template, in bytes. Those of known operators have up to about 100.
const PATH_BYTES: usize = 512;
/// The components of an `InferenceService`, which are pod specifications, in its `spec`.
const KSERVE: [&[&str]; 4] = [&["predictor"], &["predictor", "workerSpec"], &["transformer"], &["explainer"]];
/// Keys of a component whose value is a container: `model`, and the earlier ones by framework. The image is optional.
const MODELS: [&str; 11] = [
    "model",
    "huggingface",
    "lightgbm",
    "onnx",
    "paddle",
    "pmml",
    "pytorch",
    "sklearn",
    "tensorflow",
    "triton",
    "xgboost",
];

/// A pod specification in a manifest.
pub(super) struct Pod<'a> {
    pub(super) spec: &'a Node,
    /// Path of the specification, such as `spec.template.spec`.
    pub(super) path: String,
}

/// An object of a document: the document itself, or an item of a list.
pub(super) struct Object<'a> {
    pub(super) node: &'a Node,
    /// Prefix of its paths, such as `items[0].`.
    prefix: String,
}

pub(super) fn objects(document: &Node) -> Vec<Object<'_>> {
    let items = document.get("items").map(Node::items).unwrap_or_default().iter().enumerate();
    let items = items.map(|(index, node)| Object { node, prefix: format!("items[{index}].") });
    std::iter::once(Object { node: document, prefix: String::new() }).chain(items).collect()
}

/// The pod specifications of a document.
pub(super) fn pods(document: &Node) -> Vec<Pod<'_>> {
    objects(document).iter().flat_map(Object::pods).collect()
}

fn has_containers(spec: &Node) -> bool {
    spec.get("containers").is_some()
}

impl<'a> Object<'a> {
    /// Its pod specifications: that of a pod, those of all templates, and the components of `KServe`.
    pub(super) fn pods(&self) -> Vec<Pod<'a>> {
        let mut found = Vec::new();
        let spec = self.node.get("spec");
        if let Some(spec) = spec.filter(|spec| has_containers(spec)) {
            found.push(Pod { spec, path: format!("{}spec", self.prefix) });
        }
        for component in KSERVE {
            let spec = spec.and_then(|spec| spec.at_path(component));
            let has_model = |spec: &Node| {
                MODELS.iter().any(|name| spec.get(name).is_some_and(|one| !one.entries().is_empty()))
            };
            if let Some(spec) = spec.filter(|spec| has_containers(spec) || has_model(spec)) {
                found.push(Pod { spec, path: format!("{}spec.{}", self.prefix, component.join(".")) });
            }
        }
        for key in ["spec", "template"] {
            if let Some(node) = self.node.get(key) {
                templates(key, node, &mut format!("{}{key}", self.prefix), &mut found);
            }
        }
        found
    }

    /// Why a container without a GPU may be right, with whether other pods of the object ask for one.
    pub(super) fn excuse(&self, others: bool) -> Option<Excuse> {
        let is_runtime = self.node.text_of("kind").is_some_and(|kind| kind.ends_with("Runtime"));
        if is_runtime { Some(Excuse::Runtime) } else { others.then_some(Excuse::OtherPods) }
    }
}

/// Adds the specifications of all pod templates in `node`, the value of `key` at `path`. Operators name the field
/// `template` or `workerTemplate`, at any depth.
fn templates<'a>(key: &str, node: &'a Node, path: &mut String, found: &mut Vec<Pod<'a>>) {
    let length = path.len();
    if length > PATH_BYTES {
        return;
    }
    if key.ends_with("emplate")
        && let Some(spec) = node.get("spec").filter(|spec| has_containers(spec))
    {
        found.push(Pod { spec, path: format!("{path}.spec") });
    }
    for entry in node.entries() {
        path.push('.');
        path.push_str(&entry.key);
        templates(&entry.key, &entry.node, path, found);
        path.truncate(length);
    }
    for (index, item) in node.items().iter().enumerate() {
        path.push('[');
        path.push_str(&index.to_string());
        path.push(']');
        templates("", item, path, found);
        path.truncate(length);
    }
}

/// A container of a pod.
pub(super) struct Container<'a> {
    pub(super) node: &'a Node,
    /// Path of the container.
    pub(super) path: String,
    pub(super) is_init: bool,
}

/// Why a container may use CUDA without a limit for GPUs.
#[derive(Clone, Copy)]
pub(super) enum Excuse {
    /// Other pods of the object ask for GPUs: launchers and heads need none.
    OtherPods,
    /// A runtime, whose limits are set by the object that uses it.
    Runtime,
}

impl<'a> Pod<'a> {
    /// Whether a container has a limit for GPUs.
    pub(super) fn asks(&self) -> bool {
        self.containers().iter().any(|container| container.gpu("limits").is_some())
    }

    pub(super) fn containers(&self) -> Vec<Container<'a>> {
        let models = MODELS.iter().filter_map(|name| {
            let node = self.spec.get(name).filter(|node| !node.entries().is_empty())?;
            Some(Container { node, path: format!("{}.{name}", self.path), is_init: false })
        });
        ["containers", "initContainers"]
            .into_iter()
            .flat_map(|list| {
                let items = self.spec.get(list).map(Node::items).unwrap_or_default();
                items.iter().enumerate().map(move |(index, node)| (list, index, node))
            })
            .map(|(list, index, node)| Container {
                node,
                path: format!("{}.{list}[{index}]", self.path),
                is_init: list == "initContainers",
            })
            .chain(models)
            .collect()
    }
}

impl<'a> Container<'a> {
    pub(super) fn image(&self) -> Option<(&'a str, Position)> {
        let node = self.node.get("image")?;
        Some((node.text()?, node.at))
    }

    /// The value of a variable that the manifest sets, with its position; the last of several.
    pub(super) fn variable(&self, name: &str) -> Option<(&'a str, Position)> {
        let list = self.node.get("env").map(Node::items).unwrap_or_default();
        let set = list.iter().rev().find(|item| item.text_of("name") == Some(name))?;
        let value = set.get("value")?;
        Some((value.text()?, value.at))
    }

    /// A GPU resource of `limits` or `requests`: its name, quantity and position.
    pub(super) fn gpu(&self, list: &str) -> Option<(&'a str, &'a str, Position)> {
        let resources = self.node.at_path(&["resources", list])?;
        let entry =
            resources.entries().iter().find(|entry| entry.key == GPU || entry.key.starts_with(MIG))?;
        Some((&entry.key, entry.node.text().unwrap_or_default(), entry.at))
    }
}
