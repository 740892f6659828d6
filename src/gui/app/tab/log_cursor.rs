//! The parts of an analysis already logged.

use crate::analysis::Analysis;
use crate::base::Warning;

#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a stage that was told")]
pub(super) struct LogCursor {
    documents: bool,
    /// Logged warnings of each layer; more may follow after it was read.
    layers: Vec<usize>,
    merge: bool,
    inventory: bool,
    findings: bool,
}

impl LogCursor {
    /// New warnings since the last call: a frame never scans all of them again.
    pub(super) fn new_warnings(&mut self, analysis: &Analysis) -> Vec<Warning> {
        let mut new_warnings = Vec::new();
        if !std::mem::replace(&mut self.documents, true) {
            new_warnings.extend_from_slice(&analysis.image.warnings);
        }
        self.layers.resize(analysis.layers.len(), 0);
        for (logged, layer) in self.layers.iter_mut().zip(&analysis.layers) {
            let read = layer.read.iter().flat_map(|read| &read.warnings);
            let before = std::mem::replace(logged, layer.fault.iter().count() + read.clone().count());
            new_warnings.extend(layer.fault.iter().chain(read).skip(before).cloned());
        }
        if let Some(merge) = &analysis.merge
            && !std::mem::replace(&mut self.merge, true)
        {
            new_warnings.extend_from_slice(&merge.warnings);
        }
        // The first look at single files may still be mended by the second.
        let complete = analysis.inventory.as_ref().filter(|inventory| inventory.waits_for.is_none());
        if let Some(inventory) = complete
            && !std::mem::replace(&mut self.inventory, true)
        {
            new_warnings.extend_from_slice(&inventory.warnings);
        }
        if let Some(findings) = &analysis.findings
            && !std::mem::replace(&mut self.findings, true)
        {
            new_warnings.extend_from_slice(&findings.warnings);
        }
        new_warnings
    }
}
