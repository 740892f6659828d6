//! Packages of which no file is left, and the databases without them.

use std::fs;
use std::path::Path;
use std::process::Command;

use cutaway::slim::{FORGET, Selection, SlimOptions};

use super::bench::{Slimmed, image, open, plan, read, slim};
use super::sized;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packages::{apk_installed, dpkg_list, dpkg_status};
use crate::fixtures::rpm;
use crate::fixtures::tarball::{Member, dir, file, hardlink, symlink};
use crate::oracle::have;
use crate::support::Place;

fn forget() -> SlimOptions {
    SlimOptions { forget_packages: true, ..SlimOptions::default() }
}

/// The image without `paths`, and the packages that the ordinary reader lists in it.
fn forgotten(image: &Image, paths: &[&str]) -> (Place, Slimmed, Vec<String>) {
    let place = Place::new();
    let source = place.put_layout("source", &Layout::of(image, "t"));
    let (selection, written) = slim(&place, &format!("oci:{source}"), paths, &forget(), "out").unwrap();
    let out = read(&place, selection, written);
    let left = packages(&place, &format!("oci:{}", place.path("out")));
    (place, out, left)
}

fn packages(place: &Place, reference: &str) -> Vec<String> {
    let report = place.report(reference);
    assert!(report.complete());
    let packages = report.json["packages"].as_array().unwrap().clone();
    packages.iter().map(|package| package["name"].as_str().unwrap().to_owned()).collect()
}

fn names(selection: &Selection) -> Vec<&str> {
    selection.forgotten.iter().map(|package| package.name.as_str()).collect()
}

/// `info/NAME.EXTENSION`, and a list of these paths.
fn info(stem: &str, paths: &[&str]) -> Vec<Member> {
    vec![
        file(format!("var/lib/dpkg/info/{stem}.list"), dpkg_list(paths)),
        file(format!("var/lib/dpkg/info/{stem}.postinst"), "#!/bin/sh\n"),
    ]
}

/// A package of dpkg: its stanza and its paths.
type Deb<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

fn status(packages: &[Deb<'_>]) -> Vec<u8> {
    packages.iter().flat_map(|(name, fields, _)| dpkg_status(name, "1.0-1", 1, fields)).collect()
}

/// The databases of dpkg.
fn dpkg(packages: &[Deb<'_>]) -> Vec<Member> {
    let mut members = vec![
        dir("var/lib/dpkg"),
        dir("var/lib/dpkg/info"),
        file("var/lib/dpkg/info/format", "1\n"),
        file("var/lib/dpkg/status", status(packages)),
    ];
    members.extend(packages.iter().flat_map(|(name, _, paths)| info(name, paths)));
    members
}

/// The file at a path in one of the layers.
fn content(out: &Slimmed, path: &str) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let mut found = None;
    for tar in &out.tars {
        let mut archive = tar::Archive::new(&tar[..]);
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            if &*entry.path_bytes() == path.as_bytes() {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).unwrap();
                found = Some(bytes);
            }
        }
    }
    found
}

const DEBS: [Deb<'_>; 4] = [
    ("libc6", &[], &["/usr/lib/libc.so.6", "/usr/share/doc/libc6/copyright"]),
    (
        "gcc",
        &[("Depends", "libc6 (>= 2), cpp"), ("Conffiles", "\n /etc/gcc 0123")],
        &["/usr/bin/gcc", "/usr/lib/gcc/cc1"],
    ),
    ("gcc.doc", &[], &["/usr/share/gcc/manual"]),
    ("cpp", &[], &["/usr/bin/cpp"]),
];

fn debs() -> Vec<Member> {
    let mut members = vec![
        dir("usr"),
        dir("usr/lib"),
        dir("usr/lib/gcc"),
        sized("usr/lib/libc.so.6", 10),
        sized("usr/share/doc/libc6/copyright", 10),
        sized("usr/bin/gcc", 20),
        sized("usr/lib/gcc/cc1", 30),
        sized("usr/share/gcc/manual", 40),
        sized("usr/bin/cpp", 50),
    ];
    members.extend(dpkg(&DEBS));
    members
}

#[test]
fn a_package_without_files_leaves_the_database_of_dpkg() {
    let source = image([debs()]);
    let (place, out, left) =
        forgotten(&source, &["/usr/bin/gcc", "/usr/lib/gcc/cc1", "/usr/share/doc/libc6/copyright"]);
    assert_eq!(left, ["cpp", "gcc.doc", "libc6"]);
    assert_eq!(names(&out.selection), ["gcc"]);
    let package = &out.selection.forgotten[0];
    assert_eq!((package.manager, package.version.as_str()), ("dpkg", "1.0-1"));
    // What is left of the database keeps its bytes, and the files of gcc.doc are not those of gcc.
    let rest = [DEBS[0], DEBS[2], DEBS[3]];
    assert!(content(&out, "var/lib/dpkg/status").unwrap() == status(&rest));
    let is_info = |name: &String| name.contains("/info/");
    assert_eq!(
        out.names(0).into_iter().filter(is_info).collect::<Vec<_>>(),
        [
            "",
            "format",
            "libc6.list",
            "libc6.postinst",
            "gcc.doc.list",
            "gcc.doc.postinst",
            "cpp.list",
            "cpp.postinst"
        ]
        .map(|name| format!("var/lib/dpkg/info/{name}"))
    );
    let comment = out.config["history"].as_array().unwrap().last().unwrap()["comment"].as_str().unwrap();
    assert!(comment.contains("took 1 package without files out"), "{comment}");
    let analysis = open(&format!("oci:{}", place.path("source")));
    let (analysis, _) = plan(&analysis, &["/usr/bin/gcc", "/usr/lib/gcc/cc1"]);
    let own: Vec<String> = out
        .selection
        .removed(&analysis)
        .filter(|removed| removed.finding == FORGET)
        .map(|removed| removed.path)
        .collect();
    assert_eq!(own, ["/var/lib/dpkg/info/gcc.list", "/var/lib/dpkg/info/gcc.postinst"]);
}

#[test]
fn without_the_option_the_database_stays() {
    let place = Place::new();
    let source = place.put_layout("source", &Layout::of(&image([debs()]), "t"));
    let paths = ["/usr/bin/gcc", "/usr/lib/gcc/cc1"];
    let (selection, _) =
        slim(&place, &format!("oci:{source}"), &paths, &SlimOptions::default(), "out").unwrap();
    assert!(selection.forgotten.is_empty());
    assert!(
        selection.warnings[0].contains("still lists 1 package without files (gcc)"),
        "{:?}",
        selection.warnings
    );
    assert_eq!(packages(&place, &format!("oci:{}", place.path("out"))), ["cpp", "gcc", "gcc.doc", "libc6"]);
}

#[test]
fn dpkg_finds_nothing_wrong_with_what_is_left() {
    if !have(&["dpkg"]) {
        return;
    }
    let (place, out, left) =
        forgotten(&image([debs()]), &["/usr/bin/gcc", "/usr/lib/gcc/cc1", "/usr/bin/cpp"]);
    assert_eq!(names(&out.selection), ["cpp", "gcc"]);
    let root = place.path("root");
    for tar in &out.tars {
        tar::Archive::new(&tar[..]).unpack(&root).unwrap();
    }
    fs::create_dir_all(Path::new(&root).join("var/lib/dpkg/updates")).unwrap();
    let dpkg = |arguments: &[&str]| {
        let output = Command::new("dpkg")
            .arg("--root")
            .arg(&root)
            .args(arguments)
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success() && stderr.is_empty(), "{stdout}\n{stderr}");
        stdout
    };
    let listed = dpkg(&["-l"]);
    let listed: Vec<&str> =
        listed.lines().filter_map(|line| line.strip_prefix("ii ")?.split_whitespace().next()).collect();
    assert_eq!(listed, ["gcc.doc", "libc6"]);
    assert_eq!(listed, left);
    // The stand-ins have no md5sums, which is all that there is to say.
    let audit = dpkg(&["--audit"]);
    let named: Vec<&str> =
        audit.lines().filter_map(|line| line.strip_prefix(' ')?.split_whitespace().next()).collect();
    assert!(named.iter().all(|name| left.iter().any(|left| left == name)), "{audit}");
    assert!(!audit.contains("list file"), "{audit}");
}

#[test]
fn a_database_in_an_upper_layer_and_merged_folders() {
    let members = vec![
        dir("usr"),
        dir("usr/lib"),
        symlink("lib", "usr/lib"),
        sized("usr/lib/a", 10),
        sized("usr/lib/b", 10),
        file("var/lib/dpkg/status", "an older one"),
    ];
    let debs: [Deb<'_>; 2] = [("a", &[], &["/lib/a"]), ("b", &[], &["/lib/b"])];
    let (_place, out, left) = forgotten(&image([members, dpkg(&debs)]), &["/usr/lib/a"]);
    assert_eq!((names(&out.selection), left), (vec!["a"], vec!["b".to_owned()]));
    assert_eq!(out.actions(), ["rewritten", "rewritten"]);
}

#[test]
fn a_file_that_is_left_keeps_its_packages() {
    let debs: [Deb<'_>; 11] = [
        // One path of two packages.
        ("one", &[], &["/usr/shared", "/usr/one"]),
        ("two", &[("Depends", "two-manuals")], &["/usr/shared", "/usr/two"]),
        // Links to a file that stays, to one of a container, and to one that is removed.
        ("link", &[], &["/usr/link"]),
        ("mounts", &[], &["/etc/mtab"]),
        ("gone", &[], &["/usr/gone", "/usr/dead", "/usr/deader", "/usr/empty"]),
        ("deleted-before", &[], &["/usr/never/there"]),
        // Its files were never unpacked, and a package that stays depends on it.
        ("two-manuals", &[], &["/usr/share/man/man1/two.1.gz"]),
        // Links for compilers to libraries of a package that stays.
        ("two-dev", &[], &["/usr/include/two.h", "/usr/lib/libtwo.so"]),
        // Links alone, to a removed file and to documents that are not there; dpkg names the link `/lib` as a folder.
        ("front", &[], &["/lib", "/usr/front", "/usr/share/doc/other/README"]),
        ("python-is-python3", &[], &["/usr/python"]),
        // Documents are files, unless they are about the package.
        ("doc", &[], &["/usr/share/doc/doc/copyright", "/usr/share/doc/doc/html/index.html"]),
    ];
    let mut members = vec![
        dir("usr/empty"),
        sized("usr/shared", 1),
        sized("usr/one", 1),
        sized("usr/two", 1),
        sized("usr/gone", 1),
        sized("usr/share/doc/doc/copyright", 1),
        sized("usr/share/doc/doc/html/index.html", 1),
        symlink("usr/link", "shared"),
        symlink("etc/mtab", "/proc/mounts"),
        symlink("usr/dead", "gone"),
        symlink("usr/deader", "/usr/dead"),
        sized("usr/include/two.h", 1),
        sized("usr/lib/libtwo.so.1", 1),
        symlink("usr/lib/libtwo.so", "libtwo.so.1"),
        symlink("lib", "usr/lib"),
        symlink("usr/front", "gone"),
        symlink("usr/share/doc/other/README", "../more/README"),
        sized("usr/python3", 1),
        symlink("usr/python", "python3"),
    ];
    members.extend(dpkg(&debs));
    let removed = ["/usr/one", "/usr/two", "/usr/gone", "/usr/share/doc/doc/copyright", "/usr/include/two.h"];
    let (_place, out, left) = forgotten(&image([members]), &removed);
    assert_eq!(left, ["doc", "link", "mounts", "one", "python-is-python3", "two", "two-manuals"]);
    assert_eq!(names(&out.selection), ["deleted-before", "front", "gone", "two-dev"]);
}

#[test]
fn a_diverted_file_is_where_dpkg_put_it() {
    let debs: [Deb<'_>; 4] = [
        // Its file was moved and is removed; the one at its path belongs to `wrapper`.
        ("tool", &[], &["/usr/bin/tool"]),
        ("wrapper", &[], &["/usr/bin/tool"]),
        // Its file was moved and stays.
        ("moved", &[], &["/usr/bin/moved"]),
        // The diversion was added before there was a file to move.
        ("early", &[], &["/usr/bin/early"]),
    ];
    let diversions = "/usr/bin/tool\n/usr/bin/tool.real\nwrapper\n/usr/bin/moved\n/usr/bin/moved.real\n:\n\
                      /usr/bin/early\n/usr/bin/early.real\nother\n";
    let mut members = vec![
        sized("usr/bin/tool", 1),
        sized("usr/bin/tool.real", 2),
        sized("usr/bin/moved", 3),
        sized("usr/bin/moved.real", 4),
        sized("usr/bin/early", 5),
    ];
    members.extend(dpkg(&debs));
    members.push(file("var/lib/dpkg/diversions", diversions));
    let (_place, out, left) = forgotten(&image([members.clone()]), &["/usr/bin/tool.real", "/usr/bin/moved"]);
    assert_eq!(
        (names(&out.selection), left.as_slice()),
        (vec!["tool"], &["early", "moved", "wrapper"].map(str::to_owned)[..])
    );
    // Without knowing where files are, nothing is forgotten.
    members.pop();
    members.push(file("var/lib/dpkg/diversions", "/usr/bin/tool\n/usr/bin/tool.real\n"));
    let (_place, out, left) = forgotten(&image([members]), &["/usr/bin/tool.real", "/usr/bin/tool"]);
    assert_eq!((out.selection.forgotten.len(), left.len()), (0, 4));
    let note = &out.selection.warnings[0];
    assert!(
        note.contains("/var/lib/dpkg/diversions cannot be read") && note.contains("tool, wrapper"),
        "{note}"
    );
}

#[test]
fn a_metapackage_goes_with_what_it_stands_for() {
    let debs: [Deb<'_>; 8] = [
        ("gcc", &[("Provides", "c-compiler, tool")], &["/usr/bin/gcc", "/usr/share/doc/gcc/copyright"]),
        // Another package is a tool too.
        ("tools", &[("Depends", "tool")], &["/usr/share/doc/tools/copyright"]),
        ("build-all", &[("Depends", "build")], &["/usr/share/doc/build-all/copyright"]),
        ("build", &[("Depends", "c-compiler, libc6")], &["/usr/share/doc/build/changelog.gz"]),
        ("runtime", &[("Depends", "libc6")], &["/usr/share/doc/runtime/copyright"]),
        ("empty", &[("Depends", "gcc")], &[]),
        ("script", &[("Depends", "build"), ("Provides", "tool")], &["/usr/bin/script"]),
        ("libc6", &[], &["/usr/lib/libc.so.6"]),
    ];
    let mut members = vec![
        sized("usr/bin/gcc", 1),
        sized("usr/share/doc/gcc/copyright", 2),
        sized("usr/share/doc/build/changelog.gz", 2),
        sized("usr/share/doc/runtime/copyright", 2),
        sized("usr/lib/libc.so.6", 3),
        sized("usr/bin/script", 4),
    ];
    members.extend(dpkg(&debs));
    let papers = ["/usr/share/doc/build/changelog.gz", "/usr/share/doc/runtime/copyright"];
    let (_place, out, left) = forgotten(&image([members.clone()]), &papers);
    assert_eq!((out.selection.forgotten.len(), left.len()), (0, 8));
    let (_place, out, left) = forgotten(&image([members]), &["/usr/bin/gcc"]);
    assert_eq!(names(&out.selection), ["build", "build-all", "empty", "gcc"]);
    assert_eq!(left, ["libc6", "runtime", "script", "tools"]);
    // The copyright notice stays, without a package.
    assert!(content(&out, "usr/share/doc/gcc/copyright").is_some());
    let note = out.selection.warnings.iter().find(|note| note.contains("on forgotten ones")).unwrap();
    assert!(note.contains("1 remaining package depends") && note.contains("(script needs build)"), "{note}");
    assert!(note.contains("apt-get --fix-broken install"), "{note}");
}

#[test]
fn two_architectures_of_a_package_are_two() {
    let stanza = |architecture: &str| {
        let text = String::from_utf8(dpkg_status("libz", "1.0-1", 1, &[])).unwrap();
        text.replace("Architecture: amd64", &format!("Multi-Arch: same\nArchitecture: {architecture}"))
    };
    let both = [stanza("amd64"), stanza("i386")].concat();
    let mut members = vec![sized("usr/lib/x/libz", 1), sized("usr/lib/y/libz", 2), sized("keep", 1)];
    members.push(file("var/lib/dpkg/status", both.clone()));
    members.extend(info("libz:amd64", &["/usr/lib/x/libz"]));
    members.extend(info("libz:i386", &["/usr/lib/y/libz"]));
    let (_place, out, left) = forgotten(&image([members]), &["/usr/lib/y/libz"]);
    assert_eq!((names(&out.selection), left), (vec!["libz"], vec!["libz".to_owned()]));
    assert_eq!(content(&out, "var/lib/dpkg/status").unwrap(), stanza("amd64").into_bytes());
    assert!(content(&out, "var/lib/dpkg/info/libz:i386.list").is_none());
    assert!(content(&out, "var/lib/dpkg/info/libz:amd64.list").is_some());
    // One list for both says of neither what it owns.
    let mut members = vec![sized("usr/lib/x/libz", 1), sized("gone", 1), file("var/lib/dpkg/status", both)];
    members.extend(info("libz", &["/usr/lib/x/libz"]));
    let (_place, out, _) = forgotten(&image([members]), &["/usr/lib/x/libz", "/gone"]);
    assert!(out.selection.forgotten.is_empty());
}

#[test]
fn what_is_not_known_stays() {
    // A package without a list, and one that was removed and left its configuration.
    let debs: [Deb<'_>; 3] =
        [("a", &[], &["/usr/a"]), ("unlisted", &[], &["/usr/b"]), ("removed", &[], &["/usr/c"])];
    let mut members = vec![sized("usr/a", 1), sized("usr/b", 1), sized("usr/c", 1)];
    members.extend(dpkg(&debs));
    members.retain(|member| !String::from_utf8_lossy(&member.name).contains("info/unlisted"));
    for member in &mut members {
        if member.name.ends_with(b"/status") {
            let text = String::from_utf8(status(&debs)).unwrap();
            let at = text.find("Package: removed").unwrap();
            let end = text[at..].replace("install ok installed", "deinstall ok config-files");
            member.body = [&text[..at], &end].concat().into_bytes();
        }
    }
    let (_place, out, left) = forgotten(&image([members.clone()]), &["/usr/a", "/usr/b", "/usr/c"]);
    assert_eq!((names(&out.selection), left), (vec!["a"], vec!["unlisted".to_owned()]));
    let note = &out.selection.warnings[0];
    assert!(note.contains("no list of their files is known") && note.ends_with("unlisted"), "{note}");
    assert!(
        String::from_utf8(content(&out, "var/lib/dpkg/status").unwrap())
            .unwrap()
            .contains("Package: removed")
    );
    // Cut short: the rest is not known.
    for member in &mut members {
        if member.name.ends_with(b"/status") {
            member.body.truncate(member.body.len() - 2);
        }
    }
    let (_place, out, _) = forgotten(&image([members]), &["/usr/a"]);
    assert!(out.selection.forgotten.is_empty());
    let note = &out.selection.warnings[0];
    assert!(
        note.contains("/var/lib/dpkg/status") && note.contains("middle of a line") && note.ends_with(": a"),
        "{note}"
    );
}

#[test]
fn a_file_of_the_database_with_a_further_name_keeps_its_package() {
    let mut members = vec![sized("usr/a", 1), sized("usr/b", 1)];
    members.extend(dpkg(&[("a", &[], &["/usr/a"]), ("b", &[], &["/usr/b"])]));
    members.retain(|member| member.name != b"var/lib/dpkg/info/b.postinst");
    members.push(hardlink("var/lib/dpkg/info/b.postinst", "var/lib/dpkg/info/a.postinst"));
    let (_place, out, _) = forgotten(&image([members]), &["/usr/a"]);
    assert!(out.selection.forgotten.is_empty());
    assert!(out.selection.warnings[0].contains("has a further name"), "{:?}", out.selection.warnings);
}

#[test]
fn parts_of_distroless_images_go_with_their_sums() {
    let part = |name: &str, path: &str| {
        let stanza = String::from_utf8(dpkg_status(name, "1", 1, &[])).unwrap();
        vec![
            file(
                format!("var/lib/dpkg/status.d/{name}"),
                stanza.replace("Status: install ok installed\n", ""),
            ),
            file(format!("var/lib/dpkg/status.d/{name}.md5sums"), format!("{}  {path}\n", "0".repeat(32))),
        ]
    };
    let mut members =
        vec![sized("usr/lib/a", 1), sized("usr/lib/b", 1), sized("usr/share/doc/net/copyright", 1)];
    members.extend(
        [part("a", "usr/lib/a"), part("b", "usr/lib/b"), part("net", "usr/share/doc/net/copyright")].concat(),
    );
    // Sums leave out configuration files, which may be all that a package is for.
    let (_place, out, left) = forgotten(&image([members]), &["/usr/lib/a", "/usr/share/doc/net/copyright"]);
    assert_eq!((names(&out.selection), left), (vec!["a"], vec!["b".to_owned(), "net".to_owned()]));
    assert_eq!(out.names(0).iter().filter(|name| name.contains("status.d/a")).count(), 0);
    assert_eq!(out.names(0).iter().filter(|name| name.contains("status.d/b")).count(), 2);
}

#[test]
fn packages_of_apk_are_forgotten() {
    let gone = apk_installed("gcc", "13-r1", 1, "", &["/usr/bin/gcc", "/usr/lib/gcc/cc1"]);
    let left = apk_installed("musl", "1.2-r1", 1, "", &["/lib/libc.so"]);
    let needs = apk_installed("script", "0", 1, "gcc", &["/usr/bin/script"]);
    let members = vec![
        sized("usr/bin/gcc", 10),
        sized("usr/lib/gcc/cc1", 10),
        sized("lib/libc.so", 10),
        sized("usr/bin/script", 10),
        file("lib/apk/db/installed", [gone, left.clone(), needs.clone()].concat()),
    ];
    let (_place, out, names_left) = forgotten(&image([members]), &["/usr/bin/gcc", "/usr/lib/gcc/cc1"]);
    assert_eq!(out.selection.forgotten[0].manager, "apk");
    assert_eq!(
        (names(&out.selection), names_left),
        (vec!["gcc"], vec!["musl".to_owned(), "script".to_owned()])
    );
    assert!(content(&out, "lib/apk/db/installed").unwrap() == [left, needs].concat());
    assert!(
        out.selection.warnings.iter().any(|note| note.contains("script needs gcc")),
        "{:?}",
        out.selection.warnings
    );
}

#[test]
fn databases_of_rpm_are_refused_by_format() {
    let headers = [
        rpm::Package::new("gone", "1", "1").with_files(&["/usr/gone"]).header(),
        rpm::Package::new("left", "1", "1").with_files(&["/usr/left"]).header(),
    ];
    for (path, bytes, format) in [
        ("var/lib/rpm/rpmdb.sqlite", rpm::sqlite(&headers, false).unwrap(), "SQLite"),
        ("var/lib/rpm/Packages", rpm::berkeley(&headers, 4096, false), "Berkeley DB"),
        ("usr/lib/sysimage/rpm/Packages.db", rpm::ndb(&headers), "ndb"),
    ] {
        let members = vec![sized("usr/gone", 1), sized("usr/left", 1), file(path, bytes.clone())];
        let (_place, out, left) = forgotten(&image([members]), &["/usr/gone"]);
        assert_eq!((out.selection.forgotten.len(), left.len()), (0, 2));
        let note = &out.selection.warnings[0];
        assert!(note.contains(path) && note.contains(format) && note.ends_with(": gone"), "{note}");
        assert!(content(&out, path).unwrap() == bytes);
    }
}

#[test]
fn the_base_image_keeps_its_database() {
    let base = || {
        let mut members = vec![sized("usr/base", 1)];
        members.extend(dpkg(&[("base", &[], &["/usr/base"])]));
        members
    };
    let debs: [Deb<'_>; 2] = [("base", &[], &["/usr/base"]), ("app", &[], &["/usr/app"])];
    let above = |with: &[Deb<'_>]| {
        let mut members = vec![sized("usr/app", 1), file("var/lib/dpkg/status", status(with))];
        members.extend(info("app", &["/usr/app"]));
        members
    };
    let select = |source: &Image, paths: &[&str]| {
        let place = Place::new();
        let reference = format!("oci:{}", place.put_layout("source", &Layout::of(source, "t")));
        let (mut analysis, plan) = plan(&open(&reference), paths);
        super::set_base(&mut analysis, 1);
        Selection::new(&analysis, &plan, &SlimOptions { keep_base: true, ..forget() }).unwrap()
    };
    // The files of `base` stay with its layer, and the database above loses only `app`.
    let selection = select(&image([base(), above(&debs)]), &["/usr/app", "/usr/base"]);
    assert_eq!(names(&selection), ["app"]);
    // Somebody deleted the only file of `base`: its files in the database cannot follow.
    let mut gone = above(&debs);
    gone.push(crate::fixtures::tarball::whiteout("usr/base"));
    let selection = select(&image([base(), gone]), &["/usr/app"]);
    assert_eq!(names(&selection), ["app"]);
    assert!(
        selection
            .warnings
            .iter()
            .any(|note| note.contains("layer of the base image") && note.ends_with(": base")),
        "{:?}",
        selection.warnings
    );
    // The database itself is in the base.
    let mut members = base();
    members.push(sized("keep", 1));
    let whiteout = vec![crate::fixtures::tarball::whiteout("usr/base"), sized("x", 1)];
    let selection = select(&image([members, whiteout]), &[]);
    assert!(selection.forgotten.is_empty());
    assert!(
        selection
            .warnings
            .iter()
            .any(|note| note.contains("/var/lib/dpkg/status is in a layer of the base image")),
        "{:?}",
        selection.warnings
    );
}

/// The databases of this machine, with a stand-in for one file of each package.
#[test]
fn dpkg_lists_what_is_left_of_a_real_database() {
    let real = Path::new("/var/lib/dpkg");
    if !real.join("status").exists() || !have(&["dpkg", "dpkg-query"]) {
        println!("SKIPPED: no database of dpkg");
        return;
    }
    let mut members = vec![dir("var/lib/dpkg"), dir("var/lib/dpkg/info"), dir("var/lib/dpkg/updates")];
    let mut stand_ins = Vec::new();
    let mut names: Vec<_> =
        fs::read_dir(real.join("info")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for path in names {
        let bytes = fs::read(&path).unwrap();
        if path.extension().is_some_and(|extension| extension == "list") {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let is_file = |line: &&str| Path::new(line).is_file() && !line.starts_with("/usr/share/doc/");
            stand_ins.extend(text.lines().find(is_file).map(str::to_owned));
        }
        members.push(file(path.strip_prefix("/").unwrap().to_str().unwrap(), bytes));
    }
    for name in ["status", "diversions"] {
        if let Ok(bytes) = fs::read(real.join(name)) {
            members.push(file(format!("var/lib/dpkg/{name}"), bytes));
        }
    }
    stand_ins.sort();
    stand_ins.dedup();
    members.extend(stand_ins.iter().map(|path| sized(path.trim_start_matches('/'), 1)));
    let removed: Vec<&str> = stand_ins.iter().step_by(3).map(String::as_str).collect();
    let (place, out, _) = forgotten(&image([members]), &removed);
    let root = place.path("root");
    tar::Archive::new(&out.tars[0][..]).unpack(&root).unwrap();
    let listed = |root: &str| {
        let mut command = Command::new("dpkg-query");
        command.arg("--admindir").arg(format!("{root}/var/lib/dpkg")).env("LC_ALL", "C");
        let output =
            command.args(["-W", "-f", "${Package} ${Version} ${db:Status-Abbrev}\n"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .filter_map(|line| Some(line.trim_end().strip_suffix(" ii")?.to_owned()))
            .collect::<Vec<_>>()
    };
    let (mut expected, left) = (listed(""), listed(&root));
    let count = expected.len();
    for package in &out.selection.forgotten {
        let line = format!("{} {}", package.name, package.version);
        let place = expected.iter().position(|one| *one == line).unwrap_or_else(|| panic!("{line}"));
        expected.remove(place);
    }
    assert_eq!(left, expected);
    assert!(left.len() < count && left.len() > count / 3, "{} of {count}", left.len());
    let audit = Command::new("dpkg").args(["--root", &root, "--audit"]).env("LC_ALL", "C").output().unwrap();
    let text = String::from_utf8_lossy(&audit.stdout).into_owned() + &String::from_utf8_lossy(&audit.stderr);
    assert!(audit.status.success() && text.is_empty(), "{text}");
}
