//! The papers of single packages and the databases of dpkg and apk, written by the fixtures and read back.

use cutaway::formats::packages::{Package, Read, apk, conda, dpkg, pip};
use cutaway::fuzzing::{packages_python, packages_system};

use crate::fixtures::packages as fixtures;

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
fn a_status_of_dpkg_gives_its_packages() {
    let more = [
        ("Source", "gcc-12 (12.2.0-14)"),
        ("pre-depends", "libc6 (>= 2.34)"),
        ("Depends", "libc6 (>= 2.35), python3:any, a | b (= 1), libx [amd64],\n folded-one,, a"),
        ("Homepage", "https://example.org/"),
        ("Recommends", "c (>= 1) | d, e"),
        ("Suggests", "f"),
        ("Provides", "g (= 2), h"),
        ("Protected", "yes"),
        ("Conffiles", "\n /etc/x 0123\n /etc/y 4567"),
    ];
    let package = only(dpkg::read_status(&fixtures::dpkg_status("libstdc++6", "12.2.0-14", 2500, &more)));
    let expected = Package {
        name: "libstdc++6".into(),
        version: "12.2.0-14".into(),
        architecture: Some("amd64".into()),
        source: Some("gcc-12".into()),
        maker: Some("Some Body <some@example.org>".into()),
        depends: ["libc6", "python3", "a", "b", "libx", "folded-one"].map(str::to_owned).to_vec(),
        recommends: ["c", "d", "e"].map(str::to_owned).to_vec(),
        suggests: ["f"].map(str::to_owned).to_vec(),
        provides: ["g", "h"].map(str::to_owned).to_vec(),
        essential: true,
        installed: true,
        ..Package::default()
    };
    assert_eq!(package, expected);
}

#[test]
fn lists_of_files_give_absolute_paths() {
    let list = fixtures::dpkg_list(&["/usr/lib/a", "/usr/lib/b c"]);
    assert_eq!(list, b"/.\n/usr\n/usr/lib\n/usr/lib/a\n/usr/lib/b c\n");
    assert_eq!(
        dpkg::list_paths(&list).map(<[u8]>::to_vec).collect::<Vec<_>>(),
        paths(&["/usr", "/usr/lib", "/usr/lib/a", "/usr/lib/b c"])
    );
    let sum = "0123456789abcdef0123456789ABCDEF";
    let sums = format!("{sum}  usr/a\n{sum} *./usr/b\n{sum} x\n{sum}  \nshort  x\n{}  y\n\n", "é".repeat(16));
    assert_eq!(dpkg::read_md5sums(sums.as_bytes()), paths(&["/usr/a", "/usr/b"]));
    for (file, expected) in [
        ("libc6:amd64.list", Some("libc6")),
        ("base-files.list", Some("base-files")),
        ("base-files.md5sums", None),
        (".list", None),
        (":amd64.list", None),
        ("", None),
    ] {
        assert_eq!(dpkg::list_name(file.as_bytes()), expected.map(str::as_bytes), "{file}");
    }
}

#[test]
fn the_database_of_apk_gives_packages_and_files() {
    let depends = "so:libc.musl-x86_64.so.1 busybox>=1.36 !conflict pkg=~1 /bin/sh musl~1.2 busybox";
    let mut text = fixtures::apk_installed(
        "musl-utils",
        "1.2.5-r0",
        12_345,
        depends,
        &["/top", "/usr/bin/ldd", "/usr/bin/iconv", "/lib/x"],
    );
    text.extend(fixtures::apk_installed("b", "1-r0", 1, "", &[]));
    let read = apk::read_installed(&text);
    assert_eq!(read.problems, []);
    let expected = Package {
        name: "musl-utils".into(),
        version: "1.2.5-r0".into(),
        architecture: Some("x86_64".into()),
        source: Some("musl-utils-origin".into()),
        maker: Some("Some Body <some@example.org>".into()),
        depends: ["so:libc.musl-x86_64.so.1", "busybox", "pkg", "/bin/sh", "musl"]
            .map(str::to_owned)
            .to_vec(),
        recommends: Vec::new(),
        suggests: Vec::new(),
        provides: Vec::new(),
        essential: false,
        installed: true,
        files: Some(paths(&["/top", "/usr/bin", "/usr/bin/ldd", "/usr/bin/iconv", "/lib", "/lib/x"])),
    };
    assert_eq!(read.packages[0], expected);
    assert_eq!((read.packages[1].name.as_str(), &read.packages[1].files), ("b", &Some(Vec::new())));
    let damaged = apk::read_installed(b"V:1\n\nnonsense\nP:a\nI:-1");
    assert_eq!(damaged.problems.iter().map(|problem| problem.at).collect::<Vec<_>>(), [0, 5]);
    assert_eq!(damaged.packages[0].name, "a");
}

#[test]
fn the_head_of_metadata_is_read() {
    let requires = ["nvidia-cublas-cu12==12.8.4.1; platform_system == \"Linux\"", "sympy>=1.13.3"];
    let package = only(pip::read_metadata(&fixtures::pip_metadata("torch", "2.9.1+cu128", &requires)));
    let expected = Package {
        name: "torch".into(),
        version: "2.9.1+cu128".into(),
        maker: Some("Some Body".into()),
        depends: requires.map(str::to_owned).to_vec(),
        installed: true,
        ..Package::default()
    };
    assert_eq!(package, expected);
    let new =
        b"name: a\r\nVersion: 1\r\nHome-page: UNKNOWN\r\nAuthor: UNKNOWN\r\nAuthor-email: A <a@b>,\r\n B\r\n\
        Project-URL: Docs, https://x\r\nProject-URL: homepage, https://y\r\n\r\nVersion: 2\r\n";
    let package = only(pip::read_metadata(new));
    assert_eq!((package.version.as_str(), package.maker), ("1", None));
    let package = only(pip::read_metadata(b"Name: a\nAuthor-email: A <a@b>,\n  B\n"));
    assert_eq!(package.maker.as_deref(), Some("A <a@b>, B"));
    one_problem(&pip::read_metadata(b"Version: 1\n\nName: body\n"), 0);
    let odd = pip::read_metadata(b"Name: a\nLicense: x\nunfolded\nRequires-Dist: b\n");
    one_problem(&odd, 19);
    assert_eq!(odd.packages[0].depends, ["b"]);
}

#[test]
fn a_long_description_is_not_looked_at() {
    // A body of 100 MB; what is asked of it is its length.
    let mut text = fixtures::pip_metadata("a", "1", &[]);
    let head = text.len();
    text.resize(100 << 20, b'x');
    assert_eq!(only(pip::read_metadata(&text)).name, "a");
    // The same as a head that does not end: read to 1 MiB, and told.
    text.drain(..head);
    text.splice(..0, *b"Name: a\nDescription: ");
    let read = pip::read_metadata(&text);
    assert_eq!(read.packages[0].name, "a");
    one_problem(&read, 1 << 20);
}

#[test]
fn a_record_lists_files() {
    let sum = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";
    let listed = [
        ("nvidia/cublas/lib/libcublas.so.12", sum, 116_388_640),
        ("../../../bin/a, \"b\".py", sum, 0),
        ("torch-2.9.1.dist-info/RECORD", "", 0),
    ];
    let read = |bytes: &[u8]| {
        let mut found = Vec::new();
        let problems = pip::record_paths(bytes, |path| found.push(path.to_vec()));
        (found, problems.iter().map(|problem| problem.at).collect::<Vec<_>>())
    };
    let expected = (paths(&listed.map(|(path, ..)| path)), Vec::new());
    assert_eq!(read(&fixtures::pip_record(&listed)), expected);
    let (found, problems) = read(b"a,md5=x,1\nb\n\n,,\nc,sha256=short,x,more,\n\"open, to\nthe end");
    assert_eq!((found, problems), (paths(&["a", "b", "c", "open, to\nthe end"]), vec![10, 13, 16, 39]));
}

#[test]
fn a_package_of_conda_is_read() {
    let depends = ["__glibc >=2.17,<3.0.a0", "cuda-version >=12.9,<13", "libcxx", "python=3.12", "libcxx"];
    let files = [("lib/libtorch.so", 1000), ("bin/x", 24)];
    let text = fixtures::conda_meta("pytorch", "2.7.1", "cuda129_py312_0", &depends, &files);
    let expected = Package {
        name: "pytorch".into(),
        version: "2.7.1".into(),
        architecture: Some("linux-64".into()),
        maker: Some("https://conda.example.org/conda-forge/linux-64".into()),
        depends: ["__glibc", "cuda-version", "libcxx", "python"].map(str::to_owned).to_vec(),
        installed: true,
        files: Some(paths(&["lib/libtorch.so", "bin/x"])),
        ..Package::default()
    };
    assert_eq!(only(conda::read_meta(&text)), expected);
    let bare =
        only(conda::read_meta(b"{\"name\": \"a\", \"version\": \"1\", \"channel\": null, \"files\": null}"));
    assert_eq!((bare.maker, bare.files), (None, Some(Vec::new())));
    for (text, at) in [
        (&b"{\"name\": \"a\",\n \"version\": 1}"[..], 27),
        (b"{\"name\": \"\", \"version\": \"\"}", 0),
        (b"", 0),
        (b"[1]", 2),
        (b"{\"name\": \"\xff\"}", 11),
    ] {
        let read = conda::read_meta(text);
        assert_eq!(read.packages, []);
        one_problem(&read, at);
    }
}

#[test]
fn every_beginning_of_a_document_is_read() {
    let documents = [
        fixtures::dpkg_status("a", "1", 2, &[("Depends", "b (>= 1) | c,\n d")]),
        fixtures::apk_installed("a", "1", 2, "b c>1", &["/usr/bin/x", "/y"]),
        fixtures::pip_metadata("a", "1", &["b; python_version < \"3.8\""]),
        fixtures::pip_record(&[("a,\"b", "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", 1)]),
        fixtures::conda_meta("a", "1", "0", &["b 1"], &[("x", 1)]),
    ];
    for document in documents {
        for end in 0..document.len() {
            packages_system(&document[..end]);
            packages_python(&document[..end]);
        }
    }
}
