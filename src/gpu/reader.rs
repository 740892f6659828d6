//! Reads the output of a child, within limits.

use std::io::{self, Read};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum bytes of a line. The longest message contains a JIT log of 8 KiB.
const LINE_BYTES: usize = 64 << 10;
/// Maximum bytes of all lines. A check of eight GPUs writes some 50 KiB.
const ALL_BYTES: usize = 1 << 20;
/// Bytes stored of the end of standard error.
const TAIL_BYTES: usize = 4 << 10;

/// Output of a child.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// A line, without its end.
    Line(Vec<u8>),
    /// A line exceeded the limit and was skipped.
    TooLong,
    /// The output exceeded the limit; the rest is not read.
    TooMuch,
}

/// Sends lines until the end or the limit. The channel closes at the end.
pub(super) fn lines(mut from: impl Read, to: &Sender<Output>) {
    let (mut line, mut too_long, mut all) = (Vec::new(), false, 0_usize);
    let mut buffer = [0; 8 << 10];
    while let Some(bytes) = read(&mut from, &mut buffer) {
        all = all.saturating_add(bytes.len());
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, whole) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
            too_long |= line.len() + text.len() > LINE_BYTES;
            if too_long {
                line.clear();
            } else {
                line.extend_from_slice(text);
            }
            if whole {
                let output = if too_long { Output::TooLong } else { Output::Line(std::mem::take(&mut line)) };
                too_long = false;
                if to.send(output).is_err() {
                    return;
                }
            }
        }
        if all > ALL_BYTES {
            // A missing receiver is not a fault.
            to.send(Output::TooMuch).ok();
            return;
        }
    }
    if too_long {
        to.send(Output::TooLong).ok();
    } else if !line.is_empty() {
        to.send(Output::Line(line)).ok();
    }
}

/// The end of a child's standard error, filled by [`Tail::fill`] on another thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    /// Reads to the end and stores the last bytes.
    pub(super) fn fill(&self, mut from: impl Read) {
        let mut buffer = [0; TAIL_BYTES];
        while let Some(bytes) = read(&mut from, &mut buffer) {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(bytes);
            let over = kept.len().saturating_sub(TAIL_BYTES);
            kept.drain(..over);
        }
    }

    /// The current text; `None` if it is blank.
    pub(super) fn text(&self) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}

/// The next bytes; `None` at the end or if the pipe is broken.
fn read<'a>(from: &mut impl Read, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    loop {
        match from.read(buffer) {
            Ok(0) => return None,
            Ok(count) => return buffer.get(..count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::sync::mpsc::channel;

    use super::{ALL_BYTES, LINE_BYTES, Output, TAIL_BYTES, Tail, lines};

    fn outputs(bytes: &[u8]) -> Vec<Output> {
        let (sender, receiver) = channel();
        lines(bytes, &sender);
        drop(sender);
        receiver.iter().collect()
    }

    #[test]
    fn lines_come_whole_and_long_ones_are_skipped() {
        let mut bytes = b"one\n\n".to_vec();
        bytes.extend(vec![b'x'; LINE_BYTES]);
        bytes.push(b'\n');
        bytes.extend(vec![b'y'; LINE_BYTES + 1]);
        bytes.extend(b"\ntwo");
        let line = |text: &[u8]| Output::Line(text.to_vec());
        let expected =
            [line(b"one"), line(b""), line(&vec![b'x'; LINE_BYTES]), Output::TooLong, line(b"two")];
        assert_eq!(outputs(&bytes), expected);
    }

    #[test]
    fn endless_output_is_not_read_to_its_end() {
        let (sender, receiver) = channel();
        lines(std::io::repeat(b'x'), &sender);
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [Output::TooMuch]);
        lines(std::io::repeat(b'\n').take(ALL_BYTES as u64 * 2), &sender);
        drop(sender);
        assert_eq!(receiver.iter().last(), Some(Output::TooMuch));
    }

    #[test]
    fn of_messages_the_end_is_kept() {
        let tail = Tail::default();
        assert_eq!(tail.text(), None);
        tail.fill(&b" \n"[..]);
        assert_eq!(tail.text(), None);
        tail.fill(std::io::repeat(b'a').take(10_000).chain(&b"end\n"[..]));
        let text = tail.text().unwrap();
        assert!(text.ends_with("aend"));
        assert_eq!(text.len(), TAIL_BYTES - 1, "but for its line end");
    }
}
