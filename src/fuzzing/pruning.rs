//! Libraries of any bytes, pruned.

use crate::cuda::pruning::{GpuCodeLocator, PruneCheck, PruneRule};
use crate::formats::binary::BinaryLimits;
use crate::formats::fatbin::LocatedGpuCode;
use crate::formats::pieces::PiecesWriter;

/// A library: what is written has the entries that stay and no others, and is not changed again; or the check refuses
/// it.
///
/// # Panics
/// If an invariant is violated.
pub fn gpu_code_pruning(data: &[u8]) {
    let file = [b"\x7fELF", data].concat();
    let limits = BinaryLimits { head_bytes: 512, ..BinaryLimits::default() };
    let code = located(&file, file.len(), &limits);
    assert_eq!(code, located(&file, 61, &limits), "the length of chunks matters");
    let mut passed = 0;
    for container in &code.containers {
        assert!(container.at >= passed && container.end() <= file.len() as u64, "{container:?}");
        let bytes: u64 = code.entries_of(container).iter().map(|entry| entry.bytes).sum();
        assert_eq!(bytes, container.entry_bytes, "entries fill their container");
        passed = container.end();
    }
    for (targets, keep_ptx) in [(&[90][..], false), (&[86, 121], false), (&[50], true), (&[], false)] {
        let rule = PruneRule::new(targets.iter().copied(), keep_ptx);
        prune(&rule, &code, &file, &limits);
    }
}

fn prune(rule: &PruneRule, code: &LocatedGpuCode, file: &[u8], limits: &BinaryLimits) {
    let plan = rule.plan(code);
    let ledger = plan.ledger();
    assert_eq!(ledger.before_bytes, ledger.overhead_bytes + ledger.kept_bytes() + ledger.removed_bytes());
    let pieces = plan.pieces(code);
    assert_eq!(pieces.is_unchanged(file.len() as u64), !plan.is_change());
    let mut new = Vec::new();
    let mut writer = PiecesWriter::new(&pieces);
    for bytes in file.chunks(509) {
        assert!(writer.push(bytes, &mut new).is_ok(), "memory can be written");
    }
    assert!(writer.finish(&mut new).is_ok(), "all bytes of the file were there");
    assert_eq!(new.len(), file.len());
    let mut check = PruneCheck::new(code, plan.stays(), limits);
    check.push_old(file);
    check.push_new(&new);
    if let Err(refused) = check.finish() {
        // Sections may overlap the tables that locate them; then the new file is another one.
        assert!(plan.is_change(), "an unchanged file is refused: {refused}");
        return;
    }
    let again = located(&new, 61, limits);
    let kept: Vec<_> = (code.containers.iter())
        .flat_map(|one| one.entries.clone().zip(code.entries_of(one)))
        .filter(|(index, _)| plan.stays().get(*index) == Some(&true))
        .map(|(_, entry)| entry)
        .collect();
    assert!(
        again.containers.iter().flat_map(|one| again.entries_of(one)).eq(kept),
        "what stays is found again"
    );
    assert!(!rule.plan(&again).is_change(), "a second run changes nothing");
}

fn located(file: &[u8], chunk: usize, limits: &BinaryLimits) -> LocatedGpuCode {
    let Some(mut locator) = GpuCodeLocator::start(file, file.len() as u64, limits) else {
        return LocatedGpuCode::default();
    };
    file.chunks(chunk).for_each(|bytes| locator.push(bytes));
    locator.finish()
}
