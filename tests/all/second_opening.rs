//! What was read once is not read again, and nobody can tell from the report.

mod changes;
mod faults;
mod forms;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use cutaway::base::FileIdentity;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::json;
use tempfile::TempDir;

use crate::fixtures::docker::{save_classic, save_modern};
use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{self, Coding};
use crate::fixtures::image::Image;
use crate::fixtures::layout::{Layout, flat_dir, write_files};
use crate::fixtures::packages::{dpkg_list, dpkg_status};
use crate::fixtures::packing::{Packing, gzip, zstd};
use crate::fixtures::tarball::{dir, file, hardlink, symlink, tar, whiteout};

const TAG: &str = "example.org/app:1.0";
/// Bytes of the layers, none of which a second opening may read; they do not compress.
const BULK: usize = 3 << 20;

/// Bytes that do not compress.
fn noise(seed: &str, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(seed.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

/// Layers with something of everything that the layers are read for: libraries with GPU code, packages, duplicates
/// that only their bytes tell, scripts that name tools, and much else that nobody asks for.
fn tars() -> Vec<Vec<u8>> {
    let gpu = fatbin::section(&[80, 90], Some(90), 4096, Coding::Stored, "second");
    let library = Elf::library("libone.so.1")
        .needing(&["libc.so.6", "libcudart.so.12"])
        .with_section(".nv_fatbin", gpu);
    let twin = noise("twin", 150_000);
    let mut near = twin.clone();
    near[75_000] ^= 1;
    vec![
        tar([
            dir("etc"),
            file("etc/os-release", b"ID=ubuntu\nVERSION_ID=\"24.04\"\n".to_vec()),
            file("var/lib/dpkg/status", dpkg_status("libone1", "1.0-1", 100, &[])),
            file("var/lib/dpkg/info/libone1.list", dpkg_list(&["/usr/lib/libone.so.1"])),
            file("usr/lib/libone.so.1", library.build()),
            hardlink("usr/lib/libalso.so.1", "usr/lib/libone.so.1"),
            symlink("usr/lib/libone.so", "libone.so.1"),
            file("usr/lib/old", vec![b'o'; 700]),
            file("opt/twin-one.bin", twin.clone()),
            file("opt/bulk-one.bin", noise("bulk one", BULK)),
        ]),
        tar([
            whiteout("usr/lib/old"),
            file("opt/twin-two.bin", twin),
            file("opt/near.bin", near),
            file("srv/start.sh", b"#!/bin/sh\nexec nvcc --version\n".to_vec()).mode(0o755),
            file("../outside", b"climbs".to_vec()),
            file("opt/bulk-two.bin", noise("bulk two", BULK)),
        ]),
    ]
}

fn image(packing: Packing) -> Image {
    let mut image = Image::of(packing, tars());
    image.config = json!({"Entrypoint": ["/srv/start.sh"], "Env": ["PATH=/usr/bin"]});
    image
}

/// A folder for images and one for the cache.
struct Bench {
    work: TempDir,
}

/// How a run ended.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
    /// Bytes that its read calls returned, whatever they were read from.
    read: u64,
}

impl Bench {
    fn new() -> Self {
        Self { work: tempfile::Builder::new().prefix("cutaway-test-").tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    fn cache(&self) -> PathBuf {
        self.path("cache")
    }

    /// Writes a file and waits until its times are those of the past.
    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        settle(&path);
        path.to_str().unwrap().to_owned()
    }

    fn put_layout(&self, name: &str, layout: &Layout) -> String {
        write_files(&layout.files(), &self.path(name));
        settle(&self.path(name).join("index.json"));
        self.path(name).to_str().unwrap().to_owned()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutaway"));
        command
            .args(arguments)
            .args(["--today", "2026-11-20", "-v"])
            .current_dir(self.work.path())
            .env("HOME", self.path("home"))
            .env("CUTAWAY_CACHE_DIR", self.cache())
            .env_remove("CUTAWAY_NO_CACHE")
            .env_remove("CUTAWAY_CACHE_SIZE")
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The JSON report of `reference`.
    fn report(&self, reference: &str) -> Run {
        run(self.command(&["report", reference, "--format", "json"]))
    }

    /// Opens an image twice: the first run reads it, the second must not.
    fn twice(&self, reference: &str) -> (Run, Run) {
        let (first, second) = (self.report(reference), self.report(reference));
        assert_eq!(first.code, 0, "{reference}: {}", first.stderr);
        assert_eq!(second.code, 0, "{reference}: {}", second.stderr);
        assert!(!first.stdout.is_empty());
        assert!(first.stdout == second.stdout, "{reference}: the second report differs");
        (first, second)
    }

    /// Bytes of all files of the cache.
    fn cached_bytes(&self) -> u64 {
        files(&self.cache()).iter().map(|path| path.metadata().unwrap().len()).sum()
    }
}

/// Waits until whatever happens to a file from now on shows in its times.
fn settle(path: &Path) {
    let patience = Instant::now() + Duration::from_secs(20);
    while !FileIdentity::of(&File::open(path).unwrap()).unwrap().is_settled() {
        assert!(Instant::now() < patience, "the times of {} never pass", path.display());
        sleep(Duration::from_millis(10));
    }
}

/// Runs a command to its end and reads what the system counted of it.
fn run(mut command: Command) -> Run {
    let child = command.spawn().unwrap();
    let id = child.id();
    let output = std::thread::spawn(move || {
        // The pipes have to be drained while it runs; it stays a zombie until its figures were read.
        let (mut child, mut stdout, mut stderr) = (child, String::new(), String::new());
        let mut err = child.stderr.take().unwrap();
        let errors =
            std::thread::spawn(move || std::io::Read::read_to_string(&mut err, &mut stderr).map(|_| stderr));
        std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut stdout).unwrap();
        (child, stdout, errors.join().unwrap().unwrap())
    });
    let (mut child, stdout, stderr) = output.join().unwrap();
    let pid = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let counted = fs::read_to_string(format!("/proc/{id}/io")).unwrap();
    let read = counted.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap();
    let code = child.wait().unwrap().code().unwrap_or_else(|| panic!("a signal ended it: {stderr}"));
    assert!(!stderr.contains("panicked"), "{stderr}");
    Run { code, stdout, stderr, read }
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut all = Vec::new();
    for entry in entries {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            all.extend(files(&entry.path()));
        } else {
            all.push(entry.path());
        }
    }
    all
}

/// An image in every form in which it can lie on a disk, with a reference to it.
fn every_form(bench: &Bench, packing: Packing) -> Vec<String> {
    let image = image(packing);
    let layout = Layout::of(&image, TAG);
    let mut forms = vec![format!("oci:{}", bench.put_layout(&format!("{packing:?}/layout"), &layout))];
    let flat = bench.path(&format!("{packing:?}/flat"));
    write_files(&flat_dir(&image), &flat);
    settle(&flat.join("version"));
    forms.push(format!("dir:{}", flat.display()));
    let archives =
        [layout.archive(), tar(save_classic(&[(&image, &[TAG])])), tar(save_modern(&[(&image, &[TAG])]))];
    for (index, bytes) in archives.iter().enumerate() {
        forms.push(bench.put(&format!("{packing:?}/{index}.tar"), bytes));
        forms.push(bench.put(&format!("{packing:?}/{index}.tar.gz"), gzip(bytes)));
        forms.push(bench.put(&format!("{packing:?}/{index}.tar.zst"), zstd(bytes)));
    }
    forms
}

/// Whether a report says that the two files with the same bytes are the same, and does not say it of the one that
/// differs in a bit.
fn are_twins(report: &str) -> bool {
    let json: serde_json::Value = serde_json::from_str(report).unwrap();
    let paths = json["cuda"]["identical"].to_string();
    assert!(!paths.contains("near.bin"), "{paths}");
    paths.contains("twin-one") && paths.contains("twin-two")
}
