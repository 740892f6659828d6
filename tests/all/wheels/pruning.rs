//! Real libraries pruned for one GPU, streamed twice as from a layer, and judged by the reader of facts and by
//! `cuobjdump`. Prints what the files would compress to before and after.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use cutaway::base::Section;
use cutaway::cuda::pruning::{
    CodeRatios, EstimateRow, GpuCodeLocator, PruneCheck, PrunePlan, PruneRule, locate_gpu_code,
};
use cutaway::formats::binary::{BinaryLimits, FileFacts, Scan};
use cutaway::formats::fatbin::{GpuFacts, LocatedGpuCode, arch_name};
use cutaway::formats::pieces::PiecesWriter;
use cutaway::jobs::CancelToken;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::cache::{files_below, unpacked};
use super::listed;

/// Wheels with GPU code in all sections that have some.
const LIBRARIES: [&str; 6] = [
    "nvidia-nvjpeg",
    "nvidia-nvjpeg-cu12",
    "nvidia-curand",
    "nvidia-nccl-cu13",
    "nvidia-cudnn-cu13",
    "nvidia-cuda-runtime",
];
const PARTS: [&str; 6] = [
    "libnvjpeg.so",
    "libcurand.so",
    "libnccl.so",
    "libcudnn_ops.so",
    "libcudnn_engines_precompiled.so",
    "libcudart.so",
];

/// Counts what is written.
#[derive(Default)]
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn packer() -> GzEncoder<Count> {
    GzEncoder::new(Count::default(), Compression::new(6))
}

/// The file in chunks, as a layer passes.
fn stream(path: &Path, mut each: impl FnMut(&[u8])) {
    let mut file = File::open(path).unwrap();
    let mut buffer = vec![0; 100_000];
    loop {
        let count = file.read(&mut buffer).unwrap();
        if count == 0 {
            return;
        }
        each(&buffer[..count]);
    }
}

fn located(path: &Path) -> LocatedGpuCode {
    let size = fs::metadata(path).unwrap().len();
    let mut locator = GpuCodeLocator::start(b"\x7fELF", size, &BinaryLimits::default()).unwrap();
    stream(path, |bytes| locator.push(bytes));
    locator.finish()
}

/// Writes the pruned file, checks it, and returns the compressed sizes before and after.
fn prune(code: &LocatedGpuCode, plan: &PrunePlan, old: &Path, new: &Path) -> (u64, u64) {
    let pieces = plan.pieces(code);
    let mut writer = PiecesWriter::new(&pieces);
    let mut check = PruneCheck::new(code, plan.stays(), &BinaryLimits::default());
    let (mut before, mut after) = (packer(), packer());
    let mut out = BufWriter::new(File::create(new).unwrap());
    let mut part = Vec::new();
    let mut pass = |part: &mut Vec<u8>, check: &mut PruneCheck<'_>| {
        check.push_new(part);
        out.write_all(part).unwrap();
        after.write_all(part).unwrap();
        part.clear();
    };
    stream(old, |bytes| {
        before.write_all(bytes).unwrap();
        check.push_old(bytes);
        writer.push(bytes, &mut part).unwrap();
        pass(&mut part, &mut check);
    });
    writer.finish(&mut part).unwrap();
    pass(&mut part, &mut check);
    out.flush().unwrap();
    assert_eq!(check.finish(), Ok(()), "{}", old.display());
    (before.finish().unwrap().0, after.finish().unwrap().0)
}

/// What the facts of a streamed file say that a rule removes.
fn estimated(path: &Path, rule: &PruneRule) -> EstimateRow {
    let facts = facts(path).containers;
    rule.estimate(&facts, &CodeRatios::of([&facts])).total()
}

/// The facts of a streamed file.
fn facts(path: &Path) -> GpuFacts {
    let size = fs::metadata(path).unwrap().len();
    let mut scan = Scan::start(b"\x7fELF", size, b"lib.so", &BinaryLimits::default()).unwrap();
    stream(path, |bytes| scan.push(bytes));
    let FileFacts::Elf(facts) = scan.finish() else { panic!("no ELF file") };
    assert_eq!(facts.problems, [], "{}", path.display());
    *facts.gpu.unwrap_or_default()
}

/// The bytes of entries, and the number of containers, that a report counts.
fn reported(path: &Path) -> (u64, u64) {
    let gpu = facts(path);
    assert_eq!(gpu.problems, [], "{}", path.display());
    assert_eq!(gpu.sections.iter().map(|section| section.unaccounted_bytes).sum::<u64>(), 0);
    let containers: u64 = gpu.sections.iter().map(|section| section.containers).sum();
    (gpu.rows.iter().map(|row| row.bytes).sum(), containers)
}

#[test]
fn real_libraries_keep_what_a_gpu_runs_and_lose_the_rest() {
    let Some(tool) = unpacked(&["nvidia-cuda-cuobjdump"], &["/bin/"]) else { return };
    let Some(wheels) = unpacked(&LIBRARIES, &PARTS) else { return };
    let cuobjdump = tool.path().join("nvidia/cu13/bin/cuobjdump");
    fs::set_permissions(&cuobjdump, fs::Permissions::from_mode(0o755)).unwrap();
    let new = wheels.path().join("new.so");
    let mut sums = [[0; 3]; 2];
    for name in files_below(wheels.path()) {
        let old = wheels.path().join(&name);
        let code = located(&old);
        assert_eq!(code.problems, [], "{name}");
        let file = File::open(&old).unwrap();
        let section = Section::new(Arc::new(file), 0, code.file_bytes);
        let by_ranges = locate_gpu_code(&section, &BinaryLimits::default(), &CancelToken::new());
        assert_eq!(by_ranges.unwrap().as_ref(), Some(&code), "{name}");
        for (sum, target) in sums.iter_mut().zip([90, 86]) {
            let rule = PruneRule::new([target], false);
            let plan = rule.plan(&code);
            let (before, after) = prune(&code, &plan, &old, &new);
            let ledger = plan.ledger();
            let (bytes, containers) = reported(&old);
            assert_eq!(ledger.containers, containers, "{name}");
            assert_eq!(bytes, ledger.kept_bytes() + ledger.removed_bytes(), "{name}");
            assert_eq!(ledger.before_bytes, bytes + ledger.overhead_bytes, "{name}");
            assert_eq!(reported(&new), (ledger.kept_bytes(), containers), "{name}");

            let again = located(&new);
            let second = rule.plan(&again);
            assert_eq!(second.ledger().removed_entries(), 0, "{name}");
            assert!(second.pieces(&again).is_unchanged(code.file_bytes), "{name}");
            lists_what_stays(&cuobjdump, &code, &plan, &new);
            let estimate = estimated(&old, &rule);
            assert_eq!(estimate.removed_bytes, ledger.removed_bytes(), "{name}");
            assert_eq!(estimate.kept_bytes, ledger.kept_bytes(), "{name}");
            let compressed = estimate.removed_compressed_bytes.unwrap_or_default();
            sum[2] += compressed;
            sum[0] += before;
            sum[1] += after;
            println!(
                "{name} for {target}: {} containers, {} emptied; {} of {} bytes of GPU code left; compressed {before} to {after}, {} less, estimated {compressed}",
                ledger.containers,
                ledger.emptied,
                ledger.kept_bytes(),
                ledger.before_bytes,
                before - after,
            );
        }
    }
    for ([before, after, estimate], target) in sums.into_iter().zip([90, 86]) {
        let less = before - after;
        println!("all for {target}: compressed {before} to {after}, {less} less, estimated {estimate}");
        assert!(estimate.abs_diff(less) * 10 <= less, "{target}: {estimate} instead of {less}");
        assert!(after * 2 < before, "{target}: {after} of {before}");
    }
}

/// `cuobjdump` lists of the new file what stays, and no more.
fn lists_what_stays(cuobjdump: &Path, code: &LocatedGpuCode, plan: &PrunePlan, new: &Path) {
    let relocatable = code.sections.iter().any(|section| section.name == "__nv_relfatbin");
    let sections: &[&str] = if relocatable { &[".nv_fatbin", "__nv_relfatbin"] } else { &[".nv_fatbin"] };
    let options: &[&str] = if relocatable { &["-all"] } else { &[] };
    let mut wanted = Vec::new();
    for name in sections {
        for one in &code.containers {
            if code.sections[one.section].name != *name {
                continue;
            }
            for (index, entry) in one.entries.clone().zip(code.entries_of(one)) {
                if plan.stays()[index] {
                    let label = arch_name(entry.kind, entry.arch, entry.suffix);
                    wanted.push(label.trim_end_matches('f').to_owned());
                }
            }
        }
    }
    if !wanted.is_empty() {
        assert_eq!(listed(cuobjdump, options, new), wanted, "{}", new.display());
    }
}
