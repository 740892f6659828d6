//! Databases of rpm and apk inside images.

use super::packages::lines;
use super::{image, library, only_warns_of, report_of, report_of_members};
use crate::fixtures::elf::Elf;
use crate::fixtures::packages::apk_installed;
use crate::fixtures::packing::Packing;
use crate::fixtures::rpm::{Package, berkeley, ndb, sqlite};
use crate::fixtures::tarball::{Member, file};

const CUDART: &str = "/usr/local/cuda-12.4/targets/x86_64-linux/lib/libcudart.so.12.4.127";

/// Writes a database of so many packages.
type Writer<'a> = &'a dyn Fn(usize) -> Vec<u8>;

fn headers(names: usize) -> Vec<Vec<u8>> {
    let cudart = Package { vendor: "NVIDIA".into(), ..Package::new("cuda-cudart-12-4", "12.4.127", "1") };
    let mut nccl = Package::new("libnccl", "2.21.5", "1+cuda12.4")
        .with_files(&["/usr/lib64/libnccl.so.2.21.5", "/usr/lib64/gone"]);
    nccl.epoch = Some(3);
    // A header of more than a page.
    let many: Vec<String> = (0..900).map(|number| format!("/usr/share/many/file {number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let all = [cudart.with_files(&[CUDART]), nccl, Package::new("many", "1", "2").with_files(&many)];
    all.iter().take(names).map(Package::header).collect()
}

fn content() -> Vec<Member> {
    vec![
        file(CUDART.trim_start_matches('/'), Elf::library("libcudart.so.12").build()),
        file("usr/lib64/libnccl.so.2.21.5", Elf::library("libnccl.so.2").build()),
        file("usr/share/many/file 3", "three"),
    ]
}

#[test]
fn every_kind_of_rpm_database_is_read_in_both_folders() {
    let sizes: Vec<usize> = content().iter().map(|member| member.body.len()).collect();
    let kinds: [(&str, Writer<'_>); 4] = [
        ("rpmdb.sqlite", &|names| sqlite(&headers(names), true).unwrap()),
        ("Packages", &|names| berkeley(&headers(names), 4096, false)),
        ("Packages", &|names| berkeley(&headers(names), 8192, true)),
        ("Packages.db", &|names| ndb(&headers(names))),
    ];
    for folder in ["var/lib/rpm", "usr/lib/sysimage/rpm"] {
        for (name, database) in kinds {
            let database = |names: usize| file(format!("{folder}/{name}"), database(names));
            let mut first = content();
            first.push(database(1));
            let layers = [first, vec![database(2)], vec![database(3)]];
            let report = report_of(&image(Packing::Gzip, &layers));
            only_warns_of(&report, &[]);
            let expected = [
                format!("rpm cuda-cudart-12-4 12.4.127-1 {} 1 0", sizes[0]),
                format!("rpm libnccl 3:2.21.5-1+cuda12.4 {} 1 1", sizes[1]),
                "rpm many 1-2 5 1 2".to_owned(),
            ];
            assert_eq!(lines(&report), expected, "{folder}/{name}");
            let cudart = library(&report, CUDART);
            assert_eq!(cudart["package"]["name"], "cuda-cudart-12-4", "{folder}/{name}");
            assert_eq!((&cudart["supplier"], &cudart["cuda_major"]), (&"toolkit".into(), &12.into()));
        }
    }
}

#[test]
fn a_database_that_two_paths_lead_to_counts_once() {
    let mut members = content();
    members.push(file("usr/lib/sysimage/rpm/rpmdb.sqlite", sqlite(&headers(2), false).unwrap()));
    members.push(crate::fixtures::tarball::symlink("var/lib/rpm", "../../usr/lib/sysimage/rpm"));
    let report = report_of_members(members);
    assert_eq!(lines(&report).len(), 2);
}

#[test]
fn changes_beside_a_database_are_told() {
    let mut members = content();
    members.push(file("var/lib/rpm/rpmdb.sqlite", sqlite(&headers(2), true).unwrap()));
    members.push(file("var/lib/rpm/rpmdb.sqlite-wal", ""));
    only_warns_of(&report_of_members(members.clone()), &[]);
    members.push(file("var/lib/rpm/rpmdb.sqlite-wal", vec![1; 4_096]));
    let report = report_of_members(members);
    assert_eq!(report.warnings("packages-malformed")[0]["subject"], "/var/lib/rpm/rpmdb.sqlite-wal");
    assert_eq!(lines(&report).len(), 2);
}

#[test]
fn packages_of_apk_have_their_files() {
    let installed = [
        apk_installed("musl", "1.2.5-r9", 600, "", &["/lib/ld-musl-x86_64.so.1"]),
        apk_installed(
            "opencl-icd-loader",
            "2024.10-r0",
            700,
            "so:libc.musl-x86_64.so.1",
            &["/usr/lib/libOpenCL.so.1.0.0", "/usr/share/gone"],
        ),
    ];
    let loader = Elf::library("libOpenCL.so.1").build();
    let bytes = loader.len();
    let base =
        vec![file("lib/apk/db/installed", installed[0].clone()), file("lib/ld-musl-x86_64.so.1", "loader")];
    let added =
        vec![file("lib/apk/db/installed", installed.concat()), file("usr/lib/libOpenCL.so.1.0.0", loader)];
    let report = report_of(&image(Packing::Gzip, &[base, added]));
    only_warns_of(&report, &[]);
    let expected =
        ["apk musl 1.2.5-r9 6 1 0".to_owned(), format!("apk opencl-icd-loader 2024.10-r0 {bytes} 1 1")];
    assert_eq!(lines(&report), expected);
    let opencl = library(&report, "/usr/lib/libOpenCL.so.1.0.0");
    assert_eq!((&opencl["supplier"], &opencl["package"]["manager"]), (&"distro".into(), &"apk".into()));
}
