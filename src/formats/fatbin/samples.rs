//! Samples of payloads: how well GPU code compresses, measured while its bytes pass.

use flate2::{Compress, Compression, FlushCompress, Status};

/// Distance of the first samples, counted from the start of the file: the same whatever chunks the bytes come in.
pub(super) const STRIDE: u64 = 4 << 20;
/// After so many samples of a file the distance doubles, since each further one says less: a file of 160 MB of GPU code
/// is sampled 6 times, one of 1 GB 8 times.
const AT_A_DISTANCE: u32 = 1;
/// Length of a sample. Deflate costs far more than all else that is read of GPU code; half of its window is enough, since
/// twice the bytes compress only 1.4 % better.
const BLOCK: u64 = 16 << 10;
/// Fast, and with Huffman codes of its own for each block, as higher levels have.
const LEVEL: Compression = Compression::new(3);
/// Room for a block that does not compress.
const ROOM: usize = 32 << 10;

/// A measured sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Index of the entry.
    pub(super) entry: usize,
    pub(super) bytes: u64,
    pub(super) deflated: u64,
}

/// Takes samples of the entries that it is told about.
#[derive(Debug)]
pub(super) struct Sampler {
    /// Exists once there was a sample.
    deflate: Option<Box<Compress>>,
    output: Vec<u8>,
    held: Vec<u8>,
    entry: usize,
    /// Range of the next sample, and end of the entry.
    at: u64,
    end: u64,
    last: u64,
    /// How many samples were taken.
    count: u32,
    taken: Vec<Sample>,
}

impl Sampler {
    pub(super) fn new() -> Self {
        Self {
            deflate: None,
            output: Vec::new(),
            held: Vec::new(),
            entry: 0,
            at: 0,
            end: 0,
            last: 0,
            count: 0,
            taken: Vec::new(),
        }
    }

    /// All samples, by entry.
    pub(super) fn taken(&self) -> &[Sample] {
        &self.taken
    }

    /// No sample is wanted any more.
    pub(super) fn leave(&mut self) {
        (self.at, self.end) = (0, 0);
        self.held.clear();
    }

    /// The payload of an entry follows.
    pub(super) fn enter(&mut self, entry: usize, payload: std::ops::Range<u64>) {
        self.leave();
        (self.entry, self.last) = (entry, payload.end);
        if let Some(at) = payload.start.checked_next_multiple_of(self.stride()) {
            self.plan(at);
        }
    }

    /// Distance of the next sample.
    fn stride(&self) -> u64 {
        STRIDE << (self.count / AT_A_DISTANCE).min(16)
    }

    fn plan(&mut self, at: u64) {
        self.leave();
        if at < self.last {
            (self.at, self.end) = (at, at.saturating_add(BLOCK).min(self.last));
        }
    }

    /// The next wanted bytes.
    pub(super) fn wants(&self) -> Option<(u64, usize)> {
        let at = self.at.saturating_add(self.held.len() as u64);
        let length = usize::try_from(self.end.saturating_sub(at)).ok()?;
        (length > 0).then_some((at, length))
    }

    /// Bytes of a payload that pass.
    pub(super) fn pass(&mut self, at: u64, bytes: &[u8]) {
        while let Some((wanted, length)) = self.wants() {
            let Some(skip) = wanted.checked_sub(at) else { return self.leave() };
            let skip = usize::try_from(skip).unwrap_or(usize::MAX);
            let Some(rest) = bytes.get(skip..).filter(|rest| !rest.is_empty()) else { return };
            self.held.extend_from_slice(rest.get(..length).unwrap_or(rest));
            if self.at.saturating_add(self.held.len() as u64) == self.end {
                self.measure();
                self.count = self.count.saturating_add(1);
                let next = self.at.saturating_add(1).checked_next_multiple_of(self.stride());
                self.plan(next.unwrap_or(u64::MAX));
            }
        }
    }

    fn measure(&mut self) {
        let deflate = self.deflate.get_or_insert_with(|| Box::new(Compress::new(LEVEL, false)));
        deflate.reset();
        self.output.resize(ROOM, 0);
        let done = deflate.compress(&self.held, &mut self.output, FlushCompress::Finish);
        if !matches!(done, Ok(Status::StreamEnd)) {
            return;
        }
        let (bytes, deflated) = (self.held.len() as u64, deflate.total_out());
        match self.taken.last_mut().filter(|last| last.entry == self.entry) {
            Some(last) => {
                last.bytes = last.bytes.saturating_add(bytes);
                last.deflated = last.deflated.saturating_add(deflated);
            }
            None => self.taken.push(Sample { entry: self.entry, bytes, deflated }),
        }
    }
}
