//! Where the GPU code of a linked file is, for tools that change it.

use std::io;

use super::super::binary::BinaryLimits;
use super::super::fatbin::{self, LocatedGpuCode, Walk};
use super::parse::{Parsed, Places};
use super::scan::{ElfScan, UNNAMED};
use super::{ElfKind, MAGIC, ranges};
use crate::base::Section;
use crate::jobs::CancelToken;

/// Locates the containers of a streamed library, executable or extension module, within the same bounds as the reader
/// of facts: some MiB, and the results.
#[derive(Debug)]
pub struct GpuCodeLocator {
    scan: ElfScan,
    size: u64,
    pushed: u64,
    limits: BinaryLimits,
}

impl GpuCodeLocator {
    /// Starts with a file of `size` bytes that begins with `head` (the first bytes, four at least). `None` if it is not
    /// an ELF file.
    pub fn start(head: &[u8], size: u64, limits: &BinaryLimits) -> Option<Self> {
        let scan = head.starts_with(MAGIC).then(|| ElfScan::of_gpu_code(size, limits))?;
        Some(Self { scan, size, pushed: 0, limits: limits.clone() })
    }

    /// Feeds the next bytes of the file, `head` included, in chunks of any length.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pushed = self.pushed.saturating_add(bytes.len() as u64);
        self.scan.push(bytes);
    }

    /// The containers in sections of a linked file. None if the stream had another length than announced.
    pub fn finish(self) -> LocatedGpuCode {
        let Self { scan, size, pushed, limits } = self;
        let (mut parsed, mut places, walk) = scan.end();
        if pushed != size {
            places.by_table = false;
        }
        if let Some(at) = walk.found().whole_in(&places.unnamed) {
            parsed.problems.add(at, UNNAMED);
        }
        located(parsed, places, walk, size, &limits)
    }
}

/// The same from a seekable file: reads headers and tables, the headers inside sections of GPU code, and all bytes of
/// sections that may contain some among other data.
///
/// # Errors
/// Read errors and cancellation.
pub fn locate_gpu_code(
    file: &Section,
    limits: &BinaryLimits,
    cancel: &CancelToken,
) -> io::Result<Option<LocatedGpuCode>> {
    let mut head = [0; 4];
    if file.read_full_at(&mut head, 0)? < head.len() || head != *MAGIC {
        return Ok(None);
    }
    let (mut parsed, mut places) = ranges::parse(file, &[], limits)?;
    let mut walk = Walk::new(limits);
    if is_changeable(&parsed, &places) {
        let mut budget = limits.search_bytes;
        for region in &places.regions {
            fatbin::drive(&mut walk, file, region.at..region.end(), &mut budget, cancel)?;
        }
        if budget == 0 {
            places.regions.clear();
            parsed.problems.add(0, "GPU code left as it is: too many bytes to search");
        }
    }
    Ok(Some(located(parsed, places, walk, file.len(), limits)))
}

/// Whether containers of the file can be changed.
pub(super) fn is_changeable(parsed: &Parsed, places: &Places) -> bool {
    is_linked(parsed) && places.by_table
}

/// Whether a loader maps the file: objects for a linker have other rules.
fn is_linked(parsed: &Parsed) -> bool {
    matches!(parsed.facts.kind, ElfKind::Executable | ElfKind::SharedObject) && parsed.facts.cubin.is_none()
}

fn located(
    mut parsed: Parsed,
    places: Places,
    walk: Walk,
    size: u64,
    limits: &BinaryLimits,
) -> LocatedGpuCode {
    let linked = is_linked(&parsed);
    let found = walk.into_found();
    if linked && !places.by_table && found.first().is_some() {
        parsed.problems.add(0, "GPU code left as it is: no complete file with a readable section table");
    }
    let regions = if linked && places.by_table { places.regions } else { Vec::new() };
    LocatedGpuCode::new(size, &regions, found, parsed.problems, limits)
}
