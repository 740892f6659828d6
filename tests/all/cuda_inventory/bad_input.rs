//! Files that are not what they seem: a warning names them, and everything else is still there.

use serde_json::Value;

use super::packages::lines;
use super::{column, image, items, library, number, only_warns_of, report_of, report_of_members};
use crate::fixtures::elf::{Elf, archive};
use crate::fixtures::fatbin::{Coding, Entry, container, section};
use crate::fixtures::filler;
use crate::fixtures::packages::{dpkg_status, pip_metadata};
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, files, wheel};
use crate::fixtures::tarball::{Member, file};
use crate::support::Report;

const GOOD: &str = "opt/good/libcublas.so.13";

/// Something of each kind that is in order.
fn good() -> Vec<Member> {
    let code = section(&[80, 90], None, 5_000, Coding::Zstd, "good");
    let library = Elf::library("libcublas.so.13").with_section(".nv_fatbin", code);
    let mut members = wheel(SITE, "torch", "2.10.0", &[("torch/__init__.py", b"x = 1\n".to_vec())]);
    members.extend([file(GOOD, library.build()), file("app/model.safetensors", vec![1; 500])]);
    members
}

/// The report of the good things with more, in both kinds of layers; the good things must be in it.
fn beside_good(more: &[Member], judge: impl Fn(&Report)) {
    let members: Vec<Member> = more.iter().cloned().chain(good()).collect();
    for packing in [Packing::Gzip, Packing::Plain] {
        let report = report_of(&image(packing, std::slice::from_ref(&members)));
        let cublas = library(&report, &format!("/{GOOD}"));
        assert_eq!(items(&cublas["gpu_code"]).len(), 2);
        assert!(column(&report.json["packages"], "name").contains(&"torch"));
        assert_eq!(column(&report.json["cuda"]["weights"], "path"), ["/app/model.safetensors"]);
        judge(&report);
    }
}

/// There is a warning with this code whose subject is `path`, and none about another.
fn warned(report: &Report, code: &str, path: &str) {
    let warnings = report.warnings(code);
    let subjects: Vec<&Value> = warnings.iter().map(|warning| &warning["subject"]).collect();
    assert!(subjects.iter().all(|subject| **subject == path), "{subjects:?} is not {path}");
    assert!(warnings.iter().all(|warning| !warning["message"].as_str().unwrap().contains(path)));
    assert_eq!(report.codes(), [code], "{:#}", report.json["warnings"]);
}

fn put(bytes: &mut [u8], at: usize, number: u64) {
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

#[test]
fn a_binary_that_lies_is_a_warning_that_names_it() {
    let code = section(&[80, 90], None, 5_000, Coding::Zstd, "bad");
    let library = |code: Vec<u8>| Elf::library("libkernels.so").with_section(".nv_fatbin", code).build();
    let whole = library(code.clone());
    let changed = |at: usize, number: u64| {
        let mut bytes = whole.clone();
        put(&mut bytes, at, number);
        bytes
    };
    let lying = |at: usize, number: u64| {
        let mut code = code.clone();
        put(&mut code, at, number);
        library(code)
    };
    let cases = [
        ("cut in the middle", whole[..whole.len() / 2].to_vec()),
        ("cut in the header", whole[..40].to_vec()),
        ("cut in the section table", whole[..whole.len() - 100].to_vec()),
        ("a section table behind the end", changed(40, 1 << 40)),
        ("a section table at the end of numbers", changed(40, u64::MAX - 63)),
        ("program headers behind the end", changed(32, 1 << 62)),
        ("a container larger than its section", lying(8, 1 << 40)),
        ("a container of all numbers", lying(8, u64::MAX)),
        ("an entry larger than its container", lying(16 + 8, 0x7fff_fff8)),
        ("no container at all", library(vec![0x5a; 400])),
    ];
    for (what, bytes) in cases {
        let member = file("opt/bad/libkernels.so", bytes);
        beside_good(&[member], |report| {
            warned(report, "binary-malformed", "/opt/bad/libkernels.so");
            for row in items(&report.json["cuda"]["gpu_code"]) {
                assert!(number(&row["bytes"]) < 20_000, "{what}: {row}");
            }
        });
    }
}

#[test]
fn an_archive_and_a_loose_file_that_lie_are_warnings_too() {
    let mut fatbin = container(&[Entry::cubin(90, None, 2_000, Coding::Zstd, "x")]);
    put(&mut fatbin, 8, 1 << 50);
    beside_good(&[file("opt/bad/x.fatbin", fatbin)], |report| {
        warned(report, "binary-malformed", "/opt/bad/x.fatbin");
    });
    let mut objects = archive(&[("a.o".into(), Elf::library("x").build())]);
    let end = objects.len() - 700;
    objects.truncate(end);
    beside_good(&[file("opt/bad/libx.a", objects)], |report| {
        warned(report, "binary-malformed", "/opt/bad/libx.a");
    });
}

#[test]
fn a_status_of_dpkg_cut_in_the_middle_keeps_what_was_before() {
    let first = dpkg_status("first", "1.0", 1, &[]);
    let second = dpkg_status("second", "2.0", 1, &[]);
    let name_only = b"Package: second\nStatus: install ok ins";
    let status = file("var/lib/dpkg/status", [first.as_slice(), name_only].concat());
    beside_good(&[status], |report| {
        warned(report, "packages-malformed", "/var/lib/dpkg/status");
        assert!(lines(report).contains(&"dpkg first 1.0 null null 0".to_owned()));
        assert_eq!(lines(report).len(), 2);
    });
    // Wherever it is cut, the package before is there and the run ends well.
    for keep in (0..second.len()).step_by(41) {
        let status = [first.as_slice(), &second[..keep]].concat();
        let report = report_of_members(vec![file("var/lib/dpkg/status", status)]);
        assert!(lines(&report).iter().any(|line| line.starts_with("dpkg first 1.0 ")), "{keep} bytes");
    }
}

#[test]
fn a_record_that_is_no_table_still_leaves_the_package() {
    let info = "odd-1.0.dist-info";
    let record = "odd/a.py,sha256=x,3\n\"never closed,sha256=y,4\nodd/b.py,,\n";
    let members = files(
        SITE,
        &[
            (&format!("{info}/METADATA"), pip_metadata("odd", "1.0", &[])),
            (&format!("{info}/RECORD"), record.into()),
            ("odd/a.py", b"abc".to_vec()),
        ],
    );
    beside_good(&members, |report| {
        warned(report, "packages-malformed", &format!("/{SITE}/{info}/RECORD"));
        assert!(lines(report).iter().any(|line| line.starts_with("pip odd 1.0 3 1 ")), "{:?}", lines(report));
    });
}

#[test]
fn a_package_that_describes_itself_in_a_book_is_read_by_its_head() {
    let mut about = pip_metadata("wordy", "1.0", &[]);
    about.resize(30_000_000, b'x');
    let members = files(SITE, &[("wordy-1.0.dist-info/METADATA", about)]);
    beside_good(&members, |report| {
        only_warns_of(report, &[]);
        assert!(lines(report).contains(&"pip wordy 1.0 null null 0".to_owned()));
    });
}

#[test]
fn a_database_of_noise_is_a_warning() {
    let noise = filler::code("noise", 40_000);
    for path in ["var/lib/rpm/rpmdb.sqlite", "var/lib/rpm/Packages", "usr/lib/sysimage/rpm/Packages.db"] {
        let sqlite = [b"SQLite format 3\0".as_slice(), &noise].concat();
        for bytes in [noise.clone(), sqlite] {
            beside_good(&[file(path, bytes)], |report| {
                warned(report, "packages-malformed", &format!("/{path}"));
                assert_eq!(lines(report).len(), 1);
            });
        }
    }
}
