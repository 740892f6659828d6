//! Where the frames of a stream end. RFC 8878, sections 3.1.1 and 3.1.2.

/// What a frame begins with.
#[derive(Debug, PartialEq, Eq)]
enum Head {
    /// More bytes are needed.
    Short,
    /// A frame of blocks.
    Blocks {
        window: u64,
        has_checksum: bool,
    },
    /// A frame without data, and the bytes behind its header.
    Skippable(u32),
    Unknown,
}

/// Length of a header of a skippable frame.
const SKIPPABLE_HEADER: usize = 8;
const BLOCK_HEADER: usize = 3;
const CHECKSUM: u64 = 4;

impl Head {
    fn of(start: &[u8]) -> Self {
        Self::parse(start).unwrap_or(Self::Short)
    }

    fn parse(start: &[u8]) -> Option<Self> {
        let (magic, rest) = start.split_first_chunk::<4>()?;
        let magic = u32::from_le_bytes(*magic);
        if magic & 0xffff_fff0 == 0x184d_2a50 {
            return Some(Self::Skippable(u32::from_le_bytes(*rest.first_chunk::<4>()?)));
        }
        if magic != 0xfd2f_b528 {
            return Some(Self::Unknown);
        }
        let (descriptor, rest) = rest.split_first()?;
        let has_window = descriptor & 0x20 == 0;
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content = match descriptor >> 6 {
            0 => usize::from(!has_window),
            1 => 2,
            2 => 4,
            _ => 8,
        };
        let field = rest.get(usize::from(has_window) + dictionary..)?.get(..content)?;
        let window = if has_window {
            let byte = u64::from(*rest.first()?);
            let base = 1_u64 << (10 + (byte >> 3));
            base + base / 8 * (byte & 7)
        } else {
            // The content size, from two bytes without those that one byte can say.
            let size = field.iter().rev().fold(0, |size, byte| size << 8 | u64::from(*byte));
            if content == 2 { size + 256 } else { size }
        };
        Some(Self::Blocks { window, has_checksum: descriptor & 4 != 0 })
    }
}

/// The window in bytes required by the first zstd frame in `start`; `None` if the frame header is incomplete. Skippable
/// frames before it are skipped. RFC 8878, section 3.1.1.1.
pub fn zstd_window(start: &[u8]) -> Option<u64> {
    let mut rest = start;
    loop {
        match Head::of(rest) {
            Head::Blocks { window, .. } => return Some(window),
            Head::Skippable(bytes) => {
                rest = rest.get(SKIPPABLE_HEADER.checked_add(usize::try_from(bytes).ok()?)?..)?;
            }
            Head::Short | Head::Unknown => return None,
        }
    }
}

/// What follows the bytes that are skipped.
#[derive(Clone, Copy)]
enum Then {
    Head,
    Block {
        has_checksum: bool,
    },
    End,
    /// Nothing that is known: what follows is for the decoder to judge.
    Unknown,
}

/// Finds the ends of frames in a stream that arrives in portions.
pub(super) struct Frames {
    /// Bytes without meaning here.
    skip: u64,
    then: Then,
    /// The begun header of a frame or block.
    header: Vec<u8>,
}

impl Frames {
    /// At the start of a stream.
    pub(super) const fn new() -> Self {
        Self { skip: 0, then: Then::Head, header: Vec::new() }
    }

    /// Takes the next bytes, up to the end of a frame: how many these are; `None` if no frame ends in them.
    pub(super) fn next_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let left = bytes.len() - at;
            let skipped = usize::try_from(self.skip).map_or(left, |skip| skip.min(left));
            at += skipped;
            self.skip -= skipped as u64;
            if self.skip > 0 {
                return None;
            }
            if matches!(self.then, Then::End) {
                self.then = Then::Head;
                return Some(at);
            }
            if matches!(self.then, Then::Unknown) {
                return None;
            }
            self.header.push(*bytes.get(at)?);
            at += 1;
            self.advance();
        }
    }

    /// Goes on behind the begun header, if it is complete.
    fn advance(&mut self) {
        let (skip, then) = match self.then {
            Then::Head => match Head::of(&self.header) {
                Head::Short => return,
                Head::Blocks { has_checksum, .. } => (0, Then::Block { has_checksum }),
                Head::Skippable(bytes) => (bytes.into(), Then::End),
                Head::Unknown => (0, Then::Unknown),
            },
            Then::Block { .. } if self.header.len() < BLOCK_HEADER => return,
            Then::Block { has_checksum } => {
                let field = self.header.iter().rev().fold(0, |field, byte| field << 8 | u64::from(*byte));
                let (is_last, size) = (field & 1 != 0, field >> 3);
                let end = if has_checksum { CHECKSUM } else { 0 };
                let (rest, then) = if is_last { (end, Then::End) } else { (0, self.then) };
                match (field >> 1) & 3 {
                    // One byte that is repeated.
                    1 => (1 + rest, then),
                    0 | 2 => (size + rest, then),
                    _ => (0, Then::Unknown),
                }
            }
            Then::End | Then::Unknown => return,
        };
        (self.skip, self.then) = (skip, then);
        self.header.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{Frames, zstd_window};

    fn frame(bytes: &[u8], has_checksum: bool, has_size: bool) -> Vec<u8> {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(has_checksum).unwrap();
        if has_size {
            encoder.set_pledged_src_size(Some(bytes.len() as u64)).unwrap();
        }
        std::io::Write::write_all(&mut encoder, bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn windows_are_read_from_real_frames() {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        encoder.long_distance_matching(true).unwrap();
        encoder.window_log(27).unwrap();
        std::io::Write::write_all(&mut encoder, &vec![7; 100_000]).unwrap();
        assert_eq!(zstd_window(&encoder.finish().unwrap()), Some(1 << 27));
        let bulk = zstd::bulk::compress(&[1; 5000], 3).unwrap();
        assert_eq!(zstd_window(&bulk), Some(5000));
        let mut skippable = vec![0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        skippable.extend_from_slice(&bulk);
        assert_eq!(zstd_window(&skippable), Some(5000));
        assert_eq!(zstd_window(&bulk[..5]), None);
    }

    #[test]
    fn frames_end_where_the_library_says() {
        let noise: Vec<u8> = (0..400_000_u64).map(|at| ((at * at * at) >> 7).to_le_bytes()[0]).collect();
        let mut frames = Vec::new();
        for bytes in [&noise[..], &noise[..300], &noise[..70_000], &vec![5; 300_000], &[], &[1]] {
            for form in 0..4 {
                frames.push(frame(bytes, form & 1 != 0, form & 2 != 0));
            }
        }
        frames.push(vec![0x5f, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]);
        frames.push(vec![0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]);
        let mut ends = Vec::new();
        for frame in &frames {
            assert_eq!(zstd::zstd_safe::find_frame_compressed_size(frame), Ok(frame.len()));
            ends.push(ends.last().copied().unwrap_or(0) + frame.len());
        }
        let stream = frames.concat();
        for portion in [1, 2, 3, 1_000, 131_072, stream.len()] {
            let (mut found, mut splitter) = (Vec::new(), Frames::new());
            for (number, bytes) in stream.chunks(portion).enumerate() {
                let mut at = 0;
                while let Some(end) = splitter.next_end(&bytes[at..]) {
                    at += end;
                    found.push(number * portion + at);
                }
            }
            assert_eq!(found, ends, "{portion}");
        }
    }

    #[test]
    fn what_is_no_frame_has_no_end() {
        let mut stream = frame(b"abc", false, true);
        let end = stream.len();
        stream.extend(b"garbage that goes on");
        let mut frames = Frames::new();
        assert_eq!(frames.next_end(&stream), Some(end));
        assert_eq!(frames.next_end(&stream[end..]), None);
        assert_eq!(frames.next_end(&frame(b"abc", false, true)), None);
    }
}
