//! Conditions of a pod on node labels: node selector and required node affinity.

use super::GKE;
use crate::cuda::catalog::{AcceleratorNames, Catalog};
use crate::deploy::files::machines::{Known, Wanted, accelerator, fits, machine, unknown};
use crate::deploy::files::node::{Node, Position};
use crate::deploy::files::value::{FileFinding, JudgedImage};

const PRODUCT: &str = "nvidia.com/gpu.product";
/// The label of machine types; the values are of the cloud.
const INSTANCE: [&str; 2] = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
/// Suffix of the product label of GPUs that several pods share.
const SHARED: &str = "-SHARED";

/// The values that a pod allows for a node label.
pub(super) struct NodeLabel<'a> {
    pub(super) name: &'a str,
    /// Path of the condition.
    pub(super) key: String,
    /// Allowed values with their positions.
    pub(super) values: Vec<(&'a str, Position)>,
}

/// The conditions of a pod specification.
pub(super) fn labels<'a>(spec: &'a Node, path: &str) -> Vec<NodeLabel<'a>> {
    let mut all = Vec::new();
    for entry in spec.get("nodeSelector").map(Node::entries).unwrap_or_default() {
        let values = entry.node.text().map(|value| (value, entry.node.at)).into_iter().collect();
        all.push(NodeLabel { name: &entry.key, key: format!("{path}.nodeSelector.{}", entry.key), values });
    }
    let required =
        ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    for term in spec.at_path(&required).map(Node::items).unwrap_or_default() {
        for expression in term.get("matchExpressions").map(Node::items).unwrap_or_default() {
            if expression.text_of("operator") != Some("In") {
                continue;
            }
            let Some(name) = expression.text_of("key") else { continue };
            let values = expression.get("values").map(Node::items).unwrap_or_default();
            let values = values.iter().filter_map(|value| Some((value.text()?, value.at))).collect();
            all.push(NodeLabel { name, key: format!("{path}.affinity.nodeAffinity.{name}"), values });
        }
    }
    all
}

impl NodeLabel<'_> {
    fn what(&self) -> Option<&'static str> {
        match self.name {
            GKE | PRODUCT => Some("The GPU"),
            name if INSTANCE.contains(&name) => Some("The machine type"),
            _ => None,
        }
    }

    fn known<'a>(&self, catalog: &'a Catalog, value: &str) -> Option<Known<'a>> {
        match self.name {
            GKE => {
                // The driver's folder is a finding of its own, which knows the environment of the container.
                accelerator(catalog, AcceleratorNames::Gke, value)
            }
            PRODUCT => {
                let bare = value.strip_suffix(SHARED).unwrap_or(value);
                let bare = bare.split_once("-MIG-").map_or(bare, |(gpu, _)| gpu);
                accelerator(catalog, AcceleratorNames::GpuProduct, bare)
            }
            _ => ["azure", "aws", "gcp"]
                .into_iter()
                .find_map(|cloud| machine(catalog, &format!("{cloud}:{value}"))),
        }
    }

    /// Whether the image runs on the GPUs of the label. One of several that fits is enough to schedule, but the pod may
    /// land on each of them.
    pub(super) fn judge_machines(
        &self,
        image: &JudgedImage<'_>,
        catalog: &Catalog,
        findings: &mut Vec<FileFinding>,
    ) {
        if self.what().is_none() {
            return;
        }
        for (value, at) in &self.values {
            let wanted = Wanted { name: value, at: *at, key: &self.key };
            if let Some(known) = self.known(catalog, value) {
                findings.extend(fits(&wanted, &known.target, image, catalog));
            }
        }
    }

    /// Whether the catalogue has the names, and the platforms offer them.
    pub(super) fn judge_name(&self, catalog: &Catalog, findings: &mut Vec<FileFinding>) {
        let Some(what) = self.what() else { return };
        for (value, at) in &self.values {
            let wanted = Wanted { name: value, at: *at, key: &self.key };
            match self.known(catalog, value) {
                Some(known) => findings.extend(known.retired(&wanted)),
                None => findings.push(unknown(&wanted, what)),
            }
        }
    }
}
