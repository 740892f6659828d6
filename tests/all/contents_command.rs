//! `cutaway cat`, `extract` and `why` as people use them: bytes, links, hostile names, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::Value;

use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::{Packing, gzip};
use crate::fixtures::sparse::Sparse;
use crate::fixtures::tarball::{
    Member, character_device, dir, fifo, file, hardlink, member, symlink as link, tar, whiteout,
};
use crate::registry::bench;
use crate::schema;
use crate::support::{Outcome, Place};

/// The program's bytes, which need not be text.
fn bytes(place: &Place, arguments: &[&str]) -> Vec<u8> {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cutaway"));
    place.settle(&mut command);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn image(packing: Packing) -> Image {
    let sparse = Sparse::regular(30, 4096);
    let mut image = Image::of(
        packing,
        [
            tar([
                dir("etc"),
                file("etc/name", "lower"),
                file("etc/gone", vec![b'g'; 900]),
                dir("usr"),
                dir("usr/lib"),
                file("usr/lib/libone.so.1", vec![0; 5000]),
                hardlink("usr/lib/libalso.so.1", "usr/lib/libone.so.1"),
                link("usr/lib/libone.so", "libone.so.1"),
                link("lib", "usr/lib"),
                link("absolute", "/etc/name"),
                link("up", "../../../../etc/name"),
                link("nowhere", "none/at/all"),
                link("loop", "loop"),
                sparse.old_gnu("holes/old"),
                sparse.pax_0_0("holes/zero"),
                sparse.pax_0_1("holes/one"),
                sparse.pax_1_0("holes/new"),
                file("setuid", "s").mode(0o4755),
                character_device("dev/null"),
                fifo("pipe"),
                file(b"\xff\\name", "odd"),
                file("empty", ""),
            ]),
            tar([
                file("etc/name", b"upper\n\0\xfe".to_vec()),
                whiteout("etc/gone"),
                hardlink("copy", "usr/lib/libone.so.1"),
                dir("private").mode(0o700),
                file("private/read-only", "p").mode(0o400).pax("SCHILY.xattr.user.one", "1"),
            ]),
        ],
    );
    image.config = serde_json::json!({
        "Entrypoint": ["/private/read-only"], "WorkingDir": "/etc", "Env": ["HOLES=/holes", "PATH=/usr/bin"]
    });
    image
}

fn put(place: &Place, packing: Packing) -> String {
    place.put_layout("image", &Layout::of(&image(packing), "a"))
}

/// What the four forms of a sparse file hold.
fn expanded() -> Vec<u8> {
    let sparse = Sparse::regular(30, 4096);
    let mut all = vec![0; usize::try_from(sparse.size).unwrap()];
    for (at, part) in &sparse.parts {
        let at = usize::try_from(*at).unwrap();
        all[at..at + part.len()].copy_from_slice(part);
    }
    all
}

#[test]
fn cat_prints_the_bytes_that_a_container_sees() {
    for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd] {
        let place = Place::new();
        let image = put(&place, packing);
        for path in ["/etc/name", "etc/name", "/absolute", "/up", "/etc/../etc/./name", "/lib/../../etc/name"]
        {
            assert_eq!(bytes(&place, &["cat", &image, path]), b"upper\n\0\xfe", "{packing:?} {path}");
        }
        for path in ["/lib/libone.so", "/usr/lib/libalso.so.1", "/copy"] {
            assert_eq!(bytes(&place, &["cat", &image, path]), vec![0; 5000], "{packing:?} {path}");
        }
        for path in ["/holes/old", "/holes/zero", "/holes/one", "/holes/new"] {
            assert_eq!(bytes(&place, &["cat", &image, path]), expanded(), "{packing:?} {path}");
        }
        assert_eq!(bytes(&place, &["cat", &image, "/empty"]), b"", "{packing:?}");
        // As reports write it.
        assert_eq!(bytes(&place, &["cat", &image, "/\\xff\\\\name"]), b"odd", "{packing:?}");
    }
}

#[test]
fn cat_reads_a_compressed_archive_and_a_folder() {
    let place = Place::new();
    let layout = Layout::of(&image(Packing::Gzip), "a");
    let archive = place.put("image.tar.gz", gzip(&layout.archive()));
    assert_eq!(bytes(&place, &["cat", &archive, "/etc/name"]), b"upper\n\0\xfe");
    place.put("root/etc/name", "here");
    symlink("/etc/name", place.path("root/link")).unwrap();
    let root = format!("rootfs:{}", place.path("root"));
    assert_eq!(bytes(&place, &["cat", &root, "/link"]), b"here");
}

#[test]
fn errors_name_what_was_found_and_what_is_near() {
    let place = Place::new();
    let image = put(&place, Packing::Gzip);
    let cases = [
        ("/etc/nam", "/etc has no nam", Some("/etc/name")),
        ("/other/libone.so.1", "/ has no other", None),
        ("/libone.so.1", "/ has no libone.so.1", Some("/usr/lib/libone.so.1")),
        ("/etc/name/more", "/etc/name is not a folder", None),
        ("/nowhere", "/nowhere is a symbolic link to none/at/all, and / has no none", None),
        ("/loop", "more than 40 symbolic links, one of them /loop", None),
        ("/etc/gone", "layer 0 has it, and layer 1 removes it", None),
        ("/usr/lib", "a folder with libalso.so.1, libone.so, libone.so.1", None),
        ("/dev/null", "a device, pipe or socket", None),
    ];
    for (path, found, near) in cases {
        let error = place.failure(&["cat", &image, path]);
        assert!(error.contains(path) && error.contains(found), "{path}: {error}");
        assert!(
            near.is_none_or(|near| error.contains("hint: similar: ") && error.contains(near)),
            "{path}: {error}"
        );
    }
    let error = place.failure(&["cat", &image, "/etc/name", "--depth", "manifest"]);
    assert!(error.contains("--depth"), "{error}");
}

/// Every path below a folder: kind, permissions, size or target, and bytes.
fn tree(folder: &Path) -> BTreeMap<Vec<u8>, (char, u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let facts = path.symlink_metadata().unwrap();
            let (kind, content) = if facts.is_dir() {
                open.push(path.clone());
                ('d', Vec::new())
            } else if facts.is_symlink() {
                ('l', fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
            } else {
                ('f', fs::read(&path).unwrap())
            };
            let mode = if kind == 'l' { 0 } else { facts.permissions().mode() & 0o7777 };
            let name = path.strip_prefix(folder).unwrap().as_os_str().as_bytes().to_vec();
            found.insert(name, (kind, mode, content));
        }
    }
    found
}

fn extract(place: &Place, arguments: &[&str]) -> Outcome {
    place.run(&[&["extract"], arguments].concat())
}

#[test]
fn extract_writes_files_links_and_folders_and_no_devices() {
    for packing in [Packing::Plain, Packing::Gzip] {
        let place = Place::new();
        let image = put(&place, packing);
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out").display().to_string();
        let outcome = extract(&place, &[&image, "/", "-o", &out]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        for left in ["/dev/null", "/pipe"] {
            assert!(
                outcome.stderr.contains(&format!("not extracted: {left}: a device")),
                "{}",
                outcome.stderr
            );
        }
        let tree = tree(Path::new(&out));
        assert_eq!(tree[&b"etc/name"[..]], ('f', 0o644, b"upper\n\0\xfe".to_vec()));
        assert_eq!(tree[&b"private"[..]].1, 0o700);
        assert_eq!(tree[&b"private/read-only"[..]], ('f', 0o400, b"p".to_vec()));
        assert_eq!(tree[&b"setuid"[..]].1, 0o755, "no set-user-ID unless asked");
        assert_eq!(tree[&b"absolute"[..]], ('l', 0, b"/etc/name".to_vec()));
        assert_eq!(tree[&b"up"[..]], ('l', 0, b"../../../../etc/name".to_vec()));
        assert_eq!(tree[&b"holes/new"[..]].2, expanded());
        assert_eq!(tree[&b"\xff\\name"[..]].2, b"odd");
        assert!(!tree.contains_key(&b"etc/gone"[..]) && !tree.contains_key(&b"pipe"[..]));
        assert!(!tree.keys().any(|name| name.windows(9).any(|part| part == b".cutaway-")));
        let inode = |name: &str| fs::metadata(Path::new(&out).join(name)).unwrap().ino();
        assert_eq!(inode("usr/lib/libone.so.1"), inode("copy"));
        assert_eq!(inode("usr/lib/libone.so.1"), inode("usr/lib/libalso.so.1"));
        // A second time nothing is replaced, and it is said.
        fs::write(Path::new(&out).join("etc/name"), "mine").unwrap();
        let again = extract(&place, &[&image, "/etc", "-o", &out]);
        assert_eq!(again.code, 2);
        assert!(
            again.stderr.contains("/etc/name: exists") && again.stderr.contains("--force"),
            "{}",
            again.stderr
        );
        assert_eq!(fs::read(Path::new(&out).join("etc/name")).unwrap(), b"mine");
        let forced = extract(&place, &[&image, "/etc", "/setuid", "-o", &out, "--force", "--keep-setuid"]);
        assert_eq!(forced.code, 0, "{}", forced.stderr);
        assert_eq!(fs::read(Path::new(&out).join("etc/name")).unwrap(), b"upper\n\0\xfe");
        assert_eq!(
            fs::metadata(Path::new(&out).join("setuid")).unwrap().permissions().mode() & 0o7777,
            0o4755
        );
    }
}

#[test]
fn globs_and_single_paths_select() {
    let place = Place::new();
    let image = put(&place, Packing::Gzip);
    let names = |arguments: &[&str]| -> Vec<String> {
        let out = tempfile::tempdir().unwrap();
        let to = out.path().join("new").display().to_string();
        let outcome = extract(&place, &[&[&*image], arguments, &["-o", &to]].concat());
        assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.stderr);
        let tree = tree(Path::new(&to));
        tree.iter()
            .filter(|(_, (kind, ..))| *kind != 'd')
            .map(|(name, _)| String::from_utf8_lossy(name).into_owned())
            .collect()
    };
    assert_eq!(names(&["/usr/lib/*.so"]), ["usr/lib/libone.so"]);
    assert_eq!(names(&["/**/lib*.so.1"]), ["usr/lib/libalso.so.1", "usr/lib/libone.so.1"]);
    assert_eq!(names(&["etc", "copy"]), ["copy", "etc/name"]);
    // The folder is reached through a link of the image; the link at the end stays one.
    assert_eq!(names(&["/lib/libone.so"]), ["usr/lib/libone.so"]);
    let error = place.failure(&["extract", &image, "/usr/*.so", "-o", &place.path("none")]);
    assert!(error.contains("no path matches"), "{error}");
    assert!(!Path::new(&place.path("none")).exists());
    let error = place.failure(&["extract", &image, "/etc", "-o", "-"]);
    assert!(error.contains("--tar"), "{error}");
}

/// Names and links that lead out, where they can, and what was in the destination before.
#[test]
fn nothing_is_written_outside_the_destination() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let outside = at("outside");
    fs::create_dir_all(&outside).unwrap();
    let hostile = Image::of(
        Packing::Gzip,
        [
            tar([
                file("../escaped", "1"),
                file("/rooted", "2"),
                file("a/../../b", "3"),
                link("door", &outside),
                file("door/inside", "4"),
                link("etc", "/etc"),
                file("etc/passwd", "5"),
                hardlink("shadow", "../../../../../../etc/shadow"),
                file("taken/x", "6"),
            ]),
            tar([link("late", "../outside"), file("late/file", "7")]),
        ],
    );
    let image = place.put_layout("image", &Layout::of(&hostile, "a"));
    let out = at("out");
    // Somebody put a link where a folder of the image belongs.
    fs::create_dir_all(&out).unwrap();
    symlink(&outside, Path::new(&out).join("taken")).unwrap();
    let outcome = extract(&place, &[&image, "/", "-o", &out, "--force"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("taken in the destination is a symbolic link"), "{}", outcome.stderr);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{outcome:?}");
    assert!(!Path::new(&at("escaped")).exists() && !Path::new(&at("b")).exists());
    for (name, (kind, _, content)) in tree(Path::new(&out)) {
        assert!(kind != 'f' || content.len() == 1, "{}", String::from_utf8_lossy(&name));
    }
    // The same in an archive: no name leaves the folder that it is unpacked in.
    let archive = bytes(&place, &["extract", &image, "/", "-o", "-", "--tar"]);
    for entry in tar::Archive::new(Cursor::new(archive)).entries().unwrap() {
        let entry = entry.unwrap();
        let path = entry.path_bytes().into_owned();
        assert!(
            !path.starts_with(b"/") && !path.split(|byte| *byte == b'/').any(|part| part == b".."),
            "{path:?}"
        );
    }
}

#[test]
fn a_tar_keeps_the_headers_of_the_image() {
    let place = Place::new();
    let image = put(&place, Packing::Gzip);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.tar").display().to_string();
    let outcome = extract(&place, &[&image, "/", "-o", &out]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let mut names = BTreeMap::new();
    // The reader of this test does not know all forms of sparse files.
    let paths = ["/etc", "/usr", "/copy", "/private", "/dev", "/pipe"];
    let some = bytes(&place, &[&["extract", &*image], &paths[..], &["--tar", "-o", "-"]].concat());
    let mut archive = tar::Archive::new(Cursor::new(some));
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let pax: Vec<(String, Vec<u8>)> = entry
            .pax_extensions()
            .unwrap()
            .into_iter()
            .flatten()
            .map(|record| record.unwrap())
            .map(|record| (record.key().unwrap().to_owned(), record.value_bytes().to_vec()))
            .collect();
        let kind = entry.header().entry_type();
        let linked = entry.link_name_bytes().map(std::borrow::Cow::into_owned);
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        names.insert(name, (kind, linked, content, pax));
    }
    assert_eq!(names["etc/name"].2, b"upper\n\0\xfe");
    assert_eq!(names["private/read-only"].3, [("SCHILY.xattr.user.one".to_owned(), b"1".to_vec())]);
    assert!(names["copy"].0.is_hard_link() && names["copy"].1.as_deref() == Some(b"usr/lib/libone.so.1"));
    assert!(names["dev/null"].0.is_character_special() && names["pipe"].0.is_fifo());
    assert!(!names.contains_key("etc/gone"));
    let again = Image::of(Packing::Gzip, [fs::read(&out).unwrap()]);
    let again = place.put_layout("again", &Layout::of(&again, "a"));
    for path in ["/holes/old", "/holes/zero", "/holes/one", "/holes/new"] {
        assert_eq!(bytes(&place, &["cat", &again, path]), expanded(), "{path}");
    }
    // A link whose file is not there becomes the file.
    let part = bytes(&place, &["extract", &image, "/copy", "-o", "-", "--tar"]);
    let mut archive = tar::Archive::new(Cursor::new(part));
    let mut entries = archive.entries().unwrap();
    let mut entry = entries.next().unwrap().unwrap();
    assert!(entry.header().entry_type().is_file() && &*entry.path_bytes() == b"copy");
    let mut content = Vec::new();
    entry.read_to_end(&mut content).unwrap();
    assert_eq!(content, vec![0; 5000]);
    assert!(entries.next().is_none());
    // An archive that exists stays.
    let error = place.failure(&["extract", &image, "/etc", "-o", &out]);
    assert!(error.contains("exists") && error.contains("--force"), "{error}");
}

#[test]
fn a_map_of_holes_that_lies_is_an_error() {
    let lies = [
        ("beyond its end", "0,512,4000,9999"),
        ("longer than its map", "0,100"),
        ("shorter than its map", "0,512,1024,1024"),
    ];
    for (what, map) in lies {
        let place = Place::new();
        let sparse = file("holes", vec![b'a'; 512]).pax("GNU.sparse.size", "4096").pax("GNU.sparse.map", map);
        let image = place.put_layout("image", &Layout::of(&Image::of(Packing::Gzip, [tar([sparse])]), "a"));
        let outcome = place.run(&["cat", &image, "/holes"]);
        let error = outcome.stderr;
        assert!(outcome.code == 2 && error.contains("holes: ") && error.contains(what), "{what}: {error}");
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().display().to_string();
        assert_eq!(extract(&place, &[&image, "/holes", "-o", &to]).code, 2);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "whole or not at all");
    }
}

fn why(place: &Place, image: &str, path: &str) -> Value {
    let outcome = place.run(&["why", image, path, "--format", "json"]);
    assert_eq!(outcome.code, 0, "{path}: {}", outcome.stderr);
    let document = serde_json::from_str(&outcome.stdout).unwrap();
    schema::fits("why", &document);
    document
}

#[test]
fn why_names_layer_versions_settings_and_what_hides() {
    let place = Place::new();
    let image = put(&place, Packing::Gzip);
    let name = why(&place, &image, "/etc/name");
    assert_eq!(name["layer"]["layer"], 1);
    assert_eq!(name["layer"]["instruction"], "RUN step 1");
    let versions = name["versions"].as_array().unwrap();
    assert_eq!((&versions[0]["hidden_by"], &versions[0]["replaced"]), (&1.into(), &true.into()));
    assert_eq!(versions[1]["hidden_by"], Value::Null);
    let gone = why(&place, &image, "/etc/gone");
    assert_eq!((&gone["visible"], &gone["layer"]["layer"]), (&false.into(), &0.into()));
    assert_eq!((&gone["without"]["merged_bytes"], &gone["without"]["layer_bytes"]), (&0.into(), &900.into()));
    let started = why(&place, &image, "/private/read-only");
    assert_eq!(started["settings"], serde_json::json!(["ENTRYPOINT"]));
    assert_eq!(started["without"]["effect"], "breaks");
    assert_eq!(why(&place, &image, "/private")["without"]["effect"], "breaks");
    assert_eq!(why(&place, &image, "/holes")["settings"], serde_json::json!(["ENV HOLES"]));
    let linked = why(&place, &image, "/copy");
    assert_eq!(linked["other_names"].as_array().unwrap().len(), 2);
    assert_eq!((&linked["layer"]["layer"], &linked["without"]["merged_bytes"]), (&0.into(), &0.into()));
    let link = why(&place, &image, "/lib/libone.so");
    assert_eq!((&link["kind"], &link["link_target"]), (&"symlink".into(), &"/usr/lib/libone.so.1".into()));
    let folder = why(&place, &image, "/usr");
    assert_eq!(folder["folder"]["layers"][0]["files"], 1, "each inode once");
    let none = place.failure(&["why", &image, "/never"]);
    assert!(none.contains("no /never in the image"), "{none}");
}

#[test]
fn why_names_those_who_load_a_library_by_a_link() {
    let place = Place::new();
    let lib = "usr/lib/x86_64-linux-gnu";
    let members = [
        file("usr/bin/app", Elf::program("app").needing(&["libpq.so.5"]).build()).mode(0o755),
        file(format!("{lib}/libpq.so.5.15"), Elf::library("libpq.so.5").build()),
        link(format!("{lib}/libpq.so.5"), "libpq.so.5.15"),
        link(format!("{lib}/libpq.so"), "libpq.so.5"),
    ];
    let mut image = Image::of(Packing::Gzip, [tar(members)]);
    image.config = serde_json::json!({"Cmd": ["/usr/bin/app"]});
    let image = format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t")));
    let found = why(&place, &image, &format!("/{lib}/libpq.so.5"));
    assert_eq!(found["without"]["effect"], "breaks", "{found}");
    let says = found["without"]["statements"][0].as_str().unwrap();
    assert_eq!(says, format!("/usr/bin/app loads /{lib}/libpq.so.5.15 by this name."));
    // Nobody loads it by the name for linkers.
    let found = why(&place, &image, &format!("/{lib}/libpq.so"));
    assert_eq!(found["without"]["effect"], "unknown", "{found}");
    let says = found["without"]["statements"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert_eq!(says, format!("It leads to /{lib}/libpq.so.5.15: who opens that by this name is not known."));
}

#[test]
fn why_knows_owner_loader_and_finding_of_the_sample() {
    let place = Place::new();
    let report = place.report("sample:devel").json;
    let libraries = report["cuda"]["libraries"].as_array().unwrap();
    let loaded = libraries.iter().find(|one| one["chain"].as_array().unwrap().len() > 2).unwrap();
    let path = loaded["path"].as_str().unwrap();
    let document = why(&place, "sample:devel", path);
    let chain: Vec<&Value> =
        document["loading"]["chain"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert_eq!(chain, loaded["chain"].as_array().unwrap().iter().collect::<Vec<_>>());
    assert_eq!(document["without"]["effect"], "breaks");
    if !loaded["package"].is_null() {
        assert_eq!(document["package"]["name"], loaded["package"]["name"]);
    }
    // Every finding with files is named by each of its files.
    for finding in report["findings"]["list"].as_array().unwrap_or(&Vec::new()).iter().take(6) {
        let Some(path) = finding["paths"].get(0).and_then(Value::as_str) else { continue };
        let document = why(&place, "sample:devel", path);
        let ids: Vec<&str> =
            document["findings"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
        assert!(ids.contains(&finding["id"].as_str().unwrap()), "{path}: {ids:?}");
    }
    let text = place.run(&["why", "sample:devel", "/usr/local/cuda/bin/nvcc"]).stdout;
    for part in ["Brought by", "Package", "compilers:safe", "Removable", "Without nvcc: removable"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A header that claims a body where there is none must not shift what follows.
#[test]
fn a_link_that_claims_bytes_does_not_shift_the_archive() {
    let place = Place::new();
    let lying = member(b'2', "link").claiming(4096);
    let lying = Member { link: b"target".to_vec(), ..lying };
    let image = Image::of(Packing::Gzip, [tar([lying, file("after", "intact")])]);
    let image = place.put_layout("image", &Layout::of(&image, "a"));
    let archive = bytes(&place, &["extract", &image, "/", "-o", "-", "--tar"]);
    let mut found = Vec::new();
    for entry in tar::Archive::new(Cursor::new(archive)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = String::new();
        entry.read_to_string(&mut content).unwrap();
        found.push((String::from_utf8_lossy(&entry.path_bytes()).into_owned(), content));
    }
    assert_eq!(found, [("link".to_owned(), String::new()), ("after".to_owned(), "intact".to_owned())]);
}

/// Layers at a registry: whole ones are read again, those with a table of contents by range.
#[test]
fn files_of_a_registry_image_are_read() {
    if !bench::ready() {
        return;
    }
    let bench = bench::Bench::new();
    for packing in [Packing::Gzip, Packing::Estargz] {
        let image = bench::image(packing);
        bench.server.push(&Layout::of(&image, "1"), "1", "team/files:1");
        let reference = format!("docker://{}/team/files:1", bench.host());
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out").display().to_string();
        let outcome = bench.run(&[], &["extract", &reference, "/opt", "-o", &out]);
        assert_eq!(outcome.code, 0, "{packing:?}: {}", outcome.stderr);
        let files = tree(Path::new(&out));
        assert_eq!(files[&b"opt/three"[..]].2, bench::noise("three", 100_000), "{packing:?}");
        assert_eq!(files[&b"opt/one"[..]].2, bench::noise("one again", 3_000), "{packing:?}");
        assert_eq!(files[&b"opt/link"[..]], ('l', 0, b"two".to_vec()), "{packing:?}");
        assert!(!files.contains_key(&b"opt/old"[..]));
        let archive = folder.path().join("opt.tar").display().to_string();
        let outcome = bench.run(&[], &["extract", &reference, "/opt/two", "-o", &archive]);
        assert_eq!(outcome.code, 0, "{packing:?}: {}", outcome.stderr);
        let again = Image::of(Packing::Plain, [fs::read(&archive).unwrap()]);
        let again = bench.place.put_layout("again", &Layout::of(&again, "a"));
        assert_eq!(bytes(&bench.place, &["cat", &again, "/opt/two"]), bench::noise("two", 200_000));
    }
}
