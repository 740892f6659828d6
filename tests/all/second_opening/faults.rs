//! Disks that are full or broken, records that are damaged, processes that are killed: nothing is lost, nothing
//! wrong is shown.

use std::sync::OnceLock;

use super::*;

/// Does something to a record that held these bytes.
type Harm = fn(&Path, &[u8]);
/// How many moments of a run a process is killed at.
const MOMENTS: u32 = 24;

fn layout(bench: &Bench) -> String {
    format!("oci:{}", bench.put_layout("layout", &Layout::of(&image(Packing::Gzip), TAG)))
}

/// What is printed by a run that knows no cache.
fn without_cache(bench: &Bench, reference: &str) -> String {
    let mut command = bench.command(&["report", reference, "--format", "json"]);
    command.env("CUTAWAY_NO_CACHE", "1");
    let run = run(command);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.stdout
}

#[test]
fn damaged_records_are_ignored_with_a_note_and_replaced() {
    let bench = Bench::new();
    let reference = layout(&bench);
    let (first, _) = bench.twice(&reference);
    let records = files(&bench.cache());
    assert!(records.len() >= 4, "{records:?}");
    let harms: [(&str, Harm); 5] = [
        ("one bit", |path, bytes| {
            let mut bytes = bytes.to_vec();
            let middle = bytes.len() - bytes.len() / 4 - 1;
            bytes[middle] ^= 4;
            fs::write(path, bytes).unwrap();
        }),
        ("cut", |path, bytes| fs::write(path, &bytes[..bytes.len() / 2]).unwrap()),
        ("empty", |path, _| fs::write(path, b"").unwrap()),
        ("longer", |path, bytes| fs::write(path, [bytes, b"more"].concat()).unwrap()),
        ("foreign", |path, _| fs::write(path, b"SQLite format 3\0 and something else").unwrap()),
    ];
    for (name, harm) in harms {
        for record in &records {
            let bytes = fs::read(record).unwrap();
            harm(record, &bytes);
            let run = bench.report(&reference);
            assert_eq!(run.code, 0, "{name}: {}", run.stderr);
            assert!(run.stdout == first.stdout, "{name}: {} changed the report", record.display());
            let file = record.file_name().unwrap().to_str().unwrap();
            assert!(
                run.stderr.contains("note: ") && run.stderr.contains(file),
                "{name}, {file}: {}",
                run.stderr
            );
            let again = bench.report(&reference);
            assert!(again.stderr.contains("read 0 bytes"), "{name}: {}", again.stderr);
            assert!(!again.stderr.contains("note: "), "{name}: {}", again.stderr);
        }
    }
}

#[test]
fn a_record_in_the_place_of_another_is_not_believed() {
    let bench = Bench::new();
    let reference = layout(&bench);
    let (first, _) = bench.twice(&reference);
    let mut records = files(&bench.cache());
    records.sort_by_key(|path| path.metadata().unwrap().len());
    let (large, other) = (&records[records.len() - 1], &records[records.len() - 2]);
    let bytes = [fs::read(large).unwrap(), fs::read(other).unwrap()];
    fs::write(large, &bytes[1]).unwrap();
    fs::write(other, &bytes[0]).unwrap();
    let run = bench.report(&reference);
    assert!(run.stdout == first.stdout);
    assert!(run.stderr.contains("note: "), "{}", run.stderr);
}

#[test]
fn a_process_that_is_killed_at_any_moment_leaves_nothing_wrong() {
    let bench = Bench::new();
    let reference = layout(&bench);
    let right = without_cache(&bench, &reference);
    let start = Instant::now();
    bench.report(&reference);
    let whole = start.elapsed();
    fs::remove_dir_all(bench.cache()).unwrap();
    for moment in 0..MOMENTS {
        let mut command = bench.command(&["report", &reference, "--format", "json"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(whole * moment / MOMENTS);
        child.kill().unwrap();
        child.wait().unwrap();
        if moment % 4 == 3 {
            let run = bench.report(&reference);
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert!(run.stdout == right, "after a kill at {moment}/{MOMENTS}");
            assert!(!run.stderr.contains("note: "), "what was half written is no record: {}", run.stderr);
            fs::remove_dir_all(bench.cache()).unwrap();
        }
    }
}

#[test]
fn several_processes_share_one_cache() {
    let bench = Bench::new();
    let reference = layout(&bench);
    let right = without_cache(&bench, &reference);
    for _ in 0..3 {
        let children: Vec<_> = (0..6)
            .map(|number| {
                let mut command = bench.command(&["report", &reference, "--format", "json"]);
                // Two of them have no room for what they put in, and throw out what others use.
                if number % 3 == 2 {
                    command.env("CUTAWAY_CACHE_SIZE", "20KB");
                }
                command.spawn().unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{stderr}");
            assert!(String::from_utf8(output.stdout).unwrap() == right, "{stderr}");
            assert!(!stderr.contains("note: "), "{stderr}");
        }
    }
}

#[test]
fn a_full_disk_costs_the_cache_and_nothing_else() {
    let bench = Bench::new();
    let reference = layout(&bench);
    let right = without_cache(&bench, &reference);
    // A file may not grow beyond 1 KiB, and whoever tries gets an error instead of a signal.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_cutaway")]);
    command.args(["report", &reference, "--format", "json", "--today", "2026-11-20", "-v"]);
    command.env("CUTAWAY_CACHE_DIR", bench.cache()).env("HOME", bench.path("home"));
    let full = run({
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    });
    assert_eq!(full.code, 0, "{}", full.stderr);
    assert!(full.stdout == right);
    let notes: Vec<&str> = full.stderr.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(notes.len(), 1, "one note, not one for each record: {}", full.stderr);
    assert!(notes[0].contains("cache"), "{}", notes[0]);
    for file in files(&bench.cache()) {
        assert!(file.metadata().unwrap().len() <= 1024, "{}", file.display());
    }
    bench.twice(&reference);
}

#[test]
fn a_cache_folder_that_cannot_be_is_done_without() {
    let bench = Bench::new();
    let reference = layout(&bench);
    let right = without_cache(&bench, &reference);
    fs::write(bench.cache(), "a file stands where the folder should be").unwrap();
    let run = bench.report(&reference);
    assert_eq!((run.code, run.stdout == right), (0, true), "{}", run.stderr);
    assert!(run.stderr.contains("note: "), "{}", run.stderr);
    assert_eq!(fs::read(bench.cache()).unwrap(), b"a file stands where the folder should be");
}

/// The library that makes reads fail, built once.
fn faulty_reads() -> &'static Path {
    static BUILT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, library) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("faulty_reads.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faulty_reads/pread.c");
        let built =
            Command::new("gcc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
        assert!(built.expect("gcc, which the tests need").success());
        (folder, library)
    });
    library
}

#[test]
fn a_disk_that_cannot_be_read_in_the_middle_is_told_and_not_kept() {
    for packing in [Packing::Plain, Packing::Gzip] {
        let bench = Bench::new();
        let image = image(packing);
        let path = bench.put_layout("layout", &Layout::of(&image, TAG));
        let reference = format!("oci:{path}");
        let (_, name) = image.layers[1].digest.split_once(':').unwrap();
        for from in ["0", "700", "20000", "160000"] {
            let mut command = bench.command(&["report", &reference, "--format", "json"]);
            command.env("LD_PRELOAD", faulty_reads()).env("FAULTY_NAME", name).env("FAULTY_FROM", from);
            let broken = run(command);
            assert_eq!(broken.code, 2, "{packing:?} from {from}: {}", broken.stderr);
            let json: serde_json::Value = serde_json::from_str(&broken.stdout).unwrap();
            assert_eq!(json["totals"]["complete"], false);
            let warnings = json["warnings"].as_array().unwrap();
            let told = warnings.iter().any(|warning| {
                warning["message"].as_str().unwrap().contains("Input/output error")
                    && warning["subject"].as_str().unwrap().starts_with("layer 1")
            });
            assert!(told, "{packing:?} from {from}: {:#}", json["warnings"]);
            assert!(!json["layers"][0]["entries"].is_null(), "the other layer is there");
        }
        let whole = bench.report(&reference);
        assert_eq!(whole.code, 0, "{}", whole.stderr);
        assert!(whole.stderr.contains("1 of 2 layers loaded from cache"), "{}", whole.stderr);
        assert!(whole.stdout == without_cache(&bench, &reference));
    }
}
