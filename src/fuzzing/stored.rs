//! Layers and facts as stored in the cache, whose folder is untrusted input too.

use std::io::Write as _;

use super::invariants;
use super::layers::{SUBJECT, as_stream, with_checksums};
use super::limits::limits;
use crate::cache::{Cache, Key};
use crate::layer::{BodyFacts, LayerRead};

/// Entries of the layer that stored facts are about.
const ENTRIES: usize = 100;

/// A stored layer. A tar is read, stored and read again; anything else is read as a stored layer.
///
/// # Panics
/// If an invariant is violated.
pub fn layer_record(data: &[u8]) {
    let limits = limits();
    if data.get(257..262) == Some(b"ustar") {
        let read = as_stream(&with_checksums(data, 0), &limits);
        let bytes = read.to_bytes(SUBJECT);
        let again = LayerRead::from_bytes(&bytes, SUBJECT, &limits);
        assert!(again.is_ok(), "a layer that was stored can be read: {:?}", again.err());
        if let Ok(again) = again {
            invariants::same_index(&read.index, &again.index);
            assert_eq!(read.warnings, again.warnings);
            stable(&again, &bytes);
        }
        return;
    }
    if let Ok(read) = LayerRead::from_bytes(data, SUBJECT, &limits) {
        invariants::layer(&read, &limits);
        invariants::merges(&read.index);
        let bytes = read.to_bytes(SUBJECT);
        let again = LayerRead::from_bytes(&bytes, SUBJECT, &limits);
        assert!(again.is_ok(), "a layer that was stored can be read: {:?}", again.err());
        if let Ok(again) = again {
            stable(&again, &bytes);
        }
    }
}

/// Storing a layer that was stored gives the same bytes.
fn stable(read: &LayerRead, bytes: &[u8]) {
    assert!(read.to_bytes(SUBJECT) == bytes, "storing has one answer");
}

/// Stored facts of single files.
///
/// # Panics
/// When a promise is broken.
pub fn body_facts(data: &[u8]) {
    let Ok(facts) = BodyFacts::from_bytes(data, ENTRIES) else { return };
    let all = facts.samples.keys().chain(facts.hashes.keys());
    let all = all.chain(facts.binaries.keys()).chain(facts.mentions.keys());
    all.for_each(|entry| assert!((entry.0 as usize) < ENTRIES, "{entry:?}"));
    facts.binaries.values().for_each(|binary| assert!(binary.kept_bytes() <= data.len().saturating_mul(64)));
    let bytes = facts.to_bytes();
    let again = BodyFacts::from_bytes(&bytes, ENTRIES);
    assert!(again.as_ref().is_ok_and(|again| *again == facts), "facts that were stored can be read");
    assert!(again.is_ok_and(|again| again.to_bytes() == bytes), "storing has one answer");
}

/// A file of the cache's folder: it is refused, or gives what was put in.
///
/// # Panics
/// When a promise is broken.
pub fn cache_file(data: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let cache = Cache::new(folder.path().join("cache"), 1 << 20);
    let key = Key::new("fuzz".to_owned());
    cache.put(&key, SUBJECT.as_bytes());
    let mut files = Vec::new();
    list(&folder.path().join("cache"), &mut files);
    for file in files {
        let written = std::fs::File::create(&file).and_then(|mut file| file.write_all(data));
        if written.is_ok()
            && let Some(found) = cache.get(&key)
        {
            assert!(found.bytes().len() <= data.len(), "a record is a part of its file");
        }
    }
    let (used, notes) = (cache.usage(), cache.take_notes());
    assert!(used.is_ok(), "a folder can be counted whatever its files hold");
    for note in &notes {
        invariants::is_safe(note);
    }
    cache.tidy();
}

fn list(folder: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, files);
        } else {
            files.push(path);
        }
    }
}
