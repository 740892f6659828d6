use super::super::{Bounds, Collector, Read};
use super::Blobs;

const TEXT: u32 = 6;
const TEXTS: u32 = 8;
const NUMBERS: u32 = 4;

/// A header from tags with their type, their count and their bytes.
fn header(tags: &[(u32, u32, u32, &[u8])]) -> Vec<u8> {
    let (mut index, mut store) = (Vec::new(), Vec::new());
    for (tag, kind, count, bytes) in tags {
        let at = u32::try_from(store.len()).unwrap();
        index.extend([*tag, *kind, at, *count].iter().flat_map(|number| number.to_be_bytes()));
        store.extend_from_slice(bytes);
    }
    let counts = [tags.len(), store.len()].map(|count| u32::try_from(count).unwrap().to_be_bytes());
    [counts.concat(), index, store].concat()
}

fn read_within(headers: &[Vec<u8>], bounds: Bounds) -> Read {
    let left = headers.iter().map(Vec::len).sum();
    let mut blobs = Blobs { collector: Collector::new(bounds), left, full: false };
    for header in headers {
        if !blobs.is_full() && blobs.charge(7, header.len()) {
            blobs.add(7, header);
        }
    }
    assert_eq!(blobs.charge(8, 1), blobs.left > 0);
    blobs.collector.finish()
}

#[test]
fn a_folder_that_is_stored_once_does_not_fill_the_memory() {
    let header = header(&[
        (1000, TEXT, 1, b"a\0"),
        (1117, TEXTS, 1000, &b"x\0".repeat(1000)),
        (1118, TEXTS, 1, &[b"/long".repeat(200), vec![0]].concat()),
        (1116, NUMBERS, 1000, &[0; 4000]),
    ]);
    let read = read_within(&[header], Bounds { path_bytes: 100_000, ..Bounds::USUAL });
    assert_eq!(read.packages[0].files.as_ref().unwrap().len(), 99);
    assert_eq!(read.problems[0].what, "too many file names; the rest is omitted");
}

#[test]
fn packages_are_bounded() {
    let one = header(&[(1000, TEXT, 1, b"a\0"), (1001, TEXT, 1, b"1\0")]);
    let read = read_within(&vec![one; 5], Bounds { packages: 2, ..Bounds::USUAL });
    assert_eq!(read.packages.len(), 2);
    assert_eq!(read.problems[0].what, "too many packages; the rest is omitted");
    assert_eq!(read.problems[0].at, 7);
}
