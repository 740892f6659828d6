//! What the fuzzers start from and what they found, replayed through the functions that they call; and small changes
//! of all of it. `UPDATE_CORPUS=1 cargo test --test all fuzz_corpus` writes the seeds anew.

mod images;
mod seeds;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cutaway::fuzzing::TARGETS;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, proptest};
use proptest::sample::Index;
use serde_json::Value;

use seeds::{Seed, seeds};

/// What the seeds may take in the repository.
const CORPUS_FILES: usize = 70;
const CORPUS_BYTES: usize = 300 << 10;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn file_of(seed: &Seed) -> PathBuf {
    root().join("fuzz/corpus").join(seed.target).join(seed.name)
}

/// The files of a folder by name; none when it is not there.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(Result::unwrap);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

/// Everything that is replayed for a target: seeds, and what was found.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    ["fuzz/corpus", "fixtures/crashes"]
        .iter()
        .flat_map(|place| files(&root().join(place).join(target)))
        .collect()
}

#[test]
fn seeds_are_what_the_fixtures_give() {
    let update = std::env::var_os("UPDATE_CORPUS").is_some();
    for seed in seeds() {
        let file = file_of(&seed);
        if update {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &seed.bytes).unwrap();
        }
        let found = fs::read(&file).unwrap_or_default();
        let same = if seed.target == "saved_report" {
            shape(&found) == Some(shape(&seed.bytes).unwrap())
        } else {
            found == seed.bytes
        };
        let file = file.display();
        assert!(same, "{file} is not what the fixtures give: UPDATE_CORPUS=1 writes it anew");
    }
}

/// A JSON text with every string empty and every number zero: what a parser meets. A seed is as
/// good with the sentences and estimates of an earlier version.
fn shape(json: &[u8]) -> Option<Value> {
    fn flatten(value: &mut Value) {
        match value {
            Value::String(text) => text.clear(),
            Value::Number(number) => *number = 0.into(),
            Value::Array(values) => values.iter_mut().for_each(flatten),
            Value::Object(fields) => fields.values_mut().for_each(flatten),
            Value::Null | Value::Bool(_) => {}
        }
    }
    let mut value = serde_json::from_slice(json).ok()?;
    flatten(&mut value);
    Some(value)
}

#[test]
fn every_target_has_a_corpus_that_stays_small() {
    let (mut count, mut bytes) = (0, 0);
    for (target, _) in TARGETS {
        let corpus = files(&root().join("fuzz/corpus").join(target));
        assert!(!corpus.is_empty(), "{target} has no corpus");
        assert!(corpus.iter().any(|(_, bytes)| !bytes.is_empty()), "{target} has an empty corpus");
        count += corpus.len();
        bytes += corpus.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    }
    assert!(count <= CORPUS_FILES && bytes <= CORPUS_BYTES, "{count} files of {bytes} bytes");
}

#[test]
fn targets_corpora_and_binaries_have_the_same_names() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), TARGETS.len(), "two targets have one name");
    let manifest: toml::Table = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap().parse().unwrap();
    let binaries = manifest["bin"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
    let binaries: BTreeSet<&str> = binaries.filter(|name| *name != "all").collect();
    assert_eq!(binaries, names, "fuzz/Cargo.toml has other binaries than there are targets");
    for place in ["fuzz/corpus", "fixtures/crashes"] {
        for entry in fs::read_dir(root().join(place)).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(names.contains(name.as_str()), "{place}/{name} is of no target");
        }
    }
}

#[test]
fn everything_that_was_kept_holds_the_promises() {
    for (name, target) in TARGETS {
        for (file, bytes) in inputs(name) {
            println!("{file}");
            target(&bytes);
        }
    }
}

#[test]
fn every_target_takes_nothing_and_noise() {
    let noise: Vec<u8> =
        (0_u32..700).map(|at| (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
    for (name, target) in TARGETS {
        println!("{name}");
        target(b"");
        target(&[0]);
        target(&noise);
    }
}

/// A change as a fuzzer makes it.
#[derive(Clone, Debug)]
enum Change {
    Set(Index, u8),
    Flip(Index, u32),
    Cut(Index),
    Drop(Index, usize),
    Double(Index, usize),
    Number(Index, u64),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: &Index| at.index(bytes.len().max(1)).min(bytes.len());
        match self {
            Self::Set(at, byte) => {
                let at = place(at);
                bytes.splice(at..bytes.len().min(at + 1), [*byte]);
            }
            Self::Flip(at, bit) => {
                let at = place(at);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit);
            }
            Self::Cut(at) => bytes.truncate(place(at)),
            Self::Drop(at, count) => {
                let at = place(at);
                bytes.drain(at..bytes.len().min(at + count));
            }
            Self::Double(at, count) => {
                let at = place(at);
                let part = bytes[at..bytes.len().min(at + count)].to_vec();
                bytes.splice(at..at, part);
            }
            Self::Number(at, number) => {
                let at = place(at);
                let end = bytes.len().min(at + 8);
                bytes.splice(at..end, number.to_le_bytes().into_iter().take(end - at));
            }
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    use proptest::prelude::{Just, prop_oneof};
    let at = any::<Index>;
    let count = || 1_usize..600;
    let number = prop_oneof![Just(0), Just(u64::MAX), Just(1 << 63), Just(u64::from(u32::MAX)), any::<u64>()];
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), 0_u32..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        at().prop_map(Change::Cut),
        (at(), count()).prop_map(|(at, count)| Change::Drop(at, count)),
        (at(), count()).prop_map(|(at, count)| Change::Double(at, count)),
        (at(), number).prop_map(|(at, number)| Change::Number(at, number)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn small_changes_of_every_seed_hold_the_promises(changes in vec(change(), 1..5)) {
        for (name, target) in TARGETS {
            for (file, mut bytes) in inputs(name) {
                for change in &changes {
                    change.apply(&mut bytes);
                }
                println!("{file}");
                target(&bytes);
            }
        }
    }
}
