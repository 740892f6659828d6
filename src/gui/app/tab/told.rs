//! The parts of an analysis already logged.

use crate::analysis::Analysis;
use crate::base::Warning;

#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a stage that was told")]
pub(super) struct Told {
    documents: bool,
    /// Logged warnings of each layer; more may follow after it was read.
    layers: Vec<usize>,
    merge: bool,
    inventory: bool,
    findings: bool,
}

impl Told {
    /// New warnings since the last call: a frame never scans all of them again.
    pub(super) fn news(&mut self, analysis: &Analysis) -> Vec<Warning> {
        let mut news = Vec::new();
        if !std::mem::replace(&mut self.documents, true) {
            news.extend_from_slice(&analysis.image.warnings);
        }
        self.layers.resize(analysis.layers.len(), 0);
        for (told, layer) in self.layers.iter_mut().zip(&analysis.layers) {
            let read = layer.read.iter().flat_map(|read| &read.warnings);
            let before = std::mem::replace(told, layer.fault.iter().count() + read.clone().count());
            news.extend(layer.fault.iter().chain(read).skip(before).cloned());
        }
        if let Some(merge) = &analysis.merge
            && !std::mem::replace(&mut self.merge, true)
        {
            news.extend_from_slice(&merge.warnings);
        }
        // The first look at single files may still be mended by the second.
        let complete = analysis.inventory.as_ref().filter(|inventory| inventory.waits_for.is_none());
        if let Some(inventory) = complete
            && !std::mem::replace(&mut self.inventory, true)
        {
            news.extend_from_slice(&inventory.warnings);
        }
        if let Some(findings) = &analysis.findings
            && !std::mem::replace(&mut self.findings, true)
        {
            news.extend_from_slice(&findings.warnings);
        }
        news
    }
}
