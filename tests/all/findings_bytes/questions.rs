//! Questions about the same readers: a no to one answers those about fewer readers, too.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{items, service};
use crate::fixtures::elf::Elf;
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::debs;
use crate::fixtures::tarball::{Member, file, hardlink, tar};
use crate::support::Place;

/// An image with a compiler and make. One script calls the compiler, another one make, which may call both.
fn image(place: &Place) -> String {
    image_with(place, &[])
}

/// The same with more files.
fn image_with(place: &Place, more: &[Member]) -> String {
    let gcc: &[(&str, Vec<u8>)] =
        &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())];
    let make: &[(&str, Vec<u8>)] = &[("usr/bin/make", Elf::program("make").build())];
    let scripts = vec![
        file("srv/compile.sh", "#!/bin/sh\ngcc -o a a.c\n").mode(0o755),
        file("srv/build.sh", "#!/bin/sh\nmake all\n").mode(0o755),
    ];
    let packages = debs(&[("g++-13", "13.2", gcc), ("make", "4.3", make)]);
    let members = [service(&[]), packages, scripts, more.to_vec()].concat();
    put(place, members, "/srv/service")
}

/// Writes an image that starts a command, and returns its name.
fn put(place: &Place, members: Vec<Member>, command: &str) -> String {
    let mut image =
        Image::new(Packing::Gzip).add("RUN install # buildkit", Layer::new(&tar(members), Packing::Gzip));
    image.config = serde_json::json!({"Cmd": [command]});
    format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t")))
}

/// Answers of the plan, and open questions with the finding that they are answered with.
fn asked(place: &Place, image: &str, options: &[&str]) -> (Vec<String>, Vec<String>) {
    let outcome = place.run(&[&["dockerfile", image, "--format", "json"], options].concat());
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    crate::schema::fits("dockerfile", &found);
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or("-").to_owned();
    let lines = |list: &Value, key: &str| {
        let lines = items(list).iter().map(|one| format!("{} {}", text(one, "finding"), text(one, key)));
        let lines: BTreeSet<String> = lines.collect();
        lines.into_iter().collect()
    };
    (lines(&found["plan"]["answers"], "answer"), lines(&found["questions"], "answered_with"))
}

#[test]
fn a_no_answers_all_questions_about_the_same_readers() {
    let place = Place::new();
    let image = image(&place);
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let (compilers, tools) = ("compilers:unsure", "build-tools:unsure");
    let open = lines(&[&format!("{tools} {compilers}"), &format!("{compilers} -")]);
    assert_eq!(asked(&place, &image, &[]), (lines(&[]), open));

    let no = |id: &str| format!("{id}=no");
    let both = lines(&[&format!("{tools} no"), &format!("{compilers} no")]);
    assert_eq!(asked(&place, &image, &["--answer", &no(compilers)]), (both, lines(&[])));
    // The compiler has another reader.
    let one = (lines(&[&format!("{tools} no")]), lines(&[&format!("{compilers} -")]));
    assert_eq!(asked(&place, &image, &["--answer", &no(tools)]), one);
    // What is asked for by name is that alone.
    let one = (lines(&[&format!("{compilers} no")]), lines(&[&format!("{tools} -")]));
    assert_eq!(asked(&place, &image, &["--remove", compilers]), one);
    // Its own answer comes first, and a yes answers nothing else.
    let own = ["--answer", &no(compilers), "--answer", &format!("{tools}=yes")];
    let answers = lines(&[&format!("{tools} yes"), &format!("{compilers} no")]);
    assert_eq!(asked(&place, &image, &own), (answers, lines(&[])));
    assert_eq!(asked(&place, &image, &["--keep", tools, "--answer", &no(compilers)]).1, lines(&[]));
    let yes = asked(&place, &image, &["--answer", &format!("{compilers}=yes")]);
    assert_eq!(yes.1, lines(&[&format!("{tools} -")]));
}

#[test]
fn titles_of_several_findings_name_packages() {
    let place = Place::new();
    let program = |name: &str| Elf::program(name).build();
    let script =
        |name: &str, text: &str| file(format!("srv/{name}"), format!("#!/bin/sh\n{text}\n")).mode(0o755);
    let make: &[(&str, Vec<u8>)] = &[("usr/bin/make", program("make"))];
    let git: &[(&str, Vec<u8>)] = &[("usr/bin/git", program("git"))];
    let titles = |name: &str, scripts: &[Member]| {
        let packages = debs(&[("make", "4.3", make), ("git", "2.39", git)]);
        let members = [service(&[]), packages, scripts.to_vec()].concat();
        let mut image =
            Image::new(Packing::Gzip).add("RUN install # buildkit", Layer::new(&tar(members), Packing::Gzip));
        image.config = serde_json::json!({"Cmd": ["/srv/service"]});
        let image = format!("oci:{}", place.put_layout(name, &Layout::of(&image, "t")));
        let report = place.report(&image);
        let found = items(&report.json["findings"]).iter().filter(|one| one["rule"] == "build-tools");
        found.map(|one| one["title"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    let both = titles("both", &[script("build.sh", "make all"), script("clone.sh", "git clone x")]);
    assert_eq!(
        both,
        BTreeSet::from(["System build tools: git", "System build tools: make"].map(str::to_owned))
    );
    let one = titles("one", &[script("build.sh", "make all")]);
    assert!(one.contains("System build tools"), "{one:?}");
}

#[test]
fn what_else_is_in_doubt_is_asked_on_its_own() {
    let place = Place::new();
    // No package owns this program: the service may run it, whatever the script does.
    let own = file("usr/local/bin/cmake", Elf::program("cmake").build()).mode(0o755);
    let script = file("srv/cmake.sh", "#!/bin/sh\ncmake -B build\n").mode(0o755);
    let image = image_with(&place, &[own, script]);
    let report = place.report(&image);
    let found = super::finding(&report, "/usr/local/bin/cmake").unwrap();
    let id = found["id"].as_str().unwrap();
    let (_, open) = asked(&place, &image, &["--answer", "compilers:unsure=no"]);
    assert!(open.contains(&format!("{id} -")), "{id}: {open:?}");
}

#[test]
fn a_file_in_doubt_does_not_keep_questions_of_others_open() {
    let place = Place::new();
    // One cmake is from a package, the other one is not. One script calls both, and the compiler.
    let path = "usr/bin/cmake";
    let mut members = debs(&[
        ("cmake", "3.25", &[(path, Elf::program("cmake").build())]),
        ("g++-13", "13.2", &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())]),
    ]);
    members.extend(service(&[]));
    members.push(file("usr/local/bin/cmake", Elf::program("cmake").build()).mode(0o755));
    members.push(file("srv/build.sh", "#!/bin/sh\ncmake -B build\ngcc -o a a.c\n").mode(0o755));
    let image = put(&place, members, "/srv/service");
    let report = place.report(&image);
    let id = |path: &str| super::finding(&report, path).unwrap()["id"].as_str().unwrap().to_owned();
    let (owned, own) = (id("/usr/bin/cmake"), id("/usr/local/bin/cmake"));
    let (answers, open) = asked(&place, &image, &["--answer", "compilers:unsure=no"]);
    assert_eq!(answers, [format!("{owned} no"), "compilers:unsure no".to_owned()]);
    assert_eq!(open, [format!("{own} -")]);
}

/// Code of Python without its source: it is not searched.
fn unsearched() -> Member {
    file("srv/a.pyc", "x")
}

#[test]
fn programs_that_were_not_searched_are_one_more_reader() {
    let place = Place::new();
    let image = image_with(&place, &[unsearched()]);
    let report = place.report(&image);
    let proof = |id: &str| {
        let all = items(&report.json["findings"]);
        all.iter().find(|one| one["id"] == id).unwrap()["proof"].to_string()
    };
    assert!(proof("compilers:unsure").contains("/srv/a.pyc may run or open them"));
    assert!(proof("compilers:unsure").contains("not searched for all names: /srv/a.pyc"));
    assert!(proof("build-tools:unsure").contains("/srv/a.pyc may run or open them"));
    // A no for compilers says nothing about make.
    let (answers, open) = asked(&place, &image, &["--answer", "compilers:unsure=no"]);
    assert_eq!((answers.len(), open), (1, vec!["build-tools:unsure -".to_owned()]));
}

#[test]
fn a_no_for_a_tool_is_none_for_another_one_that_something_unsearched_may_run() {
    let place = Place::new();
    let program = |name: &str| Elf::program(name).build();
    let packages = debs(&[
        ("cmake", "3.25", &[("usr/bin/cmake", program("cmake"))]),
        ("git", "2.39", &[("usr/bin/git", program("git"))]),
        ("swig", "4.1", &[("usr/bin/swig", program("swig"))]),
    ]);
    let script = file("srv/build.sh", "#!/bin/sh\ncmake -B build\n").mode(0o755);
    let image = put(&place, [service(&[]), packages, vec![script, unsearched()]].concat(), "/srv/service");
    let report = place.report(&image);
    let id = |path: &str| super::finding(&report, path).unwrap()["id"].as_str().unwrap().to_owned();
    let (cmake, git) = (id("/usr/bin/cmake"), id("/usr/bin/git"));
    assert_ne!(cmake, git);
    let (answers, open) = asked(&place, &image, &["--answer", &format!("{cmake}=no")]);
    assert_eq!(answers, [format!("{cmake} no")]);
    assert!(open.contains(&format!("{git} -")), "{open:?}");
}

#[test]
fn a_question_names_the_readers_of_all_names_of_a_file() {
    let place = Place::new();
    let program = |name: &str| Elf::program(name).build();
    let mut packages = debs(&[
        ("cmake", "3.25", &[("usr/bin/cmake", program("cmake"))]),
        ("swig", "4.1", &[("usr/bin/swig", program("swig"))]),
    ]);
    packages.retain(|member| member.name != b"usr/bin/swig");
    let script = file("srv/build.sh", "#!/bin/sh\ncmake -B build\n").mode(0o755);
    let link = hardlink("usr/bin/swig", "usr/bin/cmake");
    let members = [service(&[]), packages, vec![link.clone(), script.clone(), unsearched()]].concat();
    let found = |members: Vec<Member>| {
        let report = place.report(&put(&place, members, "/srv/service"));
        super::finding(&report, "/usr/bin/cmake").unwrap().clone()
    };
    let one = found(members);
    assert!(one["proof"].to_string().contains("/srv/build.sh names cmake"), "{one:#}");
    assert!(one["proof"].to_string().contains("/srv/a.pyc may run or open them"), "{one:#}");
    assert!(one["question"].as_str().unwrap().contains("one of these"), "{one:#}");
    // The other name is of no package: that is in doubt, too.
    let cmake = debs(&[("cmake", "3.25", &[("usr/bin/cmake", program("cmake"))])]);
    let one = found([service(&[]), cmake, vec![link, script]].concat());
    let question = "Are these files used at run time? /srv/build.sh names cmake.";
    assert_eq!(one["question"], question, "{one:#}");
}

#[test]
fn packages_that_depend_on_a_tool_hide_no_other_doubt() {
    let place = Place::new();
    let status = "Package: git-lfs\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\nDepends: git\n\n\
                  Package: git\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\n\n";
    let members = |more: &[Member]| {
        let own = vec![
            file("var/lib/dpkg/status", status),
            file("var/lib/dpkg/info/git.list", "/usr/bin/git\n/usr/bin/xyzzyd\n"),
            file("usr/bin/git", Elf::program("git").build()).mode(0o755),
            file("usr/bin/xyzzyd", Elf::program("xyzzyd").build()).mode(0o755),
            file("srv/run.sh", "#!/bin/sh\nexec sleep 1\n").mode(0o755),
        ];
        [service(&[]), own, more.to_vec()].concat()
    };
    let question = |members: Vec<Member>, path: &str| {
        let report = place.report(&put(&place, members, "/srv/service"));
        super::finding(&report, path).unwrap()["question"].as_str().unwrap().to_owned()
    };
    let git = "Does git-lfs 1 need these files at run time? It depends on git.";
    assert_eq!(question(members(&[]), "/usr/bin/git"), git);
    // A program that was not searched may run git, too.
    let both = "Does one of these need the files at run time? git-lfs 1 depends on git. Also: /srv/a.pyc.";
    assert_eq!(question(members(&[unsearched()]), "/usr/bin/git"), both);
    // Files are not searched for the other name: the service may run it.
    let other = question(members(&[]), "/usr/bin/xyzzyd");
    assert!(other.contains("or the service, run or read /usr/bin/xyzzyd"), "{other}");
}

#[test]
fn many_packages_that_depend_on_many_tools_are_found_in_time() {
    let count = 300;
    let stanza = |name: String, depends: String| {
        format!(
            "Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\nDepends: {depends}\n\n"
        )
    };
    let all: Vec<String> = (0..count).map(|number| format!("lib{number}-dev")).collect();
    let libraries = (0..count).map(|number| stanza(all[number].clone(), all[(number + 1) % count].clone()));
    let tools = (0..count).map(|number| stanza(format!("tool{number}"), all.join(", ")));
    let status: String = libraries.chain(tools).collect();
    let members = vec![
        file("var/lib/dpkg/status", status),
        file("var/lib/dpkg/info/lib7-dev.list", "/usr/include/seven.h\n"),
        file("usr/include/seven.h", "int seven;\n"),
    ];
    let report = super::judged_files(members);
    assert_eq!(super::of(&report, "/usr/include/seven.h"), "headers unsure");
}

#[test]
fn dependent_packages_are_readers_by_what_they_depend_on() {
    let place = Place::new();
    let packages = [
        ("cc-tool", "build-essential, libc6"),
        ("make-tool", "make"),
        ("build-essential", "gcc-13, make"),
        ("gcc-13", "libc6"),
        ("make", "libc6"),
        ("libc6", ""),
    ];
    let status = packages.iter().map(|(name, depends)| {
        let depends = if depends.is_empty() { String::new() } else { format!("Depends: {depends}\n") };
        format!(
            "Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0\n{depends}\n"
        )
    });
    let mut members = vec![file("var/lib/dpkg/status", status.collect::<String>())];
    for (package, path) in [("gcc-13", "usr/lib/gcc/x86_64-linux-gnu/13/cc1"), ("make", "usr/bin/make")] {
        members.push(file(format!("var/lib/dpkg/info/{package}.list"), format!("/{path}\n")));
        members.push(file(path, Elf::program(package).build()).mode(0o755));
    }
    let image = put(&place, members, "/usr/bin/cc-tool");
    let report = place.report(&image);
    let made = super::finding(&report, "/usr/bin/make").unwrap();
    for statement in ["cc-tool 1.0 depends on build-essential", "make-tool 1.0 depends on make"] {
        assert!(made["proof"].to_string().contains(statement), "{made:#}");
    }
    // Make has one more dependent than the compiler.
    let (compilers, tools) = ("compilers:unsure", "build-tools:unsure");
    let open = [format!("{compilers} {tools}"), format!("{tools} -")];
    assert_eq!(asked(&place, &image, &[]).1, [&open[1], &open[0]].map(String::clone));
    let (answers, open) = asked(&place, &image, &["--answer", &format!("{compilers}=no")]);
    assert_eq!((answers, open), (vec![format!("{compilers} no")], vec![format!("{tools} -")]));
}

#[test]
fn readers_beyond_those_that_are_named_count() {
    let place = Place::new();
    // The names of the first readers are the same for both.
    let many =
        (0..40).map(|number| file(format!("srv/a{number:02}.sh"), "#!/bin/sh\nmake all\n").mode(0o755));
    let last = file("srv/z.sh", "#!/bin/sh\nninja -C build\n").mode(0o755);
    let ninja = file("usr/bin/ninja", Elf::program("ninja").build()).mode(0o755);
    let image = image_with(&place, &many.chain([last, ninja]).collect::<Vec<_>>());
    let report = place.report(&image);
    let id = super::finding(&report, "/usr/bin/ninja").unwrap()["id"].as_str().unwrap();
    let (_, open) = asked(&place, &image, &["--answer", "compilers:unsure=no"]);
    assert!(open.iter().any(|line| line.starts_with(id)), "{id}: {open:?}");
    // All readers that a no denies are named.
    let compilers =
        items(&report.json["findings"]).iter().find(|one| one["id"] == "compilers:unsure").unwrap();
    let proof = compilers["proof"].to_string();
    for reader in ["/srv/a00.sh names make", "/srv/a39.sh names make", "/srv/compile.sh names gcc"] {
        assert!(proof.contains(reader), "{reader}: {proof}");
    }
    assert!(compilers["question"].as_str().unwrap().ends_with(" and 38 more."), "{compilers}");
}

#[test]
fn a_saved_no_that_follows_goes_with_its_cause() {
    let place = Place::new();
    let image = image(&place);
    let report = place.report(&image);
    let entry = |id: &str, answer: &str| {
        let found = items(&report.json["findings"]).iter().find(|one| one["id"] == id).unwrap();
        serde_json::json!({
            "finding": id, "title": found["title"], "question": found["question"], "answer": answer,
        })
    };
    let answers = [entry("compilers:unsure", "no"), entry("build-tools:unsure", "no")];
    let plan = serde_json::json!({"schema": "cutaway.plan/1", "findings": [], "answers": answers});
    let plan = place.put("plan.json", plan.to_string());
    let none: Vec<String> = Vec::new();
    let (answers, open) = asked(&place, &image, &["--plan", &plan]);
    assert_eq!((answers.len(), &open), (2, &none));
    let (answers, open) = asked(&place, &image, &["--plan", &plan, "--answer", "compilers:unsure=yes"]);
    assert_eq!(answers, ["compilers:unsure yes"]);
    assert_eq!(open, ["build-tools:unsure -"]);
}

#[test]
fn packages_that_compile_when_they_are_called_need_the_compiler() {
    let stanza = |name: &str, depends: &str| {
        format!(
            "Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0\n\
             Depends: {depends}\n\n"
        )
    };
    for (name, verdict) in [("libinline-c-perl", "compilers needed"), ("some-tool", "compilers unsure")] {
        let status = stanza("gcc-12", "libc6") + &stanza("gcc", "gcc-12") + &stanza(name, "perl, gcc");
        let gcc = "usr/lib/gcc/x86_64-linux-gnu/12/cc1";
        let members = vec![
            file("var/lib/dpkg/status", status),
            file("var/lib/dpkg/info/gcc-12.list", format!("/{gcc}\n")),
            file(gcc, Elf::program("cc1").build()).mode(0o755),
        ];
        let report = super::judged_files(members);
        assert_eq!(super::of(&report, &format!("/{gcc}")), verdict, "{name}");
    }
}

#[test]
fn info_pages_are_asked_about_where_their_reader_is_installed() {
    for (name, verdict) in [("info", "docs-samples unsure"), ("curl", "docs-samples safe")] {
        let status = format!(
            "Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0\n\n\
             Package: coreutils\nStatus: install ok installed\nArchitecture: amd64\nVersion: 9.1\n\n"
        );
        let page = "usr/share/info/coreutils.info.gz";
        let members = vec![
            file("var/lib/dpkg/status", status),
            file("var/lib/dpkg/info/coreutils.list", format!("/{page}\n")),
            file(page, "\x1f\u{8b} page"),
        ];
        let report = super::judged_files(members);
        assert_eq!(super::of(&report, &format!("/{page}")), verdict, "{name}");
    }
}

#[test]
fn nothing_follows_for_readers_that_use_something() {
    let place = Place::new();
    let headers: &[(&str, Vec<u8>)] = &[("usr/include/stdio.h", b"int puts(const char *);\n".to_vec())];
    let gcc: &[(&str, Vec<u8>)] =
        &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1plus", Elf::program("cc1plus").build())];
    let make: &[(&str, Vec<u8>)] = &[("usr/bin/make", Elf::program("make").build())];
    let scripts = vec![
        file("srv/compile.sh", "#!/bin/sh\ngcc -o a a.c\n").mode(0o755),
        file("srv/build.sh", "#!/bin/sh\nmake all\n").mode(0o755),
    ];
    let packages = debs(&[("g++-13", "13.2", gcc), ("libc6-dev", "2.36", headers), ("make", "4.3", make)]);
    let image = put(&place, [service(&[]), packages, scripts].concat(), "/srv/service");
    let no = ["--answer", "headers:unsure=no"];
    let (answers, _) = asked(&place, &image, &no);
    assert!(answers.contains(&"build-tools:unsure no".to_owned()), "{answers:?}");
    // That make runs is said with the compiler.
    let (answers, open) = asked(&place, &image, &[&no[..], &["--answer", "compilers:unsure=yes"]].concat());
    assert_eq!(answers, ["compilers:unsure yes", "headers:unsure no"]);
    assert_eq!(open, ["build-tools:unsure -"]);
    let said = place.run(&[&["slim", &image, "--dry-run"], &no[..]].concat()).stderr;
    assert!(said.contains("these answers also say no to build-tools:unsure ("), "{said}");
    assert!(said.contains("compilers:unsure ("), "{said}");
}

#[test]
fn a_file_that_is_named_is_read_by_compilers_all_the_same() {
    let place = Place::new();
    let script = "usr/lib/x86_64-linux-gnu/libm.so";
    let packages = debs(&[
        ("g++-13", "13.2", &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1", Elf::program("cc1").build())]),
        ("libc6-dev", "2.36", &[(script, b"GROUP ( /lib/libm.so.6 )\n".to_vec())]),
    ]);
    let own = [
        file("srv/build.sh", "#!/bin/sh\ngcc -shared a.c -lm\n").mode(0o755),
        file("srv/test.py", "import ctypes\nctypes.CDLL('libm.so')\n"),
    ];
    let image = put(&place, [service(&[]), packages, own.to_vec()].concat(), "/srv/service");
    let report = place.report(&image);
    let found = super::finding(&report, &format!("/{script}")).unwrap();
    assert_eq!(found["verdict"], "unsure");
    let question = found["question"].as_str().unwrap();
    assert!(question.contains("/srv/build.sh names gcc"), "{found}");
    assert!(question.ends_with("/srv/test.py mentions them."), "{found}");
    // Whether the other script needs it is another question.
    let id = found["id"].as_str().unwrap();
    let (_, open) = asked(&place, &image, &["--answer", "compilers:unsure=no"]);
    assert!(open.contains(&format!("{id} -")), "{id}: {open:?}");
}

#[test]
fn tests_that_are_not_run_or_removed_read_nothing() {
    let place = Place::new();
    let site = "usr/local/lib/python3.11/site-packages";
    let module = |name: &str, text: &str| file(format!("{site}/lint/{name}"), text);
    let run = "import subprocess\nsubprocess.run([\"gcc\", \"-c\", \"a.c\"])\n";
    let package = vec![
        file(
            format!("{site}/lint-1.0.dist-info/METADATA"),
            "Metadata-Version: 2.1\nName: lint\nVersion: 1.0\n",
        ),
        file(
            format!("{site}/lint-1.0.dist-info/RECORD"),
            "lint/__init__.py,,\nlint/tests/__init__.py,,\nlint/tests/test_cc.py,,\n",
        ),
        module("__init__.py", "NAME = 1\n"),
        module("tests/__init__.py", "NAME = 2\n"),
        module("tests/test_cc.py", run),
    ];
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let gcc: &[(&str, Vec<u8>)] = &[("usr/lib/gcc/x86_64-linux-gnu/13/cc1", Elf::program("cc1").build())];
    // A service does not run the tests of packages, unless something does.
    let report = super::judged_files([debs(&[("g++-13", "13.2", gcc)]), package.clone()].concat());
    let compiler = "/usr/lib/gcc/x86_64-linux-gnu/13/cc1";
    assert_eq!(super::of(&report, compiler), "compilers safe");
    let proof = super::finding(&report, compiler).unwrap()["proof"].to_string();
    assert!(proof.contains("lint/tests/test_cc.py, 1 in all"), "{proof}");
    let package =
        [package, vec![file("srv/check.sh", "#!/bin/sh\npytest --pyargs lint\n").mode(0o755)]].concat();
    let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), package.clone()].concat();
    let image = put(&place, members, "/srv/service");
    let (tests, compilers) = ("python-tests:unsure", "compilers:unsure");
    let open = lines(&[&format!("{compilers} {tests}"), &format!("{tests} -")]);
    assert_eq!(asked(&place, &image, &[]), (lines(&[]), open));
    let no = format!("{tests}=no");
    let both = lines(&[&format!("{compilers} no"), &format!("{tests} no")]);
    assert_eq!(asked(&place, &image, &["--answer", &no]), (both, lines(&[])));
    // The other way, tests may be imported by who starts no compiler.
    let one = (lines(&[&format!("{compilers} no")]), lines(&[&format!("{tests} -")]));
    assert_eq!(asked(&place, &image, &["--answer", &format!("{compilers}=no")]), one);
    // Another reader is left.
    let other = file("srv/build.sh", "#!/bin/sh\ngcc -c b.c\n").mode(0o755);
    let members = [service(&[]), debs(&[("g++-13", "13.2", gcc)]), package, vec![other]].concat();
    let image = put(&place, members, "/srv/service");
    let left = (lines(&[&format!("{tests} no")]), lines(&[&format!("{compilers} -")]));
    assert_eq!(asked(&place, &image, &["--answer", &no]), left);
}

#[test]
fn jobs_of_cron_run_tools() {
    let verdict = |path: &str, text: &str| {
        let packages = debs(&[("git", "1:2.39", &[("usr/bin/git", Elf::program("git").build())])]);
        super::of(&super::judged_files([packages, vec![file(path, text)]].concat()), "/usr/bin/git")
    };
    let job = "SHELL=/bin/sh\n*/5 * * * * root git -C /repo pull\n";
    for path in ["etc/cron.d/jobs", "etc/crontab", "var/spool/cron/crontabs/app", "srv/pull.cron"] {
        assert_eq!(verdict(path, job), "build-tools unsure", "{path}");
    }
    assert_eq!(verdict("etc/cron.d/jobs", "*/5 * * * * root rsync /a /b\n"), "build-tools safe");
}

#[test]
fn files_without_a_suffix_run_tools() {
    let report = |path: &str, text: &str, mode: u32| {
        let git = ("git", "1:2.39", &[("usr/bin/git", Elf::program("git").build())][..]);
        let gcc = ("gcc-13", "13.2", &[("usr/bin/gcc-13", Elf::program("gcc").build())][..]);
        super::judged_files([debs(&[git, gcc]), vec![file(path, text).mode(mode)]].concat())
    };
    let verdict = |path: &str, text: &str| super::of(&report(path, text, 0o644), "/usr/bin/git");
    for (path, text) in [
        ("etc/passwd", "root:x:0:0::/root:/bin/sh\ngit:x:1000:1000::/home/git:/usr/bin/git-shell\n"),
        (
            "etc/logrotate.d/app",
            "/var/log/app.log {\n  postrotate\n    git -C /var/log commit -qam x\n  endscript\n}\n",
        ),
        ("root/.bash_profile", "export REV=$(git --version)\n"),
        ("docker-entrypoint.d/10-rev.envsh", "REV=$(git --version)\n"),
        ("srv/lib", "pull() {\n  git pull\n}\n"),
        ("etc/s6-overlay/s6-rc.d/one/up", "git -C /repo pull\n"),
    ] {
        assert_eq!(verdict(path, text), "build-tools unsure", "{path}");
    }
    // A recipe was run already; a document and data run nothing.
    for (path, text) in [
        ("app/Dockerfile-prod", "FROM debian\nRUN git clone x\n"),
        ("etc/services", "git\t\t9418/tcp\n"),
        ("root/.npm/_cacache/tmp/index-entry", "git clone x\n"),
        ("app/README", "git pull\n"),
        ("srv/lib", "\0git pull\n"),
    ] {
        assert_eq!(verdict(path, text), "build-tools safe", "{path}");
    }
    // What a Makefile runs counts where it is a program.
    let recipe = |start: &str| format!("{start}all:\n\tgcc-13 -c x.c\n");
    let program = report("srv/run.mk", &recipe("#!/usr/bin/make -f\n"), 0o755);
    assert_eq!(super::of(&program, "/usr/bin/gcc-13"), "compilers unsure");
    let other = report("srv/run.mk", &recipe(""), 0o644);
    assert_eq!(super::of(&other, "/usr/bin/gcc-13"), "compilers safe");
}

#[test]
fn a_source_that_opens_nvrtc_may_include_headers() {
    let header = "usr/local/lib/python3.12/site-packages/nvidia/cuda_runtime/include/cuda_fp16.h";
    let verdict = |text: &str| {
        let members = vec![file(header, "int x;"), file("app/main.py", text)];
        super::of(&super::judged_files(members), &format!("/{header}"))
    };
    assert_eq!(verdict("import ctypes\nctypes.CDLL('libnvrtc.so.12')\n"), "python-build-leftovers unsure");
    assert_eq!(verdict("import ctypes\nctypes.CDLL('libcudart.so.12')\n"), "python-build-leftovers safe");
}

#[test]
fn what_shows_manuals_reads_no_tests() {
    let man: &[(&str, Vec<u8>)] = &[("usr/bin/man", Elf::program("man").build())];
    let tests = "opt/env/lib/python3.12/test/support/__init__.py";
    let python = vec![file("opt/env/lib/python3.12/os.py", "pass\n"), file(tests, "pass\n")];
    let report = super::judged_files([debs(&[("man-db", "2.11", man)]), python].concat());
    let found = super::finding(&report, &format!("/{tests}")).unwrap();
    let question = found["question"].as_str().unwrap_or_default();
    assert!(question.starts_with("Does the service import"), "{question}");
}

#[test]
fn nvcc_needs_something_where_it_is() {
    let header = "usr/local/cuda-13.0/targets/x86_64-linux/include/cuda_runtime.h";
    let verdict = |text: &str, more: Vec<Member>| {
        let toolkit = debs(&[("cuda-cudart-dev-13-0", "13.0.96-1", &[(header, b"int x;".to_vec())])]);
        let members = [toolkit, vec![file("srv/app.py", text)], more].concat();
        super::of(&super::judged_files(members), &format!("/{header}"))
    };
    let torch = "from torch.utils.cpp_extension import load\n";
    assert_eq!(verdict("print(1)\n", Vec::new()), "headers safe");
    assert_eq!(verdict(torch, Vec::new()), "headers unsure");
    assert_eq!(verdict("subprocess.run(['nvcc', 'k.cu'])\n", Vec::new()), "headers unsure");
    let wrapper = file("usr/local/bin/nvcc", "#!/bin/sh\nexec /opt/nvcc\n").mode(0o755);
    assert_eq!(verdict(torch, vec![wrapper]), "headers unsure");
}

#[test]
fn ninja_and_pycparser_run_compilers() {
    let compiler = "usr/lib/gcc/x86_64-linux-gnu/13/cc1";
    let verdict = |text: &str| {
        let packages = debs(&[("gcc-13", "13.2", &[(compiler, Elf::program("cc1").build())])]);
        let report = super::judged_files([packages, vec![file("srv/app.py", text)]].concat());
        super::of(&report, &format!("/{compiler}"))
    };
    assert_eq!(verdict("subprocess.run(['ninja', '-C', '/srv'])\n"), "compilers unsure");
    assert_eq!(verdict("tree = parse_file(path, use_cpp=True)\n"), "compilers unsure");
    // Django Ninja is no build tool.
    assert_eq!(verdict("from ninja import NinjaAPI\n"), "compilers safe");
    assert_eq!(verdict("tree = parse_file(path)\n"), "compilers safe");
}
