//! Packages of dpkg, pip and conda: version, bytes, files, and the layer that brought them.

use serde_json::Value;

use super::{image, items, library, only_warns_of, report_of, report_of_members};
use crate::fixtures::elf::Elf;
use crate::fixtures::packages::dpkg_status;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{Deb, SITE, conda, debs, dpkg_database, dpkg_files, wheel};
use crate::fixtures::tarball::{Member, dir, file, hardlink, symlink, whiteout};
use crate::support::Report;

/// A package in one line: manager, name, version, bytes, files, layer.
fn line(package: &Value) -> String {
    let text = |field: &str| match &package[field] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    ["manager", "name", "version", "bytes", "files", "layer"].map(text).join(" ")
}

pub(super) fn lines(report: &Report) -> Vec<String> {
    items(&report.json["packages"]).iter().map(line).collect()
}

fn body(bytes: usize) -> Vec<u8> {
    vec![b'x'; bytes]
}

#[test]
fn a_package_of_dpkg_has_the_files_of_its_list() {
    let tool: Deb<'_> =
        ("tool", "1:2.0-3ubuntu1", &[("usr/bin/tool", body(700)), ("usr/share/tool/data", body(30))]);
    let held: Deb<'_> = ("held", "4.5", &[("usr/lib/held", body(5))]);
    let mut members = debs(&[tool, held]);
    let removed = dpkg_status("removed", "0.9", 1, &[]);
    let removed =
        String::from_utf8(removed).unwrap().replace("install ok installed", "deinstall ok config-files");
    let status = [dpkg_status("tool", "1:2.0-3ubuntu1", 1, &[]), dpkg_status("held", "4.5", 1, &[])].concat();
    let status = String::from_utf8(status).unwrap().replacen("install ok installed", "hold ok installed", 2);
    let status = status.replacen("hold ok installed", "install ok installed", 1);
    assert!(status.contains("hold ok installed"));
    members.push(file("var/lib/dpkg/status", status + &removed));
    // A list may name folders, links and what is not there any more.
    let list = "/.\n/usr\n/usr/bin\n/usr/bin/tool\n/usr/share/tool/data\n/usr/bin/second\n/usr/bin/link\n\
                /usr/share/doc/gone\n";
    members.push(file("var/lib/dpkg/info/tool.list", list));
    members.push(hardlink("usr/bin/second", "usr/bin/tool"));
    members.push(symlink("usr/bin/link", "tool"));
    members.push(dir("var/lib/dpkg/updates"));
    members.push(file("var/lib/dpkg/info/removed.list", "/etc/removed.conf\n"));
    let report = report_of_members(members);
    only_warns_of(&report, &[]);
    assert_eq!(lines(&report), ["dpkg held 4.5 5 1 0", "dpkg tool 1:2.0-3ubuntu1 730 3 0"]);
}

#[test]
fn a_diverted_file_belongs_to_the_package_that_lists_its_path() {
    let wrapper: Deb<'_> = ("wrapper", "1.0", &[("usr/bin/tool", body(30))]);
    let tool: Deb<'_> = ("tool", "1.0", &[("usr/bin/tool", body(700))]);
    let mut members: Vec<Member> = debs(&[wrapper, tool]);
    members.retain(|member| member.name != b"usr/bin/tool");
    members.push(file("usr/bin/tool", body(30)));
    members.push(file("usr/bin/tool.real", body(700)));
    let lines_with = |diversions: &str| {
        let diversions = file("var/lib/dpkg/diversions", diversions);
        lines(&report_of_members(members.iter().cloned().chain([diversions]).collect()))
    };
    let moved = ["dpkg tool 1.0 700 1 0", "dpkg wrapper 1.0 30 1 0"];
    assert_eq!(lines_with("/usr/bin/tool\n/usr/bin/tool.real\nwrapper\n"), moved);
    // A diversion for a file that is not there yet.
    let listed = lines_with("/usr/bin/tool\n/usr/bin/tool.other\nwrapper\n");
    assert!(listed.contains(&"dpkg tool 1.0 30 1 0".to_owned()), "{listed:?}");
}

#[test]
fn a_package_belongs_to_the_layer_that_brought_it() {
    let first: Deb<'_> = ("first", "1.0", &[("usr/bin/first", body(10))]);
    let second: Deb<'_> = ("second", "1.0", &[("usr/bin/second", body(20))]);
    let newer: Deb<'_> = ("second", "2.0", &[("usr/bin/second", body(25))]);
    let third: Deb<'_> = ("third", "1.0", &[("usr/bin/third", body(30))]);
    let add = |all: &[Deb<'_>], new: &Deb<'_>| {
        let mut members: Vec<Member> = new.2.iter().map(|(path, bytes)| file(*path, bytes.clone())).collect();
        members.extend([dpkg_database(all), dpkg_files(new)]);
        members
    };
    let layers = [
        debs(&[first]),
        add(&[first, second], &second),
        vec![file("app/x", "x")],
        add(&[first, newer], &newer),
        // `apt-mark hold` and the like write the whole database again.
        vec![dpkg_database(&[first, newer])],
        add(&[first, newer, third], &third),
    ];
    for packing in [Packing::Gzip, Packing::Plain] {
        let report = report_of(&image(packing, &layers));
        let expected = ["dpkg first 1.0 10 1 0", "dpkg second 2.0 25 1 3", "dpkg third 1.0 30 1 5"];
        assert_eq!(lines(&report), expected);
    }
}

#[test]
fn distroless_images_have_a_file_for_each_package() {
    let stanza = |name: &str, version: &str| {
        let text = String::from_utf8(dpkg_status(name, version, 1, &[])).unwrap();
        // They have no line of status.
        text.replace("Status: install ok installed\n", "")
    };
    let report = report_of_members(vec![
        file("var/lib/dpkg/status.d/libc6", stanza("libc6", "2.36-9")),
        file("var/lib/dpkg/status.d/libc6.md5sums", "0123456789abcdef0123456789abcdef  usr/lib/libc.so.6\n"),
        file("var/lib/dpkg/status.d/tzdata", stanza("tzdata", "2025b-0")),
        file("usr/lib/libc.so.6", body(44)),
    ]);
    only_warns_of(&report, &[]);
    assert_eq!(lines(&report), ["dpkg libc6 2.36-9 44 1 0", "dpkg tzdata 2025b-0 null null 0"]);
}

#[test]
fn python_packages_own_what_their_record_says() {
    let mut members = wheel(SITE, "nvidia-cublas", "13.1.0.3", &[("nvidia/cu13/lib/libx.txt", body(400))]);
    let cost: u64 = members.iter().map(|member| member.body.len() as u64).sum();
    let (count, cost_second) = (members.len(), {
        let second = wheel("usr/lib/python3/dist-packages", "six", "1.16.0", &[("six.py", body(77))]);
        let bytes: u64 = second.iter().map(|member| member.body.len() as u64).sum();
        members.extend(second);
        bytes
    });
    // The same package in another environment is another one.
    members.extend(wheel("opt/other/site-packages", "six", "1.16.0", &[("six.py", body(1))]));
    let report = report_of_members(members);
    only_warns_of(&report, &[]);
    let found = lines(&report);
    assert_eq!(found[0], format!("pip nvidia-cublas 13.1.0.3 {cost} {count} 0"));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.contains(&format!("pip six 1.16.0 {cost_second} 3 0")), "{found:?}");
}

#[test]
fn the_distributions_package_owns_a_file_before_python_does() {
    let library = Elf::library("libcudart.so.12").build();
    let path = "usr/lib/python3/dist-packages/x/libcudart.so.12";
    let mut members = debs(&[("python3-x", "1.0", &[(path, library.clone())])]);
    members.extend(wheel("usr/lib/python3/dist-packages", "x", "1.0", &[("x/libcudart.so.12", library)]));
    let report = report_of_members(members);
    assert_eq!(super::library(&report, &format!("/{path}"))["package"]["manager"], "dpkg");
}

#[test]
fn an_upgraded_package_is_the_new_one_and_a_chown_brings_nothing() {
    let old = wheel(SITE, "six", "1.15.0", &[("six.py", body(50))]);
    let new = wheel(SITE, "six", "1.16.0", &[("six.py", body(60))]);
    let kept = wheel(SITE, "torch", "2.10.0", &[("torch/__init__.py", body(70))]);
    let mut upgrade = new.clone();
    upgrade
        .extend(["METADATA", "RECORD"].map(|name| whiteout(&format!("{SITE}/six-1.15.0.dist-info/{name}"))));
    let chown: Vec<Member> =
        new.iter().chain(&kept).map(|member| member.clone().owned_by(1000, 1000)).collect();
    let layers = [old.into_iter().chain(kept).collect(), upgrade, chown];
    let report = report_of(&image(Packing::Gzip, &layers));
    let found: Vec<(&str, &str, u64)> = items(&report.json["packages"])
        .iter()
        .map(|package| {
            let text = |field: &str| package[field].as_str().unwrap();
            (text("name"), text("version"), package["layer"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(found, [("six", "1.16.0", 1), ("torch", "2.10.0", 0)]);
}

#[test]
fn lists_may_name_files_through_links() {
    let status = [dpkg_status("libx", "1.0", 1, &[]), dpkg_status("liby", "1.0", 1, &[])].concat();
    let report = report_of_members(vec![
        file("var/lib/dpkg/status", status),
        // Two architectures of a package have a list each.
        file("var/lib/dpkg/info/libx:amd64.list", "/.\n/lib\n/lib/a/libx.so.1\n"),
        file("var/lib/dpkg/info/libx:i386.list", "/.\n/lib/b/libx.so.1\n"),
        file("var/lib/dpkg/info/liby.list", "/lib/a/libx.so.1\n/lib/b\n"),
        symlink("lib", "usr/lib"),
        file("usr/lib/a/libx.so.1", body(8)),
        file("usr/lib/b/libx.so.1", body(16)),
    ]);
    only_warns_of(&report, &[]);
    assert_eq!(lines(&report), ["dpkg libx 1.0 24 2 0", "dpkg liby 1.0 8 1 0"]);
}

#[test]
fn conda_packages_lie_in_their_prefix() {
    let mut members = conda(
        "opt/conda",
        "libcublas",
        "12.6.4.1",
        &[("lib/libcublas.so.12.6.4.1", Elf::library("libcublas.so.12").build()), ("lib/data", body(12))],
    );
    let bytes = members[0].body.len() + 12;
    members.push(symlink("opt/conda/lib/libcublas.so.12", "libcublas.so.12.6.4.1"));
    members.extend(conda("opt/conda/envs/serve", "python", "3.12.0", &[("bin/python", body(3))]));
    let report = report_of_members(members);
    only_warns_of(&report, &[]);
    let expected = [format!("conda libcublas 12.6.4.1 {bytes} 2 0"), "conda python 3.12.0 3 1 0".to_owned()];
    assert_eq!(lines(&report), expected);
    let cublas = library(&report, "/opt/conda/lib/libcublas.so.12.6.4.1");
    assert_eq!(cublas["package"]["name"], "libcublas");
    assert_eq!(cublas["supplier"], "conda");
}
