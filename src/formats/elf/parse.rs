//! The parser shared by both readers. It requests bytes by offset, and handles unavailable ones.

use std::io;
use std::ops::Range;

use super::super::binary::{BinaryLimits, Problems};
use super::super::fatbin::{self, Region, Suffix, Summing};
use super::layout::{self, Header, Program, Table};
use super::{ElfFacts, ElfKind, MACHINE_CUDA, dynamic, notes, sections};

/// Bytes of a file; a stream may have stored only some.
pub(super) trait Bytes {
    /// Requests bytes, for sources that can still store them.
    fn want(&mut self, at: u64, bytes: u64);

    /// Requests a string, which leads to no further request.
    fn want_string(&mut self, at: u64, bytes: u64);

    /// Fills `buffer`; false if the bytes are not available.
    ///
    /// # Errors
    /// Errors of the source.
    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<bool>;

    /// The string at `at`, without its terminating zero; `None` if it is not available or longer than `most` bytes.
    ///
    /// # Errors
    /// Errors of the source.
    fn string(&mut self, at: u64, most: usize) -> io::Result<Option<Vec<u8>>>;
}

/// Possible locations of GPU code.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// In the order of the file, without overlaps.
    pub(super) regions: Vec<Region>,
    /// Whether they are sections of a readable section table.
    pub(super) by_table: bool,
    /// Sections whose names were not kept: offset and end.
    pub(super) unnamed: Vec<(u64, u64)>,
}

/// Result of one parser pass.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) facts: ElfFacts,
    pub(super) places: Places,
    pub(super) problems: Problems,
    /// Possible locations of strings of the dynamic table that a stream passes before the table. Linkers put them into
    /// the first loaded segment, or behind one of code alone, patchelf into that of the dynamic table.
    pub(super) early: [Range<u64>; 2],
    size: u64,
}

impl Parsed {
    /// Facts of a file without available bytes.
    pub(super) fn empty(size: u64, limits: &BinaryLimits) -> Self {
        Self {
            facts: ElfFacts::default(),
            places: Places::default(),
            problems: Problems::new(limits.problems),
            early: [0..0, 0..0],
            size,
        }
    }

    /// The facts, together with the GPU code.
    pub(super) fn finish(mut self, sum: Summing) -> ElfFacts {
        self.facts.gpu = match self.facts.cubin {
            Some((arch, suffix)) => Some(Box::new(fatbin::cubin(arch, suffix, self.size))),
            None => sum.finish().map(Box::new),
        };
        self.facts.problems = self.problems.finish();
        self.facts
    }
}

/// State shared by the parts of the parser.
pub(super) struct Context<'a> {
    pub(super) bytes: &'a mut dyn Bytes,
    pub(super) header: Header,
    pub(super) size: u64,
    pub(super) limits: &'a BinaryLimits,
    pub(super) problems: &'a mut Problems,
}

impl Context<'_> {
    /// Calls `each` with the first `needed` bytes of every entry of `table`, until it returns false.
    pub(super) fn each(
        &mut self,
        table: Table,
        needed: usize,
        mut each: impl FnMut(u64, &[u8]) -> bool,
    ) -> io::Result<bool> {
        let mut raw = [0; 64];
        let Some(raw) = raw.get_mut(..needed) else { return Ok(false) };
        for index in 0..table.count {
            let at = index.checked_mul(table.stride).and_then(|offset| offset.checked_add(table.at));
            let there = match at {
                Some(at) => self.bytes.read(at, raw)?,
                None => false,
            };
            if !there {
                return Ok(false);
            }
            if !each(index, raw) {
                break;
            }
        }
        Ok(true)
    }

    /// `table` limited to `most` entries and to the end of the file; a problem is added if it has more.
    pub(super) fn cut(&mut self, mut table: Table, most: usize, what: &str) -> Table {
        let fit = self.size.saturating_sub(table.at) / table.stride.max(1);
        if table.count > fit {
            self.problems.add(table.at, format!("the {what} extend beyond the end of the file"));
            table.count = fit;
        }
        if table.count > most as u64 {
            self.problems.add(table.at, format!("{} {what}: only the first {most} are read", table.count));
            table.count = most as u64;
        }
        table
    }
}

/// Reads all facts except GPU code, and the possible locations of that.
pub(super) fn parse(
    bytes: &mut dyn Bytes,
    size: u64,
    name: &[u8],
    limits: &BinaryLimits,
) -> io::Result<Parsed> {
    let mut parsed = Parsed::empty(size, limits);
    let Parsed { facts, places, problems, early, .. } = &mut parsed;
    let mut raw = [0; 64];
    let there = raw.get_mut(..usize::try_from(size.min(64)).unwrap_or(64)).unwrap_or_default();
    let kept = bytes.read(0, there)?;
    match layout::header(if kept { there } else { &[] }) {
        Err(what) => problems.add(0, what),
        Ok(header) => {
            describe(&header, facts);
            if facts.cubin.is_none() {
                let mut context = Context { bytes, header, size, limits, problems };
                *early = programs(&mut context, facts)?;
                if facts.kind != ElfKind::Core {
                    let wants_note = name.starts_with(b"libcuda.so");
                    *places = sections::sections(&mut context, facts, wants_note)?;
                }
            }
        }
    }
    Ok(parsed)
}

fn describe(header: &Header, facts: &mut ElfFacts) {
    facts.class64 = header.layout.class64;
    facts.little_endian = header.layout.little;
    facts.machine = header.machine;
    facts.os_abi = header.os_abi;
    facts.abi_version = header.abi_version;
    facts.kind = header.kind;
    facts.flags = header.flags;
    facts.is_static = true;
    facts.version_needs_known = true;
    if header.machine == MACHINE_CUDA {
        let (arch, specific) = layout::cubin(header);
        facts.cubin = Some((arch, specific.then_some(Suffix::A)));
    }
}

/// Reads what the program headers point to; returns possible locations of early strings, as in [`Parsed`].
fn programs(context: &mut Context<'_>, facts: &mut ElfFacts) -> io::Result<[Range<u64>; 2]> {
    let nowhere = [0..0, 0..0];
    let mut table = context.header.programs;
    if table.count == 0 || table.at == 0 {
        return Ok(nowhere);
    }
    let layout = context.header.layout;
    if !layout::stride_fits(table.stride, layout.program_bytes()) {
        context.problems.add(table.at, "invalid size of program headers");
        return Ok(nowhere);
    }
    table = context.cut(table, context.limits.program_headers, "program headers");
    context.bytes.want(table.at, table.bytes());
    let mut list: Vec<Program> = Vec::new();
    let all = context.each(table, layout.program_bytes(), |_, raw| {
        // Loaded segments, the dynamic table, the interpreter, notes.
        list.extend(layout.program(raw).filter(|program| (1..=4).contains(&program.kind)));
        true
    })?;
    if !all {
        context.problems.add(table.at, "program headers cannot be read");
    }
    let mut note_bytes = 0;
    for program in list.iter().filter(|program| program.bytes > 0) {
        match program.kind {
            3 if facts.interpreter.is_none() => {
                let most = context.limits.string_bytes;
                context.bytes.want(program.at, program.bytes.min(most as u64 + 1));
                facts.interpreter = context.bytes.string(program.at, most)?;
                if facts.interpreter.is_none() {
                    context.problems.add(program.at, "the name of the interpreter cannot be read");
                }
                // auditwheel leaves one without a name in libraries of Qt.
                facts.interpreter = facts.interpreter.take().filter(|name| !name.is_empty());
            }
            4 => {
                note_bytes += program.bytes.min(context.limits.note_bytes as u64);
                if note_bytes > context.limits.note_bytes as u64 {
                    context.problems.add(program.at, "too many bytes of notes: segment omitted");
                } else {
                    notes::build_id(context, program, facts)?;
                }
            }
            _ => {}
        }
    }
    if let Some(program) = list.iter().find(|program| program.kind == 2 && program.bytes > 0) {
        facts.is_static = false;
        dynamic::dynamic(context, program, &list, facts)?;
        let loaded = || list.iter().filter(|other| other.kind == 1);
        let end = program.end();
        let first = loaded().next().map_or(0..0, |first| {
            let next = loaded().nth(1).filter(|_| first.is_executable());
            let next = next.filter(|next| !next.is_executable() && !next.is_writable());
            first.at..next.unwrap_or(first).end().min(end)
        });
        let own = loaded().find(|own| own.holds(program)).map_or(0..0, |own| own.at..end);
        return Ok([first, own]);
    }
    Ok(nowhere)
}
