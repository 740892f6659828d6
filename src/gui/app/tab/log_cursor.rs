//! The parts of an analysis already logged.

use crate::analysis::Analysis;
use crate::base::Warning;

/// How many warnings of each part are logged.
#[derive(Default)]
pub(super) struct LogCursor {
    /// Of the documents, the merge, the inventory and the findings.
    stages: [usize; 4],
    /// Of each layer; more may follow after it was read.
    layers: Vec<usize>,
}

impl LogCursor {
    /// New warnings since the last call: a frame never scans all of them again.
    pub(super) fn new_warnings(&mut self, analysis: &Analysis) -> Vec<Warning> {
        // The first look at single files may still be mended by the second.
        let inventory = analysis.inventory.as_ref().filter(|inventory| inventory.waits_for.is_none());
        let [documents, later @ ..] = [
            Some(&analysis.image.warnings),
            analysis.merge.as_ref().map(|merge| &merge.warnings),
            inventory.map(|inventory| &inventory.warnings),
            analysis.findings.as_ref().map(|findings| &findings.warnings),
        ];
        let [logged_documents, logged_later @ ..] = &mut self.stages;
        let mut new_warnings = Vec::new();
        let mut add = |logged: &mut usize, warnings: &mut dyn Iterator<Item = &Warning>| {
            let before = new_warnings.len();
            new_warnings.extend(warnings.skip(*logged).cloned());
            *logged += new_warnings.len() - before;
        };
        add(logged_documents, &mut documents.into_iter().flatten());
        self.layers.resize(analysis.layers.len(), 0);
        for (logged, layer) in self.layers.iter_mut().zip(&analysis.layers) {
            let read = layer.read.iter().flat_map(|read| &read.warnings);
            add(logged, &mut layer.fault.iter().chain(read));
        }
        for (logged, stage) in logged_later.iter_mut().zip(later) {
            add(logged, &mut stage.into_iter().flatten());
        }
        new_warnings
    }
}
