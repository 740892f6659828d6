//! The databases of rpm in all three kinds: written by the fixtures and read back, whole, cut and lying.

use cutaway::formats::packages::rpm::{DatabaseKind, read, read_header, sniff};
use cutaway::formats::packages::{Package, Read};

use crate::fixtures::rpm::{self as fixtures, Tag};

/// Three packages: a small one, one whose header needs several pages, and a key.
fn headers() -> Vec<Vec<u8>> {
    let files: Vec<String> = (0..400).map(|i| format!("/usr/lib64/nccl/part {i}.so")).collect();
    let mut large = fixtures::Package::new("libnccl", "2.21.5", "1+cuda12.4");
    large.epoch = Some(2);
    large.size = 1502;
    large.requires =
        ["rpmlib(FileDigests)", "glibc", "libc.so.6()(64bit)", "glibc"].map(str::to_owned).to_vec();
    large.files = files;
    let small =
        fixtures::Package::new("cuda-cudart-12-4", "12.4.127", "1").with_files(&["/etc/a", "/etc/b/c", "/d"]);
    let key = fixtures::Package::new("gpg-pubkey", "d42d0685", "62589a51");
    vec![small.header(), large.header(), key.header()]
}

fn expect_all(read: &Read) {
    assert_eq!(read.problems, []);
    let [small, large] = read.packages.as_slice() else { panic!("{} packages", read.packages.len()) };
    let expected = Package {
        name: "cuda-cudart-12-4".into(),
        version: "12.4.127-1".into(),
        architecture: Some("x86_64".into()),
        source: Some("cuda-cudart-12-4-12.4.127-1.src.rpm".into()),
        maker: Some("Some Vendor".into()),
        installed: true,
        files: Some([b"/etc/a".to_vec(), b"/etc/b/c".to_vec(), b"/d".to_vec()].to_vec()),
        ..Package::default()
    };
    assert_eq!(*small, expected);
    assert_eq!(large.version, "2:2.21.5-1+cuda12.4");
    assert_eq!(large.depends, ["glibc", "libc.so.6()(64bit)"]);
    let files = large.files.as_ref().unwrap();
    assert_eq!((files.len(), files[399].as_slice()), (400, &b"/usr/lib64/nccl/part 399.so"[..]));
}

/// Every kind of database, with these headers.
fn databases(headers: &[Vec<u8>]) -> Vec<(DatabaseKind, Vec<u8>)> {
    vec![
        (DatabaseKind::Sqlite, fixtures::sqlite(headers, false).unwrap()),
        (DatabaseKind::Sqlite, fixtures::sqlite(headers, true).unwrap()),
        (DatabaseKind::Ndb, fixtures::ndb(headers)),
        (DatabaseKind::BerkeleyHash, fixtures::berkeley(headers, 4096, false)),
        (DatabaseKind::BerkeleyHash, fixtures::berkeley(headers, 512, true)),
        (DatabaseKind::BerkeleyHash, fixtures::berkeley(headers, 32 << 10, false)),
    ]
}

#[test]
fn all_kinds_of_databases_are_read() {
    for (kind, bytes) in databases(&headers()) {
        assert_eq!(sniff(&bytes), Some(kind));
        expect_all(&read(&bytes, kind));
    }
    for (kind, bytes) in databases(&[]) {
        assert_eq!(read(&bytes, kind), Read::default(), "{kind:?}");
    }
    let many: Vec<_> =
        (0..600).map(|i| fixtures::Package::new(&format!("p{i}"), "1", "1").header()).collect();
    for (kind, bytes) in databases(&many) {
        let read = read(&bytes, kind);
        assert_eq!((read.packages.len(), read.problems.len()), (600, 0), "{kind:?}");
    }
    assert_eq!(sniff(b""), None);
    assert_eq!(sniff(b"SQLite format 4\0............."), None);
}

#[test]
fn a_database_that_is_cut_anywhere_is_told() {
    for (kind, bytes) in databases(&headers()) {
        for end in (0..bytes.len()).step_by(97) {
            let read = read(&bytes[..end], kind);
            assert!(!read.problems.is_empty() || kind == DatabaseKind::Sqlite, "{kind:?} cut at {end}");
            assert!(read.packages.len() <= 2);
        }
        for other in [DatabaseKind::Sqlite, DatabaseKind::Ndb, DatabaseKind::BerkeleyHash] {
            if other != kind {
                assert!(!read(&bytes, other).problems.is_empty());
            }
        }
    }
}

fn tags(more: &[(u32, Tag)]) -> Vec<u8> {
    let mut tags = vec![(1000, Tag::Text("a".into())), (1001, Tag::Text("1".into()))];
    tags.extend_from_slice(more);
    fixtures::header(&tags)
}

#[test]
fn tags_are_read_by_their_types() {
    let text = |text: &str| Tag::Text(text.to_owned());
    let one = |more: &[(u32, Tag)]| read_header(&tags(more)).packages.remove(0);
    assert_eq!(one(&[]).version, "1");
    assert_eq!(one(&[(1003, Tag::Numbers(vec![0])), (1002, text("2"))]).version, "1-2");
    assert_eq!(one(&[(1003, text("5")), (1002, Tag::Numbers(vec![2]))]).version, "1");
    assert_eq!(one(&[(1003, Tag::Numbers(Vec::new()))]).version, "1");
    assert_eq!(one(&[(1015, text("me"))]).maker.as_deref(), Some("me"));
    assert_eq!(one(&[(1015, text("me")), (1011, text("they"))]).maker.as_deref(), Some("they"));
    // What rpm appends when it installs replaces what the package said.
    assert_eq!(one(&[(1000, text("b"))]).name, "b");
    let old = one(&[(1027, Tag::Texts(vec!["/a/b".into(), "/c".into()]))]);
    assert_eq!(old.files, Some(vec![b"/a/b".to_vec(), b"/c".to_vec()]));
    assert_eq!(
        read_header(&fixtures::header(&[(1001, text("1"))])).problems[0].what,
        "header without a name"
    );
    let lost = read_header(&tags(&[
        (1117, Tag::Texts(vec!["x".into(), "y".into()])),
        (1118, Tag::Texts(vec!["/".into()])),
        (1116, Tag::Numbers(vec![0, 1])),
    ]));
    assert_eq!(lost.packages[0].files, Some(vec![b"/x".to_vec()]));
    assert_eq!(lost.problems.len(), 1);
}

#[test]
fn headers_that_lie_are_harmless() {
    let header = headers().remove(0);
    for end in 0..header.len() {
        read_header(&header[..end]);
        for value in [0, 1, 0x7f, 0xff] {
            let mut changed = header.clone();
            changed[end] = value;
            read_header(&changed);
        }
    }
    for (at, number) in [(0, u32::MAX), (0, 0), (0, 0x10000), (4, u32::MAX), (4, 0)] {
        let mut changed = header.clone();
        changed[at..at + 4].copy_from_slice(&number.to_be_bytes());
        assert_eq!(read_header(&changed).packages, []);
    }
    // Counts and offsets beyond the store end with it.
    let mut endless = tags(&[(1049, Tag::Texts(vec!["x".into()]))]);
    endless[8 + 2 * 16 + 12..][..4].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(read_header(&endless).packages[0].depends, ["x"]);
    endless[8 + 2 * 16 + 8..][..4].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(read_header(&endless).packages[0].depends, Vec::<String>::new());
}

fn word(bytes: &mut [u8], at: usize, number: u32) {
    bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
}

/// The problems of a Berkeley DB after a change; `large` is the overflow page of the large header.
fn changed_berkeley(change: impl Fn(&mut Vec<u8>, usize)) -> Read {
    let mut bytes = fixtures::berkeley(&headers(), 4096, false);
    change(&mut bytes, 2 * 4096);
    read(&bytes, DatabaseKind::BerkeleyHash)
}

#[test]
fn circles_in_berkeley_db_end() {
    expect_all(&changed_berkeley(|_, _| {}));
    // An overflow page that follows itself, with a length that needs it for ever.
    let circle = changed_berkeley(|bytes, large| {
        word(bytes, large + 16, 2);
        let item =
            bytes.windows(8).position(|eight| eight[..4] == [3, 0, 0, 0] && eight[4..] == [2, 0, 0, 0]);
        word(bytes, item.unwrap() + 8, u32::MAX);
    });
    assert_eq!(circle.problems[0].what, "overlapping headers; the rest is omitted");
    // Pages of a chain that hold nothing, or are of another kind, or do not exist.
    let empty = changed_berkeley(|bytes, large| {
        bytes[large + 22..large + 24].fill(0);
        word(bytes, large + 16, 2);
    });
    let kind = changed_berkeley(|bytes, large| bytes[large + 25] = 2);
    let outside = changed_berkeley(|bytes, large| word(bytes, large + 16, u32::MAX));
    let long = changed_berkeley(|bytes, large| bytes[large + 22..large + 24].fill(0xff));
    for read in [empty, kind, outside, long] {
        assert_eq!(read.packages.len(), 1);
        assert!(read.problems.iter().any(|problem| problem.what == "truncated overflow value"), "{read:?}");
    }
}

#[test]
fn pages_of_berkeley_db_that_lie_are_told() {
    type Change = (usize, &'static [u8], &'static str);
    let changes: [Change; 8] = [
        (12, &[0], "not a Berkeley DB hash"),
        (20, &[0, 0, 1, 1], "invalid page size 16842752"),
        (20, &[0, 1, 0, 0], "invalid page size 256"),
        (24, &[1], "encrypted database"),
        (32, &[0xff; 4], "truncated database"),
        (4096 + 8, &[9], "page with the number of another page"),
        (4096 + 20, &[0xff; 2], "page with overlapping items; the rest of it is omitted"),
        (4096 + 30, &[0xff; 2], "page with overlapping items; the rest of it is omitted"),
    ];
    for (at, patch, expected) in changes {
        let read = changed_berkeley(|bytes, _| bytes[at..at + patch.len()].copy_from_slice(patch));
        assert_eq!(read.problems[0].what, expected);
    }
}

#[test]
fn slots_of_ndb_that_lie_are_told() {
    let good = fixtures::ndb(&headers());
    let first_blob = 4096;
    for (at, number, packages, expected) in [
        (4, 1, 0, "unknown database version 1"),
        (12, u32::MAX, 2, "truncated database"),
        (32 + 16, 7, 1, "damaged slot; the rest is omitted"),
        (32 + 8, u32::MAX, 1, "slot beyond the end of the database"),
        (32 + 12, u32::MAX, 1, "slot beyond the end of the database"),
        (32 + 12, 0, 1, "damaged header"),
        (32 + 4, 9, 1, "damaged header"),
        (first_blob + 12, u32::MAX, 1, "damaged header"),
        (first_blob, 0, 1, "damaged header"),
    ] {
        let mut bytes = good.clone();
        word(&mut bytes, at, number);
        let read = read(&bytes, DatabaseKind::Ndb);
        assert_eq!((read.packages.len(), read.problems[0].what.as_str()), (packages, expected), "{at}");
    }
    // All slots name the large blob.
    let mut bytes = good.clone();
    let slot = bytes[48..64].to_vec();
    for at in (32..4096).step_by(16) {
        bytes[at..at + 16].copy_from_slice(&slot);
    }
    let read = read(&bytes, DatabaseKind::Ndb);
    assert_eq!((read.packages.len(), read.problems.len()), (1, 1));
}

#[test]
fn only_a_plain_table_of_sqlite_is_read() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    for (schema, expected) in [
        ("CREATE TABLE x (blob BLOB)".to_owned(), "no table Packages"),
        (format!("CREATE VIEW Packages AS {endless} SELECT i AS blob FROM n"), "no table Packages"),
        ("CREATE TABLE Packages (hnum INTEGER PRIMARY KEY)".to_owned(), "table Packages without headers"),
        (
            "CREATE TABLE Packages (x, blob AS (zeroblob(1000000000)))".to_owned(),
            "table Packages without headers",
        ),
    ] {
        let bytes = fixtures::sqlite_of(&schema, &[], false).unwrap();
        let read = read(&bytes, DatabaseKind::Sqlite);
        assert_eq!((read.packages.len(), read.problems[0].what.as_str()), (0, expected));
    }
    let schema = "CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob)";
    let bytes =
        fixtures::sqlite_of(&format!("{schema}; INSERT INTO Packages VALUES (9, 'text');"), &headers(), true);
    let read = read(&bytes.unwrap(), DatabaseKind::Sqlite);
    assert_eq!((read.packages.len(), read.problems.len()), (2, 1));
    assert_eq!(read.problems[0].what, "row without a header");
}

#[test]
fn a_tree_of_sqlite_that_repeats_itself_ends() {
    // Many leaf pages below one page; then every child of it is made the same leaf.
    let many: Vec<_> =
        (0..400).map(|i| fixtures::Package::new(&format!("p{i}"), "1", "1").header()).collect();
    let mut bytes = fixtures::sqlite(&many, false).unwrap();
    let page = 4096;
    let root = (1..bytes.len() / page).find(|number| bytes[number * page] == 5).unwrap() * page;
    let cells = usize::from(u16::from_be_bytes([bytes[root + 3], bytes[root + 4]]));
    assert!(cells > 10);
    let place = |bytes: &[u8], cell: usize| {
        let at = root + 12 + 2 * cell;
        root + usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
    };
    let own = u32::try_from(root / page + 1).unwrap().to_be_bytes();
    let first = place(&bytes, 0);
    let leaf: [u8; 4] = bytes[first..first + 4].try_into().unwrap();
    for target in [leaf, own] {
        for cell in 0..cells {
            let at = place(&bytes, cell);
            bytes[at..at + 4].copy_from_slice(&target);
        }
        let read = read(&bytes, DatabaseKind::Sqlite);
        assert!(read.packages.len() < 1000, "{}", read.packages.len());
    }
}
