//! Which copy the loader takes, for whom, and how what is needed is reached.

use serde_json::json;

use super::{configured, executable, items, library, program, report_of, starting, texts};
use crate::fixtures::elf::Elf;
use crate::fixtures::tarball::{Member, file, symlink};
use crate::support::Report;

const CUDART: &str = "libcudart.so.13";
const SERVICE: &str = "/usr/bin/service";

/// A copy of the library in a folder; each is another file.
fn copy(folder: &str) -> Member {
    let elf = Elf { seed: folder.into(), ..Elf::library(CUDART) };
    file(format!("{folder}/{CUDART}"), elf.build())
}

fn picks(report: &Report) -> Vec<(&str, Vec<&str>)> {
    let duplicates = items(&report.json["cuda"]["duplicates"]);
    let picks = duplicates.iter().flat_map(|duplicate| items(&duplicate["resolved_by"]));
    picks.map(|pick| (pick["path"].as_str().unwrap(), texts(&pick["loaded_by"]))).collect()
}

fn unresolved(report: &Report) -> Vec<(&str, &str)> {
    let lines = items(&report.json["cuda"]["unresolved"]).iter();
    lines.map(|line| (line["path"].as_str().unwrap(), line["name"].as_str().unwrap())).collect()
}

#[test]
fn the_loader_takes_the_copy_that_its_order_of_folders_says() {
    // DT_RPATH, DT_RUNPATH, LD_LIBRARY_PATH, ld.so.conf, and the folder of the copy that is taken.
    let cases = [
        (true, false, true, true, "rpath"),
        (true, false, false, true, "rpath"),
        (false, true, true, true, "environment"),
        // With DT_RUNPATH there is no DT_RPATH.
        (true, true, true, true, "environment"),
        (true, true, false, true, "runpath"),
        (false, true, false, true, "runpath"),
        (false, false, true, true, "environment"),
        (false, false, false, true, "configured"),
        (false, false, false, false, "usr/lib"),
    ];
    for case in cases {
        let (rpath, runpath, environment, conf, expected) = case;
        let mut service = program("service", &[CUDART]);
        service.rpath = rpath.then(|| "/rpath".to_owned());
        service.runpath = runpath.then(|| "/runpath".to_owned());
        let mut members: Vec<Member> =
            ["configured", "environment", "rpath", "runpath", "usr/lib"].map(copy).to_vec();
        members.push(executable("usr/bin/service", &service));
        if conf {
            members.push(file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"));
            members.push(file("etc/ld.so.conf.d/cuda.conf", "# CUDA\n/configured\n"));
        }
        let mut config = starting(SERVICE);
        if environment {
            config["Env"] = json!(["LD_LIBRARY_PATH=/nowhere:/environment"]);
        }
        let report = report_of(&configured(members, config));
        assert_eq!(picks(&report), [(format!("/{expected}/{CUDART}").as_str(), vec![SERVICE])], "{case:?}");
        assert_eq!(unresolved(&report), [], "{case:?}");
    }
}

#[test]
fn each_loading_file_gets_the_copy_that_it_asks_for() {
    let with_rpath = |path: &str| Elf { rpath: Some(path.into()), ..program(path, &[CUDART]) };
    let members = vec![
        copy("opt/a/lib"),
        copy("opt/b/lib"),
        copy("opt/unused/lib"),
        executable("opt/a/bin/one", &with_rpath("$ORIGIN/../lib")),
        executable("opt/a/bin/two", &with_rpath("${ORIGIN}/../lib")),
        executable("opt/b/bin/three", &with_rpath("/opt/b/lib")),
    ];
    let report = report_of(&configured(members, starting("/opt/b/bin/three")));
    let expected = [
        ("/opt/a/lib/libcudart.so.13", vec!["/opt/a/bin/one", "/opt/a/bin/two"]),
        ("/opt/b/lib/libcudart.so.13", vec!["/opt/b/bin/three"]),
    ];
    assert_eq!(picks(&report), expected);
    for (path, loaded_by) in expected {
        let library = library(&report, path);
        assert_eq!(library["use"], "needed");
        assert_eq!(texts(&library["needed_by"]), loaded_by);
    }
    assert_eq!(library(&report, "/opt/unused/lib/libcudart.so.13")["use"], "unreferenced");
}

#[test]
fn a_name_that_nothing_supplies_is_listed_and_the_hosts_is_not() {
    let needed = ["libcublas.so.13", "libcuda.so.1", "libnvidia-ml.so.1", "libc.so.6"];
    let members = vec![
        executable("usr/bin/service", &program("service", &needed)),
        file("usr/lib/x86_64-linux-gnu/libc.so.6", Elf::library("libc.so.6").build()),
        file("opt/lib/libcublas.so.12", Elf::library("libcublas.so.12").build()),
    ];
    let report = report_of(&configured(members, starting(SERVICE)));
    assert_eq!(unresolved(&report), [(SERVICE, "libcublas.so.13")]);
}

#[test]
fn the_chain_leads_from_a_library_to_what_is_started() {
    let system = "usr/lib/x86_64-linux-gnu";
    let put = |soname: &str, needed: &[&str]| {
        file(format!("{system}/{soname}"), Elf::library(soname).needing(needed).build())
    };
    let members = vec![
        file("usr/bin/start", "#!/usr/bin/service --serve\n").mode(0o755),
        executable("usr/bin/service", &program("service", &["libinference.so.1"])),
        put("libinference.so.1", &["libcublas.so.13"]),
        put("libcublas.so.13", &["libcublasLt.so.13"]),
        put("libcublasLt.so.13", &[]),
        // Needed by a library that nothing needs.
        put("libleft.so.1", &["libcufft.so.12"]),
        put("libcufft.so.12", &[]),
    ];
    let report = report_of(&configured(members, starting("/usr/bin/start")));
    let at = |soname: &str| format!("/{system}/{soname}");
    let last = library(&report, &at("libcublasLt.so.13"));
    assert_eq!(last["use"], "needed");
    assert_eq!(texts(&last["needed_by"]), [at("libcublas.so.13")]);
    let chain = ["libcublasLt.so.13", "libcublas.so.13", "libinference.so.1"].map(at);
    assert_eq!(texts(&last["chain"])[..3], chain);
    assert_eq!(texts(&last["chain"])[3..], [SERVICE]);
    let left = library(&report, &at("libcufft.so.12"));
    assert_eq!(left["use"], "unreferenced");
    assert_eq!(texts(&left["needed_by"]), [at("libleft.so.1")]);
    assert_eq!(texts(&left["chain"]), Vec::<&str>::new());
}

#[test]
fn the_parts_of_cudnn_are_opened_by_its_front() {
    let system = "usr/lib/x86_64-linux-gnu";
    let parts = ["libcudnn_graph.so.9", "libcudnn_ops.so.9", "libcudnn_cnn.so.9", "libcudnn_adv.so.9"];
    let mut members: Vec<Member> = parts
        .iter()
        .chain(&["libcudnn.so.9"])
        .map(|soname| file(format!("{system}/{soname}"), Elf::library(soname).build()))
        .collect();
    let service = executable("usr/bin/service", &program("service", &["libcudnn.so.9"]));
    // Without the program nothing opens them.
    let report = report_of(&configured(members.clone(), json!({})));
    assert_eq!(library(&report, &format!("/{system}/libcudnn_ops.so.9"))["use"], "unreferenced");
    members.push(service);
    let report = report_of(&configured(members, starting(SERVICE)));
    let front = format!("/{system}/libcudnn.so.9");
    assert_eq!(library(&report, &front)["use"], "needed");
    for part in parts {
        let part = library(&report, &format!("/{system}/{part}"));
        assert_eq!(part["use"], "dlopen");
        assert!(texts(&part["needed_by"]).contains(&front.as_str()), "{part:#}");
        assert_eq!(texts(&part["chain"]).last(), Some(&SERVICE), "{part:#}");
    }
    assert_eq!(unresolved(&report), [], "what is opened and missing is no NEEDED entry");
}

#[test]
fn folders_of_a_toolkit_are_found_through_its_links() {
    let lib = "usr/local/cuda-13.0/targets/x86_64-linux/lib";
    let members = vec![
        symlink("usr/local/cuda", "/etc/alternatives/cuda"),
        symlink("etc/alternatives/cuda", "/usr/local/cuda-13.0"),
        symlink("usr/local/cuda-13.0/lib64", "targets/x86_64-linux/lib"),
        symlink(format!("{lib}/libcudart.so.13"), "libcudart.so.13.0.96"),
        symlink(format!("{lib}/libcudart.so"), "libcudart.so.13"),
        file(format!("{lib}/libcudart.so.13.0.96"), Elf::library(CUDART).build()),
        executable("usr/bin/service", &program("service", &[CUDART])),
    ];
    let mut config = starting(SERVICE);
    config["Env"] =
        json!(["LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/nvidia/lib64:/usr/local/cuda/lib64"]);
    let report = report_of(&configured(members, config));
    assert_eq!(items(&report.json["cuda"]["libraries"]).len(), 1, "links are no libraries");
    let cudart = library(&report, &format!("/{lib}/libcudart.so.13.0.96"));
    assert_eq!((&cudart["use"], &cudart["version"]), (&"needed".into(), &"13.0.96".into()));
    assert_eq!(texts(&cudart["chain"])[1..], [SERVICE]);
    assert_eq!(unresolved(&report), []);
    assert_eq!(report.json["cuda"]["toolkit"]["root"], "/usr/local/cuda-13.0");
}
