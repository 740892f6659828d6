//! What is copied file by file or whole, by whom it is owned, and what cannot be written down.

use cutaway::findings::{Answer, Answers, Plan, Verdict};
use cutaway::rewrite::Applicability;

use super::parts::{built, devel, library, program, python, text, tools};
use super::scene::{Scene, gone, has_lines, has_none, last_stage, one};
use crate::fixtures::elf::Elf;
use crate::fixtures::filler;
use crate::fixtures::tarball::{Member, dir, file, hardlink, symlink, whiteout};

fn base() -> Scene {
    devel().apt("cmake git", tools())
}

fn lines(text: &str) -> Vec<&str> {
    last_stage(text).lines().collect()
}

fn users_and_groups() -> Vec<Member> {
    vec![
        file("etc/passwd", "root:x:0:0:root:/root:/bin/bash\napp:x:1000:1000::/home/app:/bin/sh\n"),
        file("etc/group", "root:x:0:\napp:x:1000:\n"),
        dir("home/app").owned_by(1000, 1000),
    ]
}

#[test]
fn folders_of_the_user_in_effect_stay_the_users() {
    let own = |members: Vec<Member>| members.into_iter().map(|member| member.owned_by(1000, 1000)).collect();
    let tool = program("home/app/.local/bin/serve", &["libcurand.so.10"]);
    let scene = base()
        .run("useradd --create-home app", users_and_groups())
        .set("USER app", "User", "app".into())
        .workdir("/home/app/work", "/home/app/work")
        .run("make -C /src install", own(vec![dir("home/app/.local"), dir("home/app/.local/bin"), tool]))
        .copy("run.sh .", own(vec![dir("home/app/work"), text("home/app/work/run.sh", 90)]))
        .cmd(&["/home/app/.local/bin/serve"]);
    let best = &scene.propose().list[0];
    has_lines(best, &["COPY --from=build --chown=app /home/app/.local /home/app/.local"]);
    let stage = last_stage(&best.dockerfile);
    let [user, folder] = ["USER app", "WORKDIR /home/app/work"].map(|line| stage.find(line).unwrap());
    assert!(stage.find("useradd").unwrap() < user && user < folder, "{stage}");
    // Elsewhere the number of the user in effect is not known: another one may own the folder.
    let tool = program("opt/tool/serve", &["libcurand.so.10"]).owned_by(1001, 1002);
    let scene = base()
        .run("useradd --create-home app", users_and_groups())
        .set("USER app", "User", "app".into())
        .run("make -C /src install", vec![dir("opt/tool").owned_by(1001, 1002), tool])
        .cmd(&["/opt/tool/serve"]);
    let stage = last_stage(&scene.propose().list[0].dockerfile).to_owned();
    assert!(!stage.contains("--chown=app"), "{stage}");
}

#[test]
fn headers_that_a_build_installs_stay_with_it() {
    let scene = built(base(), &["libcurand.so.10"])
        .run(
            "make -C build install",
            vec![
                text("usr/local/include/serve/serve.hpp", 3_000),
                text("usr/local/lib/pkgconfig/serve.pc", 200),
                text("usr/local/share/serve/words", 5_000),
            ],
        )
        .cmd(&["/usr/local/bin/serve"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    has_lines(best, &["COPY --from=build /usr/local/share/serve /usr/local/share/serve"]);
    has_none(best, &["/usr/local/include", "pkgconfig"]);
    assert!(gone(best).contains(&"/usr/local/include/serve/serve.hpp"));
    assert!(format!("{best:?}").contains("Sources, build files and unused installers stay"), "{best:#?}");
}

#[test]
fn what_jobs_of_cron_may_run_is_copied() {
    let left_out = |command: &[&str]| {
        let scene = built(base(), &["libcurand.so.10"])
            .copy("jobs /srv/jobs", vec![text("srv/jobs/Makefile", 200), text("srv/jobs/report.py", 900)])
            .copy("supercronic /usr/local/bin/", vec![program("usr/local/bin/supercronic", &[])])
            .run("make -C /srv/jobs", vec![program("srv/jobs/count", &[])])
            .cmd(command);
        let proposals = scene.propose();
        gone(&proposals.list[0]).contains(&"/srv/jobs/report.py")
    };
    assert!(left_out(&["/usr/local/bin/serve"]));
    assert!(!left_out(&["supercronic", "/etc/jobs"]));
}

#[test]
fn users_are_added_again_and_own_what_they_owned() {
    let owned = |path: &str| program(path, &["libcurand.so.10"]).owned_by(1000, 1000);
    let scene = base()
        .run("groupadd -g 1000 app && useradd -u 1000 -g app -m app", users_and_groups())
        .copy(
            "--chown=app:app . /srv",
            vec![
                dir("srv").owned_by(1000, 1000),
                owned("srv/serve"),
                text("srv/model.bin", 9_000).owned_by(1000, 1000),
            ],
        )
        .run("mkdir -p /data && chown app:app /data", vec![dir("data").owned_by(1000, 1000)])
        .set("USER app", "User", serde_json::json!("app"))
        .cmd(&["/srv/serve"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    has_lines(best, &["USER app"]);
    has_lines(best, &["COPY --chown=app:app . /srv", "RUN mkdir -p /data && chown app:app /data"]);
    let stage = last_stage(&best.dockerfile);
    let users = stage.find("useradd -u 1000 -g app -m app").expect(stage);
    assert!(users < stage.find("COPY --chown").unwrap(), "{stage}");
    has_none(best, &["/etc/passwd"]);
    assert!(stage.find("COPY").unwrap() < stage.find("USER app").unwrap(), "{stage}");
    // The same where something is compiled: a new stage has neither users nor what they own.
    let scene = built(base(), &["libcurand.so.10"])
        .run("groupadd -g 1000 app && useradd -u 1000 -g app -m app", users_and_groups())
        .copy("models /models", vec![text("models/model.bin", 9_000)])
        .run(
            "chown -R app:app /models",
            vec![dir("models").owned_by(1000, 1000), text("models/model.bin", 9_000).owned_by(1000, 1000)],
        )
        .set("USER app", "User", serde_json::json!("app"))
        .cmd(&["/usr/local/bin/serve"]);
    let proposals = scene.propose();
    let best = one(&proposals, "stages");
    let stage = last_stage(&best.dockerfile);
    let users = stage.find("useradd -u 1000 -g app -m app").expect(stage);
    assert!(users < stage.find("COPY --chown=app:app models /models").expect(stage), "{stage}");
    has_none(best, &["/etc/passwd", "chown -R"]);
}

#[test]
fn several_owners_in_one_folder_stay_as_the_instruction_gives_them() {
    let scene = base()
        .run("useradd -u 1000 -m app", users_and_groups())
        .copy(
            ". /srv",
            vec![program("srv/serve", &["libcurand.so.10"]), text("srv/state.db", 900).owned_by(1000, 1000)],
        )
        .cmd(&["/srv/serve"]);
    let best = &one(&scene.propose(), "base").clone();
    assert_ne!(best.applicability, Applicability::Safe);
    has_lines(best, &["COPY . /srv"]);
}

#[test]
fn what_a_build_left_in_a_copied_folder_is_kept_out_of_the_context() {
    let scene = base()
        .run("useradd -u 1000 -m app", users_and_groups())
        .set("USER app", "User", serde_json::json!("app"))
        .copy(
            "--chown=app . /srv",
            vec![
                dir("srv").owned_by(1000, 1000),
                program("srv/bin/serve", &["libcurand.so.10"]).owned_by(1000, 1000),
                file("srv/build/CMakeFiles/main.o", filler::code("o", 50_000)).owned_by(1000, 1000),
                text("srv/build/CMakeCache.txt", 3_000).owned_by(1000, 1000),
                file("srv/.git/objects/pack/one.pack", filler::code("pack", 70_000)).owned_by(1000, 1000),
            ],
        )
        .cmd(&["/srv/bin/serve"]);
    let best = &scene.propose().list[0];
    has_lines(best, &["COPY --chown=app . /srv", "USER app"]);
    has_none(best, &["rm -rf /srv"]);
    let hint = best.hints.iter().find(|hint| hint.file == ".dockerignore").expect("a hint");
    assert!(hint.lines.iter().any(|line| line.contains(".git")), "{hint:?}");
    assert!(gone(best).contains(&"/srv/build/CMakeCache.txt"), "{:?}", gone(best));
}

#[test]
fn what_an_unknown_command_fetches_is_fetched_again() {
    let scene = base()
        .run(
            "fetch",
            vec![
                text("tmp/download.bin", 30_000),
                text("var/tmp/other.bin", 5_000),
                text("var/cache/app/index", 7_000),
                text("var/log/install.log", 400),
                text("var/lib/app/state.db", 900),
                text("var/spool/app/queue", 300),
            ],
        )
        .copy("serve /opt/", vec![program("opt/serve", &["libcurand.so.10"])])
        .cmd(&["/opt/serve"]);
    let best = &scene.propose().list[0];
    has_lines(best, &["RUN fetch"]);
    let gone = gone(best);
    assert!(!gone.contains(&"/var/lib/app/state.db") && !gone.contains(&"/var/spool/app/queue"), "{gone:?}");
}

#[test]
fn the_command_in_a_temporary_folder_is_copied_all_the_same() {
    let scene = base()
        .run("make -C /tmp/build", vec![program("tmp/build/serve", &["libcurand.so.10"])])
        .cmd(&["/tmp/build/serve"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert!(last_stage(&best.dockerfile).contains("/tmp/build"), "{}", best.dockerfile);
}

#[test]
fn names_that_no_copy_can_write_never_break_a_line() {
    let odd: [&[u8]; 8] = [
        b"a b",
        b"$HOME",
        b"quote\"d",
        b"it's",
        b"new\nline RUN evil",
        b"not\xffutf8",
        b"back\\slash",
        b"star*",
    ];
    let mut members: Vec<Member> = Vec::new();
    for name in odd {
        members.push(file([b"srv/data/", name].concat(), vec![b'x'; 700]));
        // Beside files of the base, where no folder can be copied whole.
        members.push(file([b"usr/share/steps/", name].concat(), vec![b'y'; 500]));
        members.push(file([b"srv/", name, b"/inner/file"].concat(), vec![b'z'; 300]));
        members.push(symlink([b"etc/", name].concat(), "/srv/data"));
    }
    let scene = base()
        .copy(". /", members)
        .copy("serve /opt/", vec![program("opt/serve", &["libcurand.so.10"])])
        .cmd(&["/opt/serve"]);
    let proposals = scene.propose();
    let best = one(&proposals, "base");
    for line in lines(&best.dockerfile) {
        assert!(
            !line.trim_start().starts_with("RUN evil") && !line.contains("line RUN evil"),
            "{}",
            best.dockerfile
        );
    }
    has_lines(best, &["COPY . /"]);
}

#[test]
fn files_that_no_copy_can_write_come_by_the_instruction_that_brings_them() {
    let scene = base()
        .copy("words /etc/", vec![file("etc/two words", "x\n"), file("etc/plain", "y\n")])
        .copy("serve /opt/", vec![program("opt/serve", &["libcurand.so.10"])])
        .cmd(&["/opt/serve"]);
    let best = &one(&scene.propose(), "base").clone();
    has_lines(best, &["COPY words /etc/"]);
    assert!(!gone(best).iter().any(|path| path.contains("words")), "{:?}", gone(best));
}

#[test]
fn a_link_to_a_folder_of_the_toolkit_is_no_copy_of_it() {
    let scene = base()
        .run("ln -s /usr/local/cuda/lib64 /opt/libs", vec![symlink("opt/libs", "/usr/local/cuda/lib64")])
        .copy("serve /opt/", vec![program("opt/serve", &["libcurand.so.10"])])
        .cmd(&["/opt/serve"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    let names = gone(best);
    assert!(names.iter().any(|path| path.ends_with("/libcurand_static.a")), "{names:?}");
}

#[test]
fn libraries_of_the_user_go_with_their_links() {
    let scene = base()
        .run(
            "make install",
            [
                library("usr/local/lib", "libown.so.2", ".1", &["libcurand.so.10"]),
                vec![symlink("usr/local/lib/libown.so", "libown.so.2")],
            ]
            .concat(),
        )
        .copy("serve /opt/", vec![program("opt/serve", &["libown.so.2"])])
        .cmd(&["/opt/serve"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    has_lines(
        best,
        &[
            "COPY --from=build /usr/local/lib/libown.so.2.1 /usr/local/lib/libown.so.2.1",
            "&& ln -sfn libown.so.2.1 /usr/local/lib/libown.so.2 \\",
            "&& ldconfig",
        ],
    );
}

#[test]
fn names_in_a_cache_of_files_that_are_installed_stay_in_the_build_stage() {
    let venv = "app/.venv/lib/python3.10/site-packages";
    let cache = "root/.cache/uv/archive-v0/kq3";
    let scene = base()
        .run(
            "uv sync --no-binary-package one",
            vec![
                text(&format!("{venv}/one.py"), 7_000),
                file(format!("{venv}/two.py"), "two = 2\n".repeat(900)),
                hardlink(format!("{cache}/two.py"), format!("{venv}/two.py")),
                text("root/.cache/uv/simple-v16/one.rkyv", 90_000),
                symlink("root/.cache/uv/sdists-v9/editable/one", "../../archive-v0/kq3"),
            ],
        )
        .run("make install", vec![program("usr/local/bin/serve", &["libcurand.so.10"])])
        .cmd(&["/usr/local/bin/serve"]);
    for best in scene.propose().list.iter().filter(|one| one.id != "tidy") {
        let stage = last_stage(&best.dockerfile);
        assert!(stage.contains("COPY --from=build /app /app"), "{stage}");
        assert!(!stage.contains(".cache"), "{stage}");
    }
    // The layer has the file under its name in the cache, and libraries are found there.
    let (venv, cache) = ("workspace/.venv/lib/python3.10/site-packages", "root/.cache/uv/archive-v0/8cY");
    let mut module = Elf::library("").needing(&["libgemm.so"]);
    module.runpath = Some("$ORIGIN/../gemm.libs".to_owned());
    let module = module.build();
    let scene = base()
        .run(
            "uv sync --no-binary-package one",
            vec![
                file(format!("{cache}/gemm/core.so"), module),
                file(format!("{cache}/gemm.libs/libgemm.so"), Elf::library("libgemm.so").build()),
                hardlink(format!("{venv}/gemm/core.so"), format!("{cache}/gemm/core.so")),
                hardlink(format!("{venv}/gemm.libs/libgemm.so"), format!("{cache}/gemm.libs/libgemm.so")),
            ],
        )
        .run("make install", vec![program("usr/local/bin/serve", &["libcurand.so.10"])])
        .cmd(&["/usr/local/bin/serve"]);
    let analysis = scene.analysis();
    let plan = Plan::of_safe(analysis.findings.as_ref().unwrap());
    let proposals = analysis.propose(&plan, None).expect("findings").expect("proposals");
    for best in proposals.list.iter().filter(|one| one.id != "tidy") {
        let stage = last_stage(&best.dockerfile);
        assert!(stage.contains("COPY --from=build /workspace /workspace"), "{stage}");
        assert!(!stage.contains(".cache"), "{stage}");
    }
}

#[test]
fn a_link_out_of_a_cache_is_copied() {
    let scene = built(base(), &["libcurand.so.10"])
        .run(
            "make -C build install && ln -s /models/hub /root/.cache/huggingface/hub",
            vec![
                symlink("root/.cache/huggingface/hub", "/models/hub"),
                file("srv/condash/pkgs/v1/a.js", "a();\n".repeat(900)),
                hardlink("srv/condash/pkgs/v2/a.js", "srv/condash/pkgs/v1/a.js"),
            ],
        )
        .cmd(&["/usr/local/bin/serve"]);
    let analysis = scene.analysis();
    let plan = Plan::of_safe(analysis.findings.as_ref().unwrap());
    let proposals = analysis.propose(&plan, None).expect("findings").expect("proposals");
    let stage = last_stage(&proposals.list[0].dockerfile);
    assert!(stage.contains("/root/.cache") && stage.contains("/srv/condash"), "{stage}");
}

#[test]
fn a_folder_is_made_for_a_link_that_is_alone_in_it() {
    let scene = base()
        .run(
            "make install",
            vec![
                program("opt/serve/bin/serve", &["libcurand.so.10"]),
                symlink("usr/share/doc/serve/current", "/opt/serve"),
                text("usr/share/doc/serve/manual.txt", 90_000),
                symlink("etc/serve", "/opt/serve"),
            ],
        )
        .cmd(&["/opt/serve/bin/serve"]);
    let best = &scene.propose().list[0];
    let lines = ["mkdir -p /usr/share/doc/serve \\", "&& ln -sfn /opt/serve /usr/share/doc/serve/current"];
    for line in lines {
        assert!(last_stage(&best.dockerfile).contains(line), "{}", best.dockerfile);
    }
    assert!(!best.dockerfile.contains("mkdir -p /etc"), "{}", best.dockerfile);
}

#[test]
fn a_script_that_is_the_entrypoint_keeps_what_it_starts() {
    let script = file("entry.sh", "#!/usr/bin/env python3\nimport os\n").mode(0o755);
    let scene = devel()
        .apt("python3 cmake git", [python(), tools()].concat())
        .copy("entry.sh /", vec![script])
        .entrypoint(&["/entry.sh"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    has_lines(best, &["COPY entry.sh /"]);
    assert!(last_stage(&best.dockerfile).contains("python3"), "{}", best.dockerfile);
}

#[test]
fn two_runs_give_the_same() {
    let scene = built(base(), &["libcurand.so.10"]).cmd(&["/usr/local/bin/serve"]);
    let (one, two) = (scene.propose(), scene.propose());
    assert_eq!(format!("{:#?}", one.list), format!("{:#?}", two.list));
    assert_eq!((one.reason, one.notes), (two.reason, two.notes));
    let place = crate::support::Place::new();
    let reference = format!("oci:{}", place.put_layout("image", &scene.layout()));
    let given = place.put("Dockerfile", scene.dockerfile());
    let run = || {
        let outcome = place.run(&["dockerfile", &reference, "--dockerfile", &given, "--format", "json"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stdout
    };
    let (first, again) = (run(), run());
    assert_eq!(first, again);
    let answer: serde_json::Value = serde_json::from_str(&first).unwrap();
    let texts: Vec<&str> = answer["proposals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["dockerfile"].as_str().unwrap())
        .collect();
    assert_eq!(texts, two.list.iter().map(|one| one.dockerfile.as_str()).collect::<Vec<_>>());
}

#[test]
fn what_cannot_be_removed_by_name_stays_and_is_counted() {
    // A folder whose name no shell word holds, and more of them than a RUN names.
    let object = |path: &str, size: usize| file(path, filler::code(path, size));
    let mut members = vec![program("srv/serve", &["libcurand.so.10"])];
    members.push(object("srv/it's/CMakeFiles/main.o", 4_000));
    members.push(object("srv/a\nb/CMakeFiles/main.o", 5_000));
    members.extend(
        (0..200).map(|number| object(&format!("srv/part{number}/CMakeFiles/x/main.o"), 600 + number)),
    );
    let scene = base().copy(". /srv", members).cmd(&["/srv/serve"]);
    let best = &scene.propose().list[0];
    has_lines(best, &["COPY . /srv"]);
    // No list of two hundred folders.
    has_none(best, &["CMakeFiles"]);
}

#[test]
fn a_folder_that_the_base_has_is_copied_into_and_not_over() {
    let scene = base()
        .copy(
            "etc /etc/app",
            vec![text("etc/app/one.conf", 100), text("etc/app/two.conf", 100), text("etc/alone.conf", 50)],
        )
        .copy("licence /NGC-DL-CONTAINER-LICENSE", vec![file("NGC-DL-CONTAINER-LICENSE", "others\n")])
        .copy("serve /opt/nvidia/serve", vec![program("opt/nvidia/serve", &["libcurand.so.10"])])
        .cmd(&["/opt/nvidia/serve"]);
    for proposal in scene.propose().list.iter().filter(|one| one.id != "tidy") {
        has_lines(proposal, &["COPY etc /etc/app", "COPY licence /NGC-DL-CONTAINER-LICENSE"]);
    }
}

#[test]
fn an_archive_that_the_build_unpacks_is_not_copied_again() {
    let archive = |path: &str| file(path, filler::code(path, 60_000));
    let scene = base()
        .copy("lib.tar.gz /opt/src/", vec![archive("opt/src/lib.tar.gz")])
        .copy("models.tar.gz /opt/src/", vec![archive("opt/src/models.tar.gz")])
        .run(
            "cd /opt/src && tar xzf lib.tar.gz && make -C lib-1.0 install",
            vec![text("opt/src/lib-1.0/Makefile", 300), program("usr/local/bin/serve", &["libcurand.so.10"])],
        )
        .cmd(&["/usr/local/bin/serve"]);
    let proposals = scene.propose();
    let best = one(&proposals, "stages");
    let gone = gone(best);
    assert!(gone.contains(&"/opt/src/lib.tar.gz") && !gone.contains(&"/opt/src/models.tar.gz"), "{gone:?}");
    has_lines(best, &["COPY models.tar.gz /opt/src/"]);
    assert!(!gone.contains(&"/opt/assets.tar.gz"), "{gone:?}");
}

#[test]
fn what_a_later_step_removes_is_not_copied_as_it_was_before() {
    let stages = |more: &[Member]| {
        let packages = ["express", "typescript"]
            .map(|name| file(format!("srv/node_modules/{name}/index.js"), filler::code(name, 400_000)));
        let results = vec![
            text("srv/dist/index.js", 2_000),
            text("srv/node_modules/.package-lock.json", 500),
            program("usr/local/bin/serve", &["libcurand.so.10"]),
        ];
        let scene = base()
            .workdir("/srv", "/srv")
            .copy("package.json package-lock.json ./", vec![text("srv/package.json", 300)])
            .run("npm ci", packages.to_vec())
            .copy(". .", vec![text("srv/src/index.ts", 2_000)])
            .run("npm run build && make install", [&results, more].concat())
            .cmd(&["/usr/local/bin/serve", "/srv/dist/index.js"]);
        let best = &scene.propose().list[0];
        assert!(best.dockerfile.matches("FROM ").count() > 1, "{}", best.dockerfile);
        last_stage(&best.dockerfile).to_owned()
    };
    let stage = stages(&[]);
    assert!(stage.contains("COPY --from=deps"), "{stage}");
    let stage = stages(&[whiteout("srv/node_modules/typescript")]);
    assert!(!stage.contains("COPY --from=deps"), "{stage}");
}

#[test]
fn what_is_removed_from_dependencies_leaves_them_in_a_layer_of_their_own() {
    let stages = |later: &str| {
        let record = |path: &str| file(format!("srv/node_modules/{path}"), filler::code(path, 400_000));
        let mut packages = vec![record(".cache/babel-loader/one.json")];
        packages.extend(
            (0..8).map(|n| file(format!("srv/node_modules/express/{n}.js"), filler::code("js", 100_000 + n))),
        );
        let scene = base()
            .workdir("/srv", "/srv")
            .copy("package.json package-lock.json ./", vec![text("srv/package.json", 300)])
            .run("npm ci", packages)
            .copy(". .", vec![text("srv/src/index.ts", 2_000)])
            .run(
                "npm run build && make install",
                vec![
                    text("srv/dist/index.js", 2_000),
                    text("srv/node_modules/.package-lock.json", 500),
                    record(later),
                    program("usr/local/bin/serve", &["libcurand.so.10"]),
                ],
            )
            .cmd(&["/usr/local/bin/serve", "/srv/dist/index.js"]);
        scene.propose().list[0].dockerfile.clone()
    };
    // The build may use what is removed: a stage of its own removes it.
    let text = stages("express/made.js");
    let removal = "FROM deps AS runtime-deps\nRUN rm -rf /srv/node_modules/.cache\n\n";
    assert!(text.contains("FROM deps AS build") && text.contains(removal), "{text}");
    // Before the code: its change does not copy them again.
    let at = |line: &str| last_stage(&text).find(line).expect(line);
    assert!(at("COPY --from=runtime-deps") < at("COPY . ."), "{text}");
    let copies = [
        "COPY --from=runtime-deps /srv/node_modules /srv/node_modules",
        "COPY --from=build /srv/node_modules/.package-lock.json",
    ];
    assert!(copies.iter().all(|copy| last_stage(&text).contains(copy)), "{text}");
    // Files of both parts.
    let text = stages(".cache/babel-loader/two.json");
    assert!(!text.contains("runtime-deps") && text.contains("RUN rm -rf /srv/node_modules/.cache"), "{text}");
}

#[test]
fn packages_for_development_are_removed_by_npm_after_the_build() {
    let record = serde_json::json!({"packages": {
        "node_modules/express": {"version": "5.1.0"},
        "node_modules/typescript": {"version": "5.9.3", "dev": true},
    }});
    let mut packages = vec![file("srv/node_modules/typescript/index.js", filler::code("tsc", 400_000))];
    packages.extend(
        (0..8)
            .map(|n| file(format!("srv/node_modules/express/{n}.js"), filler::code("express", 100_000 + n))),
    );
    let record = file("srv/node_modules/.package-lock.json", record.to_string());
    let scene = base()
        .workdir("/srv", "/srv")
        .copy("package.json package-lock.json ./", vec![text("srv/package.json", 300)])
        .run("npm ci", [&packages[..], &[record]].concat())
        .copy(". .", vec![text("srv/src/index.ts", 2_000)])
        .run(
            "npm run build && make install",
            vec![
                text("srv/dist/index.js", 2_000),
                text("srv/node_modules/.cache", 2_000),
                program("usr/local/bin/serve", &["libcurand.so.10"]),
            ],
        )
        .cmd(&["/usr/local/bin/serve", "/srv/dist/index.js"]);
    let analysis = scene.analysis();
    let findings = analysis.findings.as_ref().unwrap();
    // As long as the question is open, they stay.
    let safe = Plan::of_safe(findings);
    let best = &scene.propose_by(&analysis, &safe, &scene.dockerfile()).list[0];
    assert!(!best.dockerfile.contains("npm prune"), "{}", best.dockerfile);
    assert!(!gone(best).iter().any(|path| path.contains("node_modules")), "{:?}", gone(best));
    let finding = findings.list.iter().find(|one| one.rule.id == "development-packages").unwrap();
    let mut answers = Answers::default();
    answers.give(finding.id.clone(), Answer::Unused);
    let plan = Plan::of(findings, |one| one.verdict == Verdict::Safe, answers);
    let best = &scene.propose_by(&analysis, &plan, &scene.dockerfile()).list[0];
    assert!(best.dockerfile.contains("RUN npm prune --omit=dev\n\nFROM "), "{}", best.dockerfile);
    assert!(!best.dockerfile.contains("rm -rf /srv"), "{}", best.dockerfile);
    assert!(gone(best).contains(&"/srv/node_modules/typescript/index.js"), "{:?}", gone(best));
    assert!(!gone(best).contains(&"/srv/node_modules/express/0.js"), "{:?}", gone(best));
}
