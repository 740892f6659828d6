//! Processes that share a folder, have no room, or are ended.
//!
//! Each test starts itself again with a folder in its environment, and is one of the processes then.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use cutaway::cache::Cache;

use super::{PLENTY, folder, key, records};

const FOLDER: &str = "CUTAWAY_TEST_CACHE";
const KEYS: usize = 12;
const SMALL: u64 = 40_000;
const ROUNDS: usize = 40;
/// Large enough that a process is met while it writes.
const LARGE: usize = 64 << 20;
const PATIENCE: Duration = Duration::from_mins(1);

/// The folder, in a process that a test started.
fn given() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// The test called `name` as another process.
fn again(name: &str, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    let (_, room) = module_path!().split_once("::").unwrap();
    // The shell takes a variable as its own script, so that a test can put limits before it.
    command
        .args(["-c", "eval \"$BEFORE\"; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{room}::{name}"), "--nocapture"])
        .env("BEFORE", ":")
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// That a process was the test that it was meant to be, and did its part.
fn ran(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{}: {said}", output.status);
}

/// What any process keeps under a key: of different lengths, and different for each process.
fn payload(place: usize) -> Vec<u8> {
    let [seed, ..] = std::process::id().to_le_bytes();
    let counted = (0..=u8::MAX).cycle().skip(seed.into()).take(place * 1000);
    u8::try_from(place).into_iter().chain(counted).collect()
}

/// Whether it is what some process kept under this key.
fn is_payload(bytes: &[u8], place: usize) -> bool {
    bytes.len() == 1 + place * 1000
        && usize::from(bytes[0]) == place
        && bytes[1..].windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1))
}

#[test]
fn several_processes_share_a_folder_without_harm() {
    if let Some(folder) = given() {
        for round in 0..ROUNDS {
            let cache = Cache::new(folder.clone(), SMALL);
            for place in 0..KEYS {
                let key = key(&place.to_string());
                match cache.get(&key) {
                    Some(found) => assert!(is_payload(found.bytes(), place), "key {place} in round {round}"),
                    None => cache.put(&key, &payload(place)),
                }
                if (place + round).is_multiple_of(5) {
                    cache.put(&key, &payload(place));
                }
            }
            if round % 10 == 9 {
                cache.prune(0).unwrap();
            }
            cache.usage().unwrap();
            cache.tidy();
            assert_eq!(cache.take_notes(), [""; 0], "round {round}");
        }
        return;
    }
    let place = folder();
    let start = || again("several_processes_share_a_folder_without_harm", place.path()).spawn().unwrap();
    for child in [start(), start(), start(), start()] {
        ran(&child.wait_with_output().unwrap());
    }
    let cache = Cache::new(place.path().to_owned(), SMALL);
    cache.put(&key("0"), &payload(0));
    cache.tidy();
    let usage = cache.usage().unwrap();
    assert!(usage.files > 0 && usage.bytes <= SMALL, "{usage:?}");
    assert_eq!(records(place.path()).len() as u64, usage.files, "temporary files were left");
}

#[test]
fn a_full_disk_is_noted_once_and_nothing_is_left_of_the_record() {
    if let Some(folder) = given() {
        let cache = Cache::new(folder.clone(), PLENTY);
        cache.put(&key("small"), b"fits");
        assert!(cache.has(&key("small")) && cache.take_notes().is_empty());
        cache.put(&key("large"), &vec![1; 1 << 20]);
        cache.put(&key("late"), b"would fit");
        cache.put(&key("larger"), &vec![1; 2 << 20]);
        let notes = cache.take_notes();
        assert!(notes.len() == 1 && notes[0].contains("File too large"), "{notes:?}");
        let kept = ["small", "large", "late", "larger"].map(|name| cache.has(&key(name)));
        assert_eq!(kept, [true, false, false, false]);
        // A new run tries again, and what is there can be used.
        let next = Cache::new(folder, PLENTY);
        next.put(&key("late"), b"fits");
        assert!(next.get(&key("late")).is_some() && next.get(&key("small")).is_some());
        return;
    }
    let place = folder();
    let mut child = again("a_full_disk_is_noted_once_and_nothing_is_left_of_the_record", place.path());
    // No file may become larger than some kilobytes; the signal that comes with it would end the process.
    ran(&child.env("BEFORE", "trap '' XFSZ; ulimit -f 64").output().unwrap());
    assert_eq!(records(place.path()).len(), 2, "{:?}", records(place.path()));
}

#[test]
fn a_process_that_is_killed_leaves_a_temporary_file_at_most() {
    if let Some(folder) = given() {
        let (cache, bytes) = (Cache::new(folder, PLENTY), vec![1; LARGE]);
        for place in 0.. {
            cache.put(&key(&format!("large {}", place % 2)), &bytes);
        }
    }
    let place = folder();
    let unfinished = || {
        let temporary = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().starts_with(".new-");
        records(place.path()).into_iter().find(temporary)
    };
    let begun = Instant::now();
    let left = loop {
        assert!(begun.elapsed() < PATIENCE, "no process was met while it wrote");
        let mut child =
            again("a_process_that_is_killed_leaves_a_temporary_file_at_most", place.path()).spawn().unwrap();
        while unfinished().is_none() && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if let Some(left) = unfinished() {
            break left;
        }
    };
    let cache = Cache::new(place.path().to_owned(), PLENTY);
    for name in ["large 0", "large 1"] {
        let found = cache.get(&key(name));
        assert!(found.is_none_or(|found| found.bytes().len() == LARGE), "half a record was taken");
    }
    assert_eq!(cache.take_notes(), [""; 0]);
    cache.prune(1).unwrap();
    assert_eq!(records(place.path()), std::slice::from_ref(&left), "it may be one of a run that goes on");
    let old = SystemTime::now() - Duration::from_hours(2);
    File::open(&left).unwrap().set_modified(old).unwrap();
    cache.prune(1).unwrap();
    assert!(!left.exists() && fs::read_dir(place.path()).unwrap().count() == 0);
}

#[test]
fn whoever_wants_nothing_left_means_what_is_unfinished_too() {
    let place = folder();
    let cache = Cache::new(place.path().to_owned(), PLENTY);
    cache.put(&key("a"), b"record");
    let record = records(place.path()).remove(0);
    fs::write(record.with_file_name(".new-0123456789abcdef"), b"").unwrap();
    cache.prune(0).unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}
