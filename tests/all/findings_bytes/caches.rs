//! Caches of package managers.

use super::{all, finding, judged, judged_files, proof, service};
use crate::fixtures::elf::Elf;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, debs};
use crate::fixtures::tarball::{Member, file, hardlink, symlink};

fn filled(path: &str) -> Member {
    file(path, path.repeat(20))
}

#[test]
fn what_is_only_downloaded_again_can_go() {
    let paths = [
        "var/lib/apt/lists/archive.ubuntu.com_ubuntu_dists_noble_InRelease",
        "var/cache/apt/archives/libgomp1_14_amd64.deb",
        "var/cache/dnf/appstream-1/repodata/repomd.xml",
        "var/cache/apk/APKINDEX.tar.gz",
        "var/cache/zypp/raw/a.xml",
        "root/.cache/pip/http-v2/a/b/body",
        "tmp/.cache/pip/http-v2/a",
        "home/app/.cache/uv/archive-v0/a/torch/lib/libtorch.py",
        "root/.cache/pypoetry/cache/a",
        "root/.cache/virtualenv/wheel/3.11/image/1/CopyPipInstall/pip-26.3-py3-none-any/pip/a.py",
        "home/app/.local/share/virtualenv/py_info/5/a.json",
        "opt/conda/pkgs/numpy-2.0-py312.conda",
        "opt/conda/pkgs/urls.txt",
        "root/.npm/_cacache/content-v2/a",
        "usr/local/share/.cache/yarn/v6/a",
        "usr/local/cargo/registry/cache/a.crate",
        "root/go/pkg/mod/cache/download/a",
        "root/.cache/ccache/a",
        "root/.m2/repository/a.jar",
    ];
    let report = judged_files(paths.iter().map(|path| filled(path)).collect());
    for path in paths {
        all(&report, &[(&format!("/{path}"), "package-caches safe")]);
    }
    let found = finding(&report, "/root/.cache/pip/http-v2/a/b/body").unwrap();
    assert!(proof(found).contains("none of them is a hard link to a file outside the cache"), "{found:#}");
    let bytes: u64 = paths.iter().map(|path| path.len() as u64 * 20).sum();
    assert_eq!(report.json["reclaimable"]["by_category"]["package-caches"], bytes);
}

#[test]
fn environments_and_programs_beside_caches_are_no_caches() {
    let report = judged_files(vec![
        filled("root/.cache/pypoetry/virtualenvs/a/lib/site.py"),
        filled("root/.cache/uv/environments-v2/a/lib/site.py"),
        filled("root/.local/share/virtualenv/own/lib/site.py"),
        filled("root/.local/share/virtualenv/wheel/lib/site.py"),
        filled("root/.cargo/bin/tool"),
        filled("srv/pip/cache.py"),
    ]);
    all(
        &report,
        &[
            ("/root/.cache/pypoetry/virtualenvs/a/lib/site.py", "-"),
            ("/root/.cache/uv/environments-v2/a/lib/site.py", "-"),
            ("/root/.local/share/virtualenv/own/lib/site.py", "-"),
            ("/root/.local/share/virtualenv/wheel/lib/site.py", "-"),
            ("/root/.cargo/bin/tool", "-"),
            ("/srv/pip/cache.py", "-"),
        ],
    );
}

#[test]
fn what_virtualenv_copies_into_environments_runs_no_compiler() {
    let gcc = "usr/lib/gcc/x86_64-linux-gnu/13/cc1plus";
    for (folder, verdict) in [
        (
            "root/.cache/virtualenv/wheel/3.11/image/1/CopyPipInstall/pip-26.3-py3-none-any/pip",
            "compilers safe",
        ),
        ("root/.local/share/virtualenv/own/app", "compilers unsure"),
    ] {
        let mut members = debs(&[("g++-13", "13.2", &[(gcc, Elf::program("cc1plus").build())])]);
        members.push(file(format!("{folder}/build.py"), "subprocess.run(['gcc', 'a.c'])\n"));
        all(&judged_files(members), &[(&format!("/{gcc}"), verdict)]);
    }
}

#[test]
fn a_file_that_is_installed_by_a_hard_link_costs_nothing() {
    let report = judged_files(vec![
        filled("opt/conda/pkgs/urls.txt"),
        filled("opt/conda/pkgs/numpy-2/lib/numpy.py"),
        hardlink("opt/conda/lib/numpy.py", "opt/conda/pkgs/numpy-2/lib/numpy.py"),
        filled("opt/conda/pkgs/numpy-2/lib/alone.py"),
        hardlink("opt/conda/pkgs/other/alone.py", "opt/conda/pkgs/numpy-2/lib/alone.py"),
    ]);
    all(&report, &[("/opt/conda/pkgs/numpy-2/lib/numpy.py", "-"), ("/opt/conda/lib/numpy.py", "-")]);
    // A file with several names is told when all of them lie in caches.
    let alone = ["/opt/conda/pkgs/numpy-2/lib/alone.py", "/opt/conda/pkgs/other/alone.py"];
    let found: Vec<String> =
        alone.iter().map(|path| super::of(&report, path)).filter(|of| of != "-").collect();
    assert!(!found.is_empty() && found.iter().all(|of| of == "package-caches safe"), "{found:?}");
}

/// What `uv pip install` does: files of an environment that are hard links of the cache.
fn installed_by_uv(names: &[&str], in_cache: bool) -> Vec<Member> {
    let (archive, site) = ("root/.cache/uv/archive-v0/a", "srv/venv/lib/python3.12/site-packages");
    let pair = |name: &&str| {
        let (cache, site) = (format!("{archive}/{name}"), format!("{site}/{name}"));
        // Which of the two names a layer has the bytes under depends on the order of its members.
        let (first, second) = if in_cache { (cache, site) } else { (site, cache) };
        [filled(&first), hardlink(&second, &first)]
    };
    names.iter().flat_map(pair).collect()
}

#[test]
fn a_name_outside_a_cache_is_judged_by_its_own_rule() {
    // `core.py` is called as core dumps are, and `a.o` as object files.
    let names =
        ["click/core.py", "numpy/ma/core.py", "numpy/core", "numpy/a.o", "numpy/b.whl", "numpy/build.ninja"];
    for in_cache in [true, false] {
        let lock = "root/.cache/uv/archive-v0/a/.lock";
        let report = judged_files([installed_by_uv(&names, in_cache), vec![filled(lock)]].concat());
        for name in names {
            let (cache, site) = (
                format!("/root/.cache/uv/archive-v0/a/{name}"),
                format!("/srv/venv/lib/python3.12/site-packages/{name}"),
            );
            all(&report, &[(&cache, "-"), (&site, "-")]);
        }
        let found = finding(&report, &format!("/{lock}")).unwrap();
        assert_eq!((&found["bytes"], &found["files"]), (&(lock.len() * 20).into(), &1.into()), "{found:#}");
        let said = "6 of 7 files are hard-linked to installed files: removing them from the cache frees 0 B; the other 1 free";
        assert!(found["reason"].as_str().unwrap().contains(said) && proof(found).contains(said), "{found:#}");
    }
}

#[test]
fn names_in_and_outside_of_a_cache_go_together() {
    let names = ["numpy/_core/include/numpy/a.h", "numpy/a.py"];
    for in_cache in [true, false] {
        let report = judged_files(installed_by_uv(&names, in_cache));
        let header = "numpy/_core/include/numpy/a.h";
        let path = format!("/srv/venv/lib/python3.12/site-packages/{header}");
        all(
            &report,
            &[
                (&path, "python-build-leftovers safe"),
                (&format!("/root/.cache/uv/archive-v0/a/{header}"), "python-build-leftovers safe"),
            ],
        );
        let found = finding(&report, &path).unwrap();
        assert_eq!((&found["files"], found["paths"].as_array().unwrap().len()), (&1.into(), 2));
    }
}

#[test]
fn a_package_in_a_cache_is_no_file_of_the_application() {
    let name = "numpy/distutils/a.py";
    let body = "compiler = 'gcc'\n";
    let (cache, site) = (format!("root/.cache/uv/archive-v0/a/{name}"), format!("{SITE}/{name}"));
    let header = "usr/include/own.h";
    let report = judged_files(vec![file(&cache, body), hardlink(&site, &cache), file(header, "int x;")]);
    all(&report, &[(&format!("/{header}"), "headers safe")]);
    let own = file("srv/build.py", body);
    let report = judged_files(vec![file(&cache, body), hardlink(&site, &cache), file(header, "int x;"), own]);
    all(&report, &[(&format!("/{header}"), "headers unsure")]);
}

#[test]
fn folders_that_are_called_as_caches_are_none_without_their_marks() {
    let report = judged_files(vec![
        filled("srv/myconda/pkgs/settings.py"),
        filled("srv/go/pkg/mod/handler.py"),
        filled("root/go/pkg/mod/cache/download/a"),
        filled("root/go/pkg/mod/example.org/a@v1/a.go"),
    ]);
    all(
        &report,
        &[
            ("/srv/myconda/pkgs/settings.py", "-"),
            ("/srv/go/pkg/mod/handler.py", "-"),
            ("/root/go/pkg/mod/cache/download/a", "package-caches safe"),
            ("/root/go/pkg/mod/example.org/a@v1/a.go", "package-caches safe"),
        ],
    );
}

#[test]
fn archives_of_java_may_be_on_a_class_path() {
    let java = file("usr/lib/jvm/bin/java", Elf::program("java").build()).mode(0o755);
    let report = judged_files(vec![java, filled("root/.m2/repository/a.jar"), filled("root/.cache/pip/a")]);
    all(
        &report,
        &[
            ("/root/.m2/repository/a.jar", "package-caches unsure"),
            ("/root/.cache/pip/a", "package-caches safe"),
        ],
    );
}

#[test]
fn what_symbolic_links_lead_to_is_needed() {
    let archive = "root/.cache/uv/archive-v0/a";
    let report = judged_files(vec![
        filled(&format!("{archive}/torch/a.py")),
        filled(&format!("{archive}/numpy/b.py")),
        filled(&format!("{archive}/old/c.py")),
        symlink("srv/site/torch.py", format!("/{archive}/torch/a.py")),
        // Over a second link, to a folder.
        symlink("srv/site/numpy", "../links/numpy"),
        symlink("srv/links/numpy", format!("../../{archive}/numpy")),
        // A link inside the cache is no use of it.
        symlink("root/.cache/uv/wheels-v5/old", "../archive-v0/a/old"),
    ]);
    all(
        &report,
        &[
            (&format!("/{archive}/torch/a.py"), "package-caches needed"),
            (&format!("/{archive}/numpy/b.py"), "package-caches needed"),
            (&format!("/{archive}/old/c.py"), "package-caches safe"),
        ],
    );
    let needed = finding(&report, &format!("/{archive}/torch/a.py")).unwrap();
    assert!(proof(needed).contains("/srv/site/torch.py links into the cache"), "{needed:#}");
}

#[test]
fn what_is_loaded_from_a_cache_is_needed() {
    let mut members = service(&["libown.so.1"]);
    let mut program = Elf::program("service").needing(&["libown.so.1"]);
    program.rpath = Some("/root/.cache/bazel/out".into());
    members.push(file("srv/service", program.build()).mode(0o755));
    members.push(file("root/.cache/bazel/out/libown.so.1", Elf::library("libown.so.1").build()));
    members.push(file("root/.cache/bazel/out/tool", Elf::program("tool").build()).mode(0o755));
    let report = judged(Packing::Gzip, &[members], &["/srv/service"], &[]);
    all(
        &report,
        &[
            ("/root/.cache/bazel/out/libown.so.1", "package-caches needed"),
            ("/root/.cache/bazel/out/tool", "package-caches unsure"),
        ],
    );
}

#[test]
fn settings_that_name_a_cache_make_it_a_question() {
    let members = [service(&[]), vec![filled("root/.cache/pip/a"), filled("root/.cache/uv/b")]].concat();
    let verdicts = |command: &[&str], environment: &[&str]| {
        let report = judged(Packing::Gzip, std::slice::from_ref(&members), command, environment);
        ["/root/.cache/pip/a", "/root/.cache/uv/b"].map(|path| super::of(&report, path))
    };
    let (safe, unsure) = ("package-caches safe".to_owned(), "package-caches unsure".to_owned());
    assert_eq!(verdicts(&["/srv/service"], &[]), [safe.clone(), safe.clone()]);
    let own = ["PIP_CACHE_DIR=/root/.cache/pip"];
    assert_eq!(verdicts(&["/srv/service"], &own), [safe.clone(), safe.clone()]);
    let other = ["PYTHONPATH=/root/.cache/pip/a"];
    assert_eq!(verdicts(&["/srv/service"], &other), [unsure.clone(), safe.clone()]);
    assert_eq!(verdicts(&["uv", "run", "serve"], &[]), [safe, unsure]);
}

#[test]
fn models_of_a_hub_are_never_safe() {
    let hub = "root/.cache/huggingface/hub/models--a--b";
    let members = [
        service(&[]),
        vec![
            filled(&format!("{hub}/blobs/0123")),
            symlink(format!("{hub}/snapshots/1/model.bin"), "../../blobs/0123"),
            filled("root/.cache/torch/hub/checkpoints/resnet.pth"),
        ],
    ]
    .concat();
    let of = |environment: &[&str]| {
        judged(Packing::Gzip, std::slice::from_ref(&members), &["/srv/service"], environment)
    };
    let blob = format!("/{hub}/blobs/0123");
    all(
        &of(&[]),
        &[
            (&blob, "package-caches unsure"),
            ("/root/.cache/torch/hub/checkpoints/resnet.pth", "package-caches unsure"),
        ],
    );
    all(&of(&["HF_HUB_OFFLINE=1"]), &[(&blob, "package-caches needed")]);
    all(&of(&["HF_HUB_OFFLINE=0"]), &[(&blob, "package-caches unsure")]);
}

#[test]
fn a_module_cache_is_a_question_where_a_start_script_runs_go() {
    let cache = || file("root/go/pkg/mod/cache/download/a", "module");
    let path = "/root/go/pkg/mod/cache/download/a";
    all(&judged_files(vec![cache()]), &[(path, "package-caches safe")]);
    let script = file("srv/start.sh", "#!/bin/sh\nexec go run ./cmd/api\n").mode(0o755);
    all(&judged_files(vec![cache(), script]), &[(path, "package-caches unsure")]);
}

#[test]
fn lists_of_packages_stay_for_what_tells_of_updates() {
    let lists = "var/lib/apt/lists/deb.debian.org_debian_dists_bookworm_InRelease";
    for (package, verdict) in
        [("apt-file", "unsure"), ("prometheus-node-exporter-collectors", "unsure"), ("curl", "safe")]
    {
        let program: &[(&str, Vec<u8>)] = &[("usr/bin/program", Elf::program("program").build())];
        let members = [service(&[]), debs(&[(package, "1.0", program)]), vec![filled(lists)]].concat();
        let report = judged(Packing::Gzip, &[members], &["/srv/service"], &[]);
        all(&report, &[(&format!("/{lists}"), &format!("package-caches {verdict}"))]);
        let found = finding(&report, &format!("/{lists}")).unwrap();
        let question = found["question"].as_str().unwrap_or("none");
        assert_eq!(question.contains(&format!("Does the service use {package}?")), verdict == "unsure");
    }
}

#[test]
fn lists_of_packages_stay_for_a_script_that_installs() {
    let lists = "var/lib/apt/lists/deb.debian.org_debian_dists_bookworm_InRelease";
    for (text, verdict) in [("apt-get install -y $EXTRA\n", "unsure"), ("exec serve\n", "safe")] {
        let script = file("srv/start.sh", format!("#!/bin/sh\n{text}")).mode(0o755);
        let report = judged_files(vec![filled(lists), script]);
        all(&report, &[(&format!("/{lists}"), &format!("package-caches {verdict}"))]);
    }
}

#[test]
fn npms_cache_stays_for_a_script_that_installs_from_it() {
    let cache = "root/.npm/_cacache/content-v2/sha512/aa/bb/cc";
    for (text, verdict) in [("npm ci --offline\n", "unsure"), ("npm start\n", "safe")] {
        let script = file("srv/start.sh", format!("#!/bin/sh\n{text}")).mode(0o755);
        let report = judged_files(vec![filled(cache), script]);
        all(&report, &[(&format!("/{cache}"), &format!("package-caches {verdict}"))]);
    }
}

#[test]
fn empty_files_are_no_finding() {
    let path = "/var/cache/apt/archives/lock";
    let empty = || file(&path[1..], "");
    all(&judged_files(vec![empty()]), &[(path, "-")]);
    let package = filled("var/cache/apt/archives/libgomp1_14_amd64.deb");
    all(&judged_files(vec![empty(), package]), &[(path, "package-caches safe")]);
}
