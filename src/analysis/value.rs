use std::sync::Arc;

use crate::base::{Warning, WarningCode};
use crate::cuda::catalog::Catalog;
use crate::cuda::compat::{self, Needs, NeedsInput};
use crate::cuda::{FileContents, Inventory};
use crate::findings::{Findings, Plan, Predicted, TargetGpu};
use crate::layer::{Counts, LayerRead};
use crate::rewrite::{self, Given, Proposals, RewriteError, propose};
use crate::rootfs::{LayerWaste, Merge};
use crate::source::Image;
use crate::source::table::Table;

/// The state of an analysis. Immutable: each stage publishes a newer one.
#[derive(Clone)]
pub struct Analysis {
    /// Manifest, config and access to the layers.
    pub image: Arc<Image>,
    /// Layers, bottom first.
    pub layers: Vec<Layer>,
    /// The merged view, once all layers were read.
    pub merge: Option<Arc<Merge>>,
    /// Packages, CUDA libraries and GPU code, once the merged view was analysed. A newer one may follow while
    /// [`Inventory::waits_for`] is set.
    pub inventory: Option<Arc<Inventory>>,
    /// Findings of the rules, once the inventory is complete.
    pub findings: Option<Arc<Findings>>,
    /// File contents read after the layers.
    pub bodies: Arc<FileContents>,
    /// The catalogue of the options, once the inventory is complete; `None` for the built-in one.
    pub catalog: Option<Arc<Catalog>>,
    /// Target GPUs, once the inventory is complete.
    pub targets: Arc<[TargetGpu]>,
}

/// One layer: not read yet, read as far as possible, or without bytes.
#[derive(Clone, Default)]
pub struct Layer {
    /// Result of the pass; `None` until it is done, and for a layer without bytes.
    pub read: Option<Arc<LayerRead>>,
    /// A fault outside of the pass: missing bytes, not read, an internal error.
    pub fault: Option<Warning>,
    /// The table of contents by which it was read; `None` for other layers.
    pub table: Option<Arc<Table>>,
    /// Whether its files were analysed, if it was read by a table.
    pub looked: bool,
}

impl Layer {
    /// Whether it was read or failed.
    pub fn is_done(&self) -> bool {
        self.read.is_some() || self.fault.is_some()
    }

    /// Whether every byte of the layer was read and matches its digest; if it was read by its table of
    /// contents, every byte that was needed.
    pub fn is_complete(&self) -> bool {
        self.fault.is_none() && self.read.as_ref().is_some_and(|read| read.complete)
    }

    /// Entry counts; `None` if it was not read.
    pub fn counts(&self) -> Option<&Counts> {
        self.read.as_ref().map(|read| read.index.counts())
    }
}

/// Totals of the layers and the merged view. `None` is unknown, never zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// Whether every layer was read to its end and matches its digest, or was read by a verified table of
    /// contents with all files that were needed.
    pub complete: bool,
    /// Number of layers.
    pub layers: usize,
    /// Bytes of the blobs as stored.
    pub compressed_bytes: Option<u64>,
    /// Bytes of the tar streams.
    pub uncompressed_bytes: Option<u64>,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
    /// Number of regular files of the merged view, including hard links.
    pub merged_files: u64,
    /// Bytes of these files, each inode once.
    pub merged_bytes: u64,
    /// Shadowed bytes of all layers.
    pub wasted_bytes: u64,
    /// `merged_bytes / content_bytes`; `None` for an image without files.
    pub efficiency: Option<f64>,
}

impl Analysis {
    /// Manifest and config, before any layer is read.
    pub(super) fn of(image: &Arc<Image>) -> Self {
        Self {
            image: Arc::clone(image),
            layers: vec![Layer::default(); image.layers.len()],
            merge: None,
            inventory: None,
            findings: None,
            bodies: Arc::default(),
            catalog: None,
            targets: Arc::default(),
        }
    }

    /// Results of the layers, bottom first.
    pub(super) fn reads(&self) -> Vec<Option<Arc<LayerRead>>> {
        self.layers.iter().map(|layer| layer.read.clone()).collect()
    }

    /// Whether no layer was read because of the requested depth: manifest only, or no layer has a table of
    /// contents.
    pub fn is_documents_only(&self) -> bool {
        self.merge.is_none()
            && self.layers.iter().all(|layer| {
                layer.fault.as_ref().is_some_and(|fault| fault.code == WarningCode::NotRead)
                    && layer.read.is_none()
            })
    }

    /// Totals; `None` until the layers are merged.
    pub fn totals(&self) -> Option<Totals> {
        let merge = self.merge.as_ref()?;
        // A sum with an unknown part is unknown: folders have no blob, and layers may be truncated or have no
        // bytes.
        let sum = |part: fn(&LayerRead) -> Option<u64>| -> Option<u64> {
            self.layers.iter().map(|layer| layer.read.as_deref().and_then(part)).sum()
        };
        let content_bytes =
            self.layers.iter().filter_map(Layer::counts).map(|counts| counts.content_bytes).sum::<u64>();
        let merged_bytes = merge.merged_bytes;
        Some(Totals {
            complete: self.image.intact && self.layers.iter().all(Layer::is_complete),
            layers: self.layers.len(),
            compressed_bytes: sum(|read| read.compressed_bytes),
            uncompressed_bytes: sum(|read| read.uncompressed_bytes),
            content_bytes,
            merged_files: merge.merged_files,
            merged_bytes,
            wasted_bytes: merge.waste.iter().map(|waste| waste.wasted_bytes).sum(),
            efficiency: (content_bytes > 0).then(|| merged_bytes as f64 / content_bytes as f64),
        })
    }

    /// Compressed bytes of a layer; of one that was not read completely, those that the manifest declares: its blob may
    /// be a part. `None` if unknown.
    pub fn layer_compressed(&self, layer: usize) -> Option<u64> {
        let read = self.layers.get(layer)?.read.as_deref();
        match read.filter(|read| read.complete) {
            Some(read) => read.compressed_bytes,
            None => self.image.layers.get(layer)?.size,
        }
    }

    /// The same of all layers.
    pub fn compressed(&self) -> Option<u64> {
        (0..self.layers.len())
            .try_fold(0, |sum: u64, layer| Some(sum.saturating_add(self.layer_compressed(layer)?)))
    }

    /// Sizes of the image after a plan is applied; `None` until the findings are known.
    pub fn predict(&self, plan: &Plan) -> Option<Predicted> {
        let (findings, merge) = (self.findings.as_deref()?, self.merge.as_ref()?);
        let layers: Vec<Option<&LayerRead>> = self.layers.iter().map(|layer| layer.read.as_deref()).collect();
        Some(plan.predict(findings, merge.merged_bytes, &layers))
    }

    /// Dockerfiles that implement a plan; `None` until the findings are known. Each proposal takes about as long as the
    /// inventory.
    ///
    /// # Errors
    /// The given Dockerfile cannot be read, or belongs to another image.
    pub fn propose(
        &self,
        plan: &Plan,
        dockerfile: Option<Given<'_>>,
    ) -> Option<Result<Proposals, RewriteError>> {
        self.propose_with(plan, dockerfile, false)
    }

    /// Same as [`Self::propose`]; with `show_secrets` a reconstructed Dockerfile is not redacted.
    ///
    /// # Errors
    /// Those of [`Self::propose`].
    pub fn propose_with(
        &self,
        plan: &Plan,
        dockerfile: Option<Given<'_>>,
        show_secrets: bool,
    ) -> Option<Result<Proposals, RewriteError>> {
        let layers = self.reads();
        Some(propose(&rewrite::Input {
            image: &self.image,
            layers: &layers,
            merge: self.merge.as_deref()?,
            bodies: &self.bodies,
            inventory: self.inventory.as_deref()?,
            findings: self.findings.as_deref()?,
            plan,
            catalog: self.known_rules(),
            targets: &self.targets,
            complete: self.totals()?.complete,
            dockerfile,
            show_secrets,
        }))
    }

    /// Requirements of the image; `None` until the inventory is complete. [`compat::judge`] evaluates them for a
    /// target.
    pub fn needs(&self) -> Option<Needs> {
        let layers = self.reads();
        Some(compat::needs(&NeedsInput {
            image: &self.image,
            layers: &layers,
            bodies: &self.bodies,
            merge: self.merge.as_deref()?,
            inventory: self.inventory.as_deref().filter(|inventory| inventory.waits_for.is_none())?,
            catalog: self.known_rules(),
            complete: self.totals()?.complete,
        }))
    }

    /// The catalogue in use: the one of the options, else the built-in one.
    pub fn known_rules(&self) -> &Catalog {
        self.catalog.as_deref().unwrap_or_else(|| Catalog::builtin())
    }

    /// Waste of a layer; `None` until the layers are merged.
    pub fn waste(&self, layer: usize) -> Option<LayerWaste> {
        self.merge.as_ref()?.waste.get(layer).copied()
    }

    /// All warnings: of manifest and config, of each layer (bottom first), of the merge, the inventory and
    /// the rules.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut all = self.image.warnings.clone();
        for layer in &self.layers {
            all.extend(layer.fault.iter().cloned());
            if let Some(read) = &layer.read {
                all.extend(read.warnings.iter().cloned());
            }
        }
        if let Some(merge) = &self.merge {
            all.extend(merge.warnings.iter().cloned());
        }
        if let Some(inventory) = &self.inventory {
            all.extend(inventory.warnings.iter().cloned());
        }
        if let Some(findings) = &self.findings {
            all.extend(findings.warnings.iter().cloned());
        }
        // Layers with the same blob are read once: their faults are reported once.
        let mut told = hashbrown::HashSet::new();
        all.retain(|warning| told.insert((warning.code, warning.subject.clone(), warning.message.clone())));
        all
    }

    /// Number of layers that were read or failed.
    pub fn layers_done(&self) -> usize {
        self.layers.iter().filter(|layer| layer.is_done()).count()
    }
}
