use std::process::Command;

use super::dpkg::Diversions;
use super::forget::{NotEditable, without_packages};
use super::{Bounds, Collector, PROBLEMS, Package, Read, apk, dpkg, fields, pip};
use crate::formats::pieces::PiecesWriter;

fn paths(paths: &[&str]) -> Vec<Vec<u8>> {
    paths.iter().map(|path| path.as_bytes().to_vec()).collect()
}

fn only(read: Read) -> Package {
    assert_eq!(read.problems, []);
    let [package] = <[Package; 1]>::try_from(read.packages).unwrap();
    package
}

fn one_problem(read: &Read, at: u64) {
    assert_eq!(read.problems.iter().map(|problem| problem.at).collect::<Vec<_>>(), [at], "{read:?}");
}

#[test]
fn the_state_of_a_package_decides() {
    for (status, expected) in [
        ("Status: install ok installed\n", true),
        ("Status: hold ok installed\n", true),
        ("Status: deinstall ok config-files\n", false),
        ("Status: install ok half-installed\n", false),
        ("Status: install reinstreq unpacked\n", false),
        ("Status:\n", false),
        ("", true),
    ] {
        let text = format!("Package: a\n{status}Version: 1\r\n\r\n\n");
        assert_eq!(only(dpkg::read_status(text.as_bytes())).installed, expected, "{status}");
    }
}

#[test]
fn damage_in_a_status_is_told_and_passed() {
    let read =
        dpkg::read_status(b"Version: 1\n\nPackage: a\nnonsense\nInstalled-Size: many\n\n\n\nPackage: b");
    let names: Vec<_> = read.packages.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(read.problems.iter().map(|problem| problem.at).collect::<Vec<_>>(), [0, 23]);
    one_problem(&dpkg::read_status(b" folded\n\tfolded\n").truncated(1), 0);
}

impl Read {
    fn truncated(mut self, problems: usize) -> Self {
        self.problems.truncate(problems);
        self
    }
}

#[test]
fn problems_and_packages_are_counted_and_bounded() {
    let read = dpkg::read_status(&b"x\n".repeat(1000));
    assert_eq!(read.problems.len(), PROBLEMS + 1);
    assert_eq!(read.problems[PROBLEMS].what, "980 more problems");
    let read = dpkg::read_status(&b"Package:a\n\n".repeat(Bounds::USUAL.packages + 5));
    assert_eq!(read.packages.len(), Bounds::USUAL.packages);
    one_problem(&read, Bounds::USUAL.packages as u64 * 11);
    let bounds = Bounds { names: 3, paths: 2, path_bytes: 5, packages: 1 };
    let mut collector = Collector::new(bounds);
    assert_eq!(collector.names(1, [&b"a"[..], b"b", b"a"].into_iter()), ["a", "b"]);
    assert_eq!(collector.names(2, [&b"a"[..], b"b", b"c"].into_iter()), ["a"]);
    let mut files = Vec::new();
    assert!(collector.path(3, &mut files, &[b"/", b"abc"]));
    assert!(!collector.path(4, &mut files, &[b"/", b"a"]));
    assert!(collector.path(5, &mut files, &[b"/"]));
    assert!(!collector.path(6, &mut files, &[b""]));
    assert_eq!(files, paths(&["/abc", "/"]));
    assert_eq!(collector.finish().problems.iter().map(|problem| problem.at).collect::<Vec<_>>(), [2, 4]);
}

#[test]
fn long_text_is_cut() {
    let text = [b"Package: ".to_vec(), b"\xff".repeat(1 << 20)].concat();
    assert!(only(dpkg::read_status(&text)).name.len() <= 3 * 4096);
    let folded = [b"Package: a\nMaintainer:".to_vec(), b" x\n".repeat(100_000)].concat();
    assert!(only(dpkg::read_status(&folded)).maker.unwrap().starts_with("x x x"));
}

#[test]
fn lines_of_a_record_with_quotes_and_without_are_read_alike() {
    let plain = b"a/b.py,sha256=x,1\r\n\nc,,\n,,\nd\ne,f,2,3\n\r\ng,,\r";
    let quoted = b"\"a/b.py\",sha256=x,1\r\n\nc,\"\",\n,\"\",\n\"d\"\n\"e\",f,2,3\n\r\n\"g\",,\r";
    let read = |bytes: &[u8]| {
        let mut found = Vec::new();
        let problems = pip::record_paths(bytes, |path| found.push(path.to_vec()));
        (found, problems.into_iter().map(|problem| problem.what).collect::<Vec<_>>())
    };
    let (found, problems) = read(plain);
    assert_eq!((&found, &problems), (&paths(&["a/b.py", "c", "d", "e", "g"]), &read(quoted).1));
    assert_eq!((found, problems.len()), (read(quoted).0, 3));
}

#[test]
fn the_version_file_of_torch_is_read() {
    let annotated =
        b"from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n\
        __version__ = '2.9.1+cu128'\ndebug = False\ncuda: Optional[str] = '12.8'\n\
        git_version = 'd38164a545b4a4e4e0cf73ce67173f70574890b6'\nhip: Optional[str] = None\n\
        if x == y: pass\n";
    assert_eq!(pip::torch_version(annotated).as_deref(), Some("2.9.1+cu128"));
    let plain = pip::torch_version(b"__version__=\"1.0\"\r\ncuda = None\nhip = \"6.2\" # x\n");
    assert_eq!(plain.as_deref(), Some("1.0"));
    assert_eq!(pip::torch_version(b"version = '1'"), None);
    assert_eq!(pip::torch_version(b"__version__ = '1"), None);
    assert_eq!(pip::torch_version(b""), None);
}

#[test]
fn lines_and_fields_keep_their_places() {
    let all: Vec<_> = fields::lines(b"a\r\n\nb").collect();
    assert_eq!(all, [(0, &b"a"[..]), (3, b""), (4, b"b")]);
    let all: Vec<_> = fields::Parts::new(b"A: 1\n 2\n\tB\r\nC\n\n D:\n:e").collect();
    let expected = [
        fields::Part::Field { at: 0, name: b"A", value: b" 1\n 2\n\tB\r\n" },
        fields::Part::Odd(12),
        fields::Part::Blank,
        fields::Part::Odd(15),
        fields::Part::Field { at: 19, name: b"", value: b"e" },
    ];
    assert_eq!(all, expected);
}

/// The database without the packages that `forget` names.
fn forgotten(bytes: &[u8], read: &Read, forget: &[&str]) -> Vec<u8> {
    let pieces =
        without_packages(bytes, read, &mut |package| forget.contains(&package.name.as_str())).unwrap();
    let mut out = Vec::new();
    let mut writer = PiecesWriter::new(&pieces);
    // In chunks, as a layer is read.
    for chunk in bytes.chunks(7) {
        writer.push(chunk, &mut out).unwrap();
    }
    writer.finish(&mut out).unwrap();
    assert_eq!(pieces.len(), out.len() as u64);
    out
}

#[test]
fn a_forgotten_package_goes_and_the_others_keep_their_bytes() {
    let [one, two, three] = [
        "Package: one\nStatus: install ok installed\nDescription: folded\n .\n  more\nVersion: 1\n\n",
        "package: two\r\nX-Unknown:\r\nVersion: 2\r\n\r\n\n",
        "Package: three\nDepends: one\nVersion: 3",
    ];
    let status = ["\n", one, two, three].concat();
    let read = dpkg::read_status(status.as_bytes());
    for (forget, expected) in [
        (&[][..], status.clone()),
        (&["one"], ["\n", two, three].concat()),
        (&["two"], ["\n", one, three].concat()),
        (&["three"], ["\n", one, two].concat()),
        (&["one", "two", "three"], "\n".to_owned()),
        (&["tw"], status.clone()),
    ] {
        let out = forgotten(status.as_bytes(), &read, forget);
        assert_eq!(String::from_utf8(out.clone()).unwrap(), expected, "{forget:?}");
        let mut left = read.packages.clone();
        left.retain(|package| !forget.contains(&package.name.as_str()));
        assert_eq!(dpkg::read_status(&out), Read { packages: left, problems: Vec::new() }, "{forget:?}");
    }
    let installed = "C:Q1x=\nP:one\nV:1\nF:usr/bin\nR:one\n\nP:two\nV:2\nF:lib\nR:two\n\n";
    let read = apk::read_installed(installed.as_bytes());
    assert_eq!(forgotten(installed.as_bytes(), &read, &["one"]), b"P:two\nV:2\nF:lib\nR:two\n\n");
    assert_eq!(forgotten(b"", &dpkg::read_status(b""), &["one"]), b"");
}

#[test]
fn a_database_that_is_not_understood_is_not_edited() {
    let damaged = b"Package: a\nnonsense\n\nPackage: b\n";
    let read = dpkg::read_status(damaged);
    let refused = without_packages(damaged, &read, &mut |_| true).unwrap_err();
    assert_eq!(refused, NotEditable::Damaged { at: 11, what: "invalid field".to_owned() });
    let other = without_packages(b"Package: a\n", &dpkg::read_status(b""), &mut |_| true).unwrap_err();
    assert_eq!(other, NotEditable::Other { stanzas: 1, packages: 0 });
}

#[test]
fn diversions_are_three_lines_each() {
    let all = Diversions::read(b"/a\n/a.real\nwrapper\n/b\n/b.distrib\n:\n").unwrap();
    assert_eq!(all.diverted_to(b"/a", b"tool"), Some(&b"/a.real"[..]));
    assert_eq!(all.diverted_to(b"/a", b"wrapper"), None);
    assert_eq!(all.diverted_to(b"/b", b"tool"), Some(&b"/b.distrib"[..]));
    assert_eq!(all.diverted_to(b"/c", b"tool"), None);
    assert_eq!(all.local().collect::<Vec<_>>(), [b"/b.distrib"]);
    assert_eq!(Diversions::read(b""), Some(Diversions::default()));
    for damaged in [&b"/a\n/b\n"[..], b"/a\n\n:\n", b"a\n/b\n:\n", b"/a\n/b\n\n", b"/a\n/b\n:\n\n"] {
        assert_eq!(Diversions::read(damaged), None);
    }
}

/// The packages of this machine, with every third one forgotten, as dpkg itself reads them.
#[test]
fn dpkg_lists_what_is_left_of_a_real_database() {
    let Ok(status) = std::fs::read("/var/lib/dpkg/status") else {
        println!("SKIPPED: no database of dpkg");
        return;
    };
    let read = dpkg::read_status(&status);
    let names: Vec<&str> = read.packages.iter().map(|package| package.name.as_str()).collect();
    let forget: Vec<&str> = names.iter().copied().step_by(3).collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("info")).unwrap();
    std::fs::create_dir_all(folder.path().join("updates")).unwrap();
    std::fs::write(folder.path().join("info/format"), "1\n").unwrap();
    let mut lists = Vec::new();
    for content in [&status, &forgotten(&status, &read, &forget)] {
        std::fs::write(folder.path().join("status"), content).unwrap();
        let mut command = Command::new("dpkg-query");
        command.arg("--admindir").arg(folder.path()).args(["-W", "-f", "${Package}\\t${Version}\\n"]);
        let Ok(output) = command.env("LC_ALL", "C").output() else {
            println!("SKIPPED: no dpkg-query");
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        lists.push(text.lines().map(str::to_owned).collect::<Vec<_>>());
    }
    let (before, mut expected) = (lists[0].len(), lists[0].clone());
    expected.retain(|line| !forget.contains(&line.split('\t').next().unwrap_or_default()));
    assert_eq!(lists[1], expected);
    assert!(lists[1].len() < before);
}
