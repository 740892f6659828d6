//! Compressed streams by one thread and by several, and gzip from its restart points.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossbeam_channel::bounded;
use flate2::bufread::{GzEncoder, MultiGzDecoder};

use super::limits::limits;
use crate::base::Section;
use crate::base::read_at::ReadAt as _;
use crate::formats::compression::Compression;
use crate::formats::inflate::{
    Division, GroupHash, Gunzip, ParallelGunzip, PointsSlot, RestartPoints, SeekableGunzip,
};
use crate::formats::input::decoder;
use crate::formats::zstd::{self, ParallelZstd};

/// Decompressed bytes of a stream that is tried.
const MOST: u64 = 2 << 20;
/// Between two points, so that small streams have some.
const DISTANCE: u64 = 3_000;

type Groups = Arc<Mutex<HashMap<GroupHash, Vec<u8>>>>;

/// A gzip stream, or bytes that are packed as one and then changed at a place: every reader returns the bytes and the
/// error of flate2, and from each point the same bytes or an error.
///
/// # Panics
/// When a promise is broken.
pub fn gzip_points(data: &[u8]) {
    if data.starts_with(&[0x1f, 0x8b]) {
        all_ways(data);
        return;
    }
    let Some(([level, place, change], bytes)) = data.split_first_chunk() else { return };
    let mut stream = Vec::new();
    for part in bytes.chunks(bytes.len() / 2 + 1) {
        let level = flate2::Compression::new(u32::from(level % 10));
        if GzEncoder::new(part, level).read_to_end(&mut stream).is_err() {
            return;
        }
    }
    all_ways(&stream);
    let at = stream.len() * usize::from(*place) / 256;
    if let Some(byte) = stream.get_mut(at).filter(|_| *change > 0) {
        *byte ^= change;
        all_ways(&stream);
    }
}

/// Bytes before the end or an error, and the error; `None` if there are more than [`MOST`].
fn all(reader: impl Read) -> Option<(Vec<u8>, Option<String>)> {
    let mut bytes = Vec::new();
    let fault = reader.take(MOST + 1).read_to_end(&mut bytes).err().map(|error| error.to_string());
    (bytes.len() as u64 <= MOST).then_some((bytes, fault))
}

fn all_ways(stream: &[u8]) {
    let Some((wanted, fault)) = all(MultiGzDecoder::new(stream)) else { return };
    let ways = [
        None,
        Some(Division { workers: 0, reader_helps: false, piece: 1_300, ahead: 1, symbols: 0 }),
        Some(Division { workers: 0, reader_helps: true, piece: 900, ahead: 6, symbols: 4 << 20 }),
        Some(Division { workers: 1, reader_helps: false, piece: 700, ahead: 2, symbols: 4 << 20 }),
        Some(Division { workers: 2, reader_helps: false, piece: 5_000, ahead: 3, symbols: 1 << 20 }),
    ];
    for division in ways {
        let groups = Groups::default();
        let store = Arc::clone(&groups);
        let keep = move |hash: &GroupHash, bytes: &[u8]| {
            store.lock().unwrap_or_else(PoisonError::into_inner).insert(*hash, bytes.to_vec());
        };
        let slot = PointsSlot::new(DISTANCE, Arc::new(keep));
        let slot_of = || Some(slot.clone());
        let found = match division {
            None => Ok(all(Gunzip::new(stream, slot_of()))),
            Some(division) => {
                thread::scope(|scope| ParallelGunzip::new(scope, stream, division, slot_of()).map(all))
            }
        };
        let Ok(found) = found else { return };
        let Some((found, found_fault)) = found else {
            // What is certain before an error may be more than flate2 returns.
            assert!(fault.is_some(), "{division:?}");
            continue;
        };
        assert_eq!(found_fault, fault, "{division:?}");
        let both = found.len().min(wanted.len());
        assert!(found[..both] == wanted[..both], "{division:?}");
        assert!(fault.is_some() || found.len() == wanted.len(), "{division:?}");
        if let Some(points) = slot.take() {
            assert!(fault.is_none());
            from_points(stream, &wanted, &points, groups);
        }
    }
}

/// Any zstd stream has the same bytes and errors when other threads decode it, however short their portions are.
///
/// # Panics
/// When a promise is broken.
pub(super) fn zstd_frames(stream: &[u8]) {
    let window_log = limits().zstd_window_log;
    let alone = decoder(stream, Compression::Zstd, window_log);
    let Some((wanted, fault)) = alone.ok().and_then(all) else { return };
    for (workers, portion_bytes) in [(1, 1), (2, 1), (3, 100)] {
        let division = zstd::Division { workers, portion_bytes, window_log };
        let found = thread::scope(|scope| {
            let (sender, full) = bounded(2);
            let (empty, _) = bounded(2);
            scope.spawn(move || {
                stream.chunks(300).for_each(|bytes| sender.send(Ok(bytes.to_vec())).unwrap_or_default());
            });
            ParallelZstd::new(scope, full, empty, division).map(all)
        });
        let Ok(Some((found, found_fault))) = found else {
            assert!(found.is_err() || fault.is_some(), "{division:?}");
            continue;
        };
        assert_eq!(found_fault, fault, "{division:?}");
        // What is decoded in a call that fails is lost, and a call decodes more or less.
        let both = found.len().min(wanted.len());
        assert!(found[..both] == wanted[..both], "{division:?}");
        assert!(fault.is_some() || found.len() == wanted.len(), "{division:?}");
    }
}

fn from_points(stream: &[u8], wanted: &[u8], points: &RestartPoints, groups: Groups) {
    assert_eq!(points.bytes(), wanted.len() as u64);
    assert_eq!(RestartPoints::from_bytes(&points.to_bytes()).as_ref(), Some(points));
    let load =
        move |hash: &GroupHash| groups.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned();
    let load = Arc::new(load);
    let reader_of = |stream: Vec<u8>| {
        let length = stream.len() as u64;
        SeekableGunzip::new(Section::new(Arc::new(stream), 0, length), points.clone(), load.clone())
    };
    let places = || (0..wanted.len()).step_by(1 + wanted.len() / 7).rev();
    let read = |reader: &SeekableGunzip, at: usize| -> io::Result<bool> {
        let mut buffer = [0; 100];
        let count = reader.read_at(&mut buffer, at as u64)?;
        Ok(count > 0 && wanted[at..].starts_with(&buffer[..count]))
    };
    let reader = reader_of(stream.to_vec());
    for at in places() {
        assert!(read(&reader, at).is_ok_and(|same| same), "place {at}");
    }
    let mut changed = stream.to_vec();
    if let Some(byte) = changed.get_mut(stream.len() / 2) {
        *byte ^= 0x10;
    }
    let reader = reader_of(changed);
    for at in places() {
        assert!(read(&reader, at).unwrap_or(true), "place {at} of a stream that changed");
    }
}
