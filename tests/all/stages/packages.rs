//! What the final stage installs again, and what it copies over it.

use cutaway::findings::Plan;
use cutaway::rewrite::{Applicability, Given};

use super::parts::{BASE, TRIPLE, built, devel, library, program, python, static_library, text, tools};
use super::scene::{Deb, Scene, deb, gone, has_lines, has_none, last_stage, one};
use crate::fixtures::elf::Elf;
use crate::fixtures::service::wheel;
use crate::fixtures::tarball::{Member, file, symlink};

const INSTALL: &str = "apt-get update && apt-get install -y --no-install-recommends";

fn nginx() -> Vec<Deb> {
    vec![deb(
        "nginx",
        "libc6",
        vec![
            program("usr/sbin/nginx", &[]),
            file("etc/nginx/nginx.conf", "worker_processes auto;\n"),
            file("etc/nginx/mime.types", "types { }\n"),
        ],
    )]
}

fn jansson() -> Vec<Deb> {
    vec![
        deb("libjansson4", "libc6", library(TRIPLE, "libjansson.so.4", ".14.0", &["libc.so.6"])),
        deb(
            "libjansson-dev",
            "libjansson4",
            vec![
                text("usr/include/jansson.h", 20_000),
                static_library(&format!("{TRIPLE}/libjansson.a"), 80_000),
                symlink(format!("{TRIPLE}/libjansson.so"), "libjansson.so.4"),
            ],
        ),
    ]
}

/// The words of the lines that install packages in the final stage.
fn installed(text: &str) -> Vec<&str> {
    let stage = last_stage(text);
    let Some((_, list)) = stage.split_once("--no-install-recommends") else { return Vec::new() };
    let list = list.split_once("&&").map_or(list, |(list, _)| list);
    list.split_whitespace().filter(|word| *word != "\\").collect()
}

#[test]
fn a_library_of_a_package_for_building_comes_by_its_own_package() {
    let scene =
        built(devel().apt("cmake git libjansson-dev", [tools(), jansson()].concat()), &["libjansson.so.4"])
            .cmd(&["/usr/local/bin/serve"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert_eq!(best.base_image.as_deref(), Some(BASE));
    assert_eq!(installed(&best.dockerfile), ["libjansson4"]);
    let gone = gone(best);
    assert!(gone.contains(&"/usr/include/jansson.h"), "{gone:?}");
    assert!(!gone.iter().any(|path| path.contains("libjansson.so.4")), "{gone:?}");
    let reason = best.reasons.iter().find(|reason| reason.text.contains("libjansson4"));
    assert!(reason.is_some(), "{:#?}", best.reasons);
}

#[test]
fn a_package_for_building_that_the_program_needs_stays_where_it_is() {
    let scene = devel()
        .install(
            &format!("{INSTALL} cmake libjansson-dev git"),
            [
                tools(),
                vec![deb(
                    "libjansson-dev",
                    "libc6",
                    library(TRIPLE, "libjansson.so.4", ".14.0", &["libc.so.6"]),
                )],
            ]
            .concat(),
            Vec::new(),
        )
        .copy("serve /usr/local/bin/serve", vec![program("usr/local/bin/serve", &["libjansson.so.4"])])
        .cmd(&["/usr/local/bin/serve"]);
    for best in scene.propose().list.iter().filter(|one| one.id != "tidy") {
        assert!(best.closure.resolved, "{:#?}", best.closure);
        assert_eq!(installed(&best.dockerfile), ["libjansson-dev"], "{}", best.dockerfile);
        let of_it = |text: &str| text.contains("libjansson-dev");
        let said: Vec<&String> =
            best.reasons.iter().map(|reason| &reason.text).filter(|text| of_it(text)).collect();
        assert!(said.is_empty(), "{said:?}");
    }
}

#[test]
fn a_package_is_added_even_if_the_instruction_installs_nothing_any_more() {
    let scene = devel()
        .install(
            &format!("{INSTALL} cmake git && echo ready > /etc/motd"),
            tools(),
            vec![file("etc/motd", "ready\n")],
        )
        .copy("serve /usr/local/bin/serve", vec![program("usr/local/bin/serve", &["libcurand.so.10"])])
        .cmd(&["/usr/local/bin/serve"]);
    let best = &scene.propose().list[0];
    assert_eq!(best.base_image.as_deref(), Some(BASE));
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert_eq!(installed(&best.dockerfile), ["libcurand-12-4"], "{}", best.dockerfile);
    assert!(best.dockerfile.contains("RUN echo ready > /etc/motd"), "{}", best.dockerfile);
}

#[test]
fn archives_that_apt_leaves_behind_are_removed_in_the_final_stage_too() {
    for (command, end) in [
        (format!("{INSTALL} nginx cmake"), "&& apt-get clean \\\n    && rm -rf /var/lib/apt/lists/*"),
        (
            format!("{INSTALL} nginx cmake && rm -rf /var/lib/apt/lists/*"),
            "&& rm -rf /var/lib/apt/lists/* \\\n    && apt-get clean",
        ),
    ] {
        let archive = file("var/cache/apt/archives/nginx_1.0-1_amd64.deb", "!<arch>\n".repeat(4_000));
        let scene = devel().install(&command, [nginx(), tools()].concat(), vec![archive]);
        let scene = built(scene, &[]).cmd(&["/usr/local/bin/serve"]);
        let best = one(&scene.propose(), "stages").clone();
        assert!(last_stage(&best.dockerfile).contains(end), "{}", best.dockerfile);
        assert!(gone(&best).iter().any(|path| path.contains("/nginx_1.0-1_")), "{:?}", gone(&best));
    }
}

#[test]
fn an_update_of_its_own_does_not_lose_packages_that_are_added() {
    let install = "apt-get install -y --no-install-recommends";
    let scene = devel().run("apt-get update", vec![file("var/lib/apt/lists/Packages", "a list")]).install(
        &format!("{install} nginx cmake libjansson-dev"),
        [nginx(), tools(), jansson()].concat(),
        Vec::new(),
    );
    let scene = built(scene, &["libjansson.so.4"]).cmd(&["/usr/local/bin/serve"]);
    let best = one(&scene.propose(), "stages").clone();
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert_eq!(installed(&best.dockerfile), ["nginx", "libjansson4"], "{}", best.dockerfile);
}

#[test]
fn an_installation_without_an_update_of_its_own_gets_one() {
    let install = "apt-get install -y --no-install-recommends";
    let alone = devel().run("apt-get update", vec![file("var/lib/apt/lists/Packages", "a list")]).install(
        &format!("{install} nginx cmake"),
        [nginx(), tools()].concat(),
        Vec::new(),
    );
    let two = devel().install(&format!("{INSTALL} cmake"), tools(), Vec::new()).install(
        &format!("{install} nginx"),
        nginx(),
        Vec::new(),
    );
    let apart = devel()
        .run("apt-get update", vec![file("var/lib/apt/lists/Packages", "a list")])
        .copy("settings.conf /etc/settings.conf", vec![file("etc/settings.conf", "a=1\n")])
        .install(&format!("{install} nginx cmake"), [nginx(), tools()].concat(), Vec::new());
    for scene in [alone, two, apart] {
        let scene = built(scene, &[]).cmd(&["/usr/local/bin/serve"]);
        for proposal in scene.propose().list {
            assert!(
                !proposal.closure.unproven.iter().any(|line| line.contains("overlapping")),
                "{:#?}",
                proposal.closure
            );
            let stage = last_stage(&proposal.dockerfile);
            assert!(stage.contains("nginx") && !stage.contains("cmake"), "{stage}");
            if proposal.id == "stages" {
                let run = format!("RUN apt-get update && {install} nginx");
                assert!(stage.contains(&run), "{stage}");
                assert_eq!(stage.matches("apt-get update").count(), 1, "{stage}");
            }
        }
        assert!(one(&scene.propose(), "stages").closure.resolved);
    }
}

#[test]
fn words_with_versions_are_kept_as_they_are() {
    let scene = devel()
        .apt("nginx=1.0-1 libjansson4=1.0-1 cmake=1.0-1", [nginx(), tools(), jansson()].concat())
        .cmd(&["nginx", "-g", "daemon off;"]);
    let best = &scene.propose().list[0];
    assert_eq!(installed(&best.dockerfile), ["nginx=1.0-1", "libjansson4=1.0-1"]);
    assert!(best.closure.resolved, "{:#?}", best.closure);
}

#[test]
fn packages_in_a_variable_are_said_and_needed_ones_are_named() {
    let scene = built(
        devel().arg("EXTRA", "libjansson-dev").install(
            &format!("{INSTALL} cmake $EXTRA"),
            [tools(), jansson()].concat(),
            Vec::new(),
        ),
        &["libjansson.so.4"],
    )
    .cmd(&["/usr/local/bin/serve"]);
    let best = one(&scene.propose(), "stages").clone();
    assert_eq!(best.applicability, Applicability::Manual);
    assert!(best.closure.unproven.iter().any(|line| line.contains("$EXTRA")), "{:#?}", best.closure);
    assert_eq!(installed(&best.dockerfile), ["$EXTRA", "libjansson4"]);
}

#[test]
fn a_file_of_a_package_that_a_later_layer_writes_comes_behind_it() {
    let conf = file("etc/nginx/nginx.conf", "worker_processes 4;\nevents { }\n");
    let scene = devel()
        .apt("nginx cmake git", [nginx(), tools()].concat())
        .copy("nginx.conf /etc/nginx/nginx.conf", vec![conf])
        .cmd(&["nginx", "-g", "daemon off;"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    let stage = last_stage(&best.dockerfile);
    let install = stage.find("nginx").unwrap();
    let copy = stage.find("COPY nginx.conf /etc/nginx/nginx.conf").expect(stage);
    assert!(install < copy, "{stage}");
    has_none(best, &["mime.types", "COPY --from=build /usr/sbin"]);
}

#[test]
fn a_file_of_a_package_that_the_same_run_edits_comes_behind_it() {
    for edit in [
        "sed -i s/auto/4/ /etc/nginx/nginx.conf",
        "sed -i s/auto/4/ /etc/nginx/*.conf",
        "cd /etc/nginx && sed -i s/auto/4/ nginx.conf",
    ] {
        let conf = file("etc/nginx/nginx.conf", "worker_processes 4;\n");
        let scene = devel()
            .install(&format!("{INSTALL} nginx cmake && {edit}"), [nginx(), tools()].concat(), vec![conf])
            .cmd(&["nginx", "-g", "daemon off;"]);
        let best = &scene.propose().list[0];
        let install = format!("--no-install-recommends nginx && {edit}");
        assert!(last_stage(&best.dockerfile).contains(&install), "{edit}\n{}", best.dockerfile);
    }
}

#[test]
fn a_source_of_packages_is_told_of_again() {
    let source = "curl -fsSL https://deb.example.org/key.asc | gpg --dearmor -o /usr/share/keyrings/example.gpg && \
        echo 'deb [signed-by=/usr/share/keyrings/example.gpg] https://deb.example.org stable main' > /etc/apt/sources.list.d/example.list";
    let members = vec![
        file("usr/share/keyrings/example.gpg", "a key\n"),
        file("etc/apt/sources.list.d/example.list", "deb https://deb.example.org stable main\n"),
    ];
    let scene = devel()
        .run(source, members.clone())
        .apt("nginx cmake git", [nginx(), tools()].concat())
        .cmd(&["nginx"]);
    let best = &scene.propose().list[0];
    let stage = last_stage(&best.dockerfile);
    // Before the packages are installed: by the same instruction, or the files that it wrote.
    let before = stage.split("apt-get install").next().unwrap();
    let copied = ["/usr/share/keyrings/example.gpg", "/etc/apt/sources.list.d/example.list"];
    assert!(before.contains(source) || copied.iter().all(|path| before.contains(path)), "{stage}");
    // In one RUN with other work it is left to the user, unless the files are copied.
    let scene = devel()
        .install(
            &format!("{source} && {INSTALL} nginx cmake && make -C /src"),
            [nginx(), tools()].concat(),
            members,
        )
        .cmd(&["nginx"]);
    let best = &one(&scene.propose(), "stages").clone();
    let before = last_stage(&best.dockerfile).split("apt-get install").next().unwrap();
    let said = best.closure.unproven.iter().any(|line| line.contains("source of packages"));
    let is_copied = copied.iter().all(|path| before.contains(path));
    assert!(
        is_copied || said && best.applicability == Applicability::Manual,
        "{}\n{:#?}",
        best.dockerfile,
        best.closure
    );
}

#[test]
fn a_source_that_downloads_by_curl_has_curl() {
    // The build stage has curl from the devel image; the distribution's own image has none.
    let source = "curl -fsSL https://deb.example.org/key.asc -o /etc/apt/keyrings/example.asc && \
        echo 'deb [signed-by=/etc/apt/keyrings/example.asc] https://deb.example.org stable main' > /etc/apt/sources.list.d/example.list";
    let scene = devel()
        .apt(
            "curl ca-certificates",
            vec![
                deb("curl", "libc6", vec![program("usr/bin/curl", &[])]),
                deb("ca-certificates", "", vec![text("usr/share/ca-certificates/one.crt", 500)]),
            ],
        )
        .run(
            source,
            vec![
                file("etc/apt/keyrings/example.asc", "a key\n"),
                file("etc/apt/sources.list.d/example.list", "deb https://deb.example.org stable main\n"),
            ],
        )
        .apt("nginx cmake git", [nginx(), tools()].concat())
        .cmd(&["nginx"]);
    let best = &scene.propose().list[0];
    let stage = last_stage(&best.dockerfile);
    if let Some(used) = stage.find("RUN curl") {
        let there = stage[..used].contains("apt-get install");
        let said = best.closure.unproven.iter().any(|line| line.contains("curl"));
        assert!(
            there || said,
            "curl is started before it is there, and nobody says so: {stage}\n{:#?}",
            best.closure
        );
    }
}

#[test]
fn links_of_alternatives_are_left_to_their_packages() {
    let editor = vec![deb("vim-tiny", "libc6", vec![program("usr/bin/vim.tiny", &[])])];
    let links = vec![
        symlink("etc/alternatives/editor", "/usr/bin/vim.tiny"),
        symlink("usr/bin/editor", "/etc/alternatives/editor"),
    ];
    let scene = devel()
        .install(&format!("{INSTALL} vim-tiny cmake"), [editor, tools()].concat(), links)
        .copy("serve /opt/serve", vec![program("opt/serve", &[])])
        .cmd(&["/opt/serve"]);
    let best = &scene.propose().list[0];
    has_none(best, &["alternatives", "ln -sfn"]);
    assert_eq!(installed(&best.dockerfile), ["vim-tiny"]);
}

#[test]
fn links_of_the_user_are_made_as_they_are_today() {
    let links = vec![
        symlink("usr/bin/python", "python3.10"),
        symlink("opt/current", "/opt/release-1"),
        text("opt/release-1/app.py", 900),
    ];
    let scene = devel()
        .apt("python3 cmake git", [python(), tools()].concat())
        .run("ln -s python3.10 /usr/bin/python && ln -s /opt/release-1 /opt/current", links)
        .cmd(&["python", "/opt/current/app.py"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert_eq!(installed(&best.dockerfile), ["python3"]);
    let stage = last_stage(&best.dockerfile);
    assert!(
        stage.contains("ln -s python3.10 /usr/bin/python && ln -s /opt/release-1 /opt/current"),
        "{stage}"
    );
}

/// A virtual environment in `folder` with the package `app` and its program, of the Python `python`.
fn environment(folder: &str, python: &str, settings: &str) -> Vec<Member> {
    let site = format!("{folder}/lib/python3.10/site-packages");
    let mut members = wheel(&site, "app", "1.0", &[("app/__init__.py", b"pass\n".to_vec())]);
    members.extend([
        file(format!("{folder}/pyvenv.cfg"), format!("home = /usr/bin\n{settings}\n")),
        symlink(format!("{folder}/bin/python3"), python),
        symlink(format!("{folder}/bin/python"), "python3"),
        file(format!("{folder}/bin/serve"), format!("#!/{folder}/bin/python\nimport app\n")).mode(0o755),
    ]);
    members
}

#[test]
fn a_virtual_environment_keeps_the_python_that_it_is_of() {
    let members = environment("opt/venv", "/usr/bin/python3", "version = 3.10.12");
    let venv = deb("python3-venv", "python3", vec![text("usr/lib/python3.10/ensurepip/wheel.py", 4_000)]);
    let scene: Scene = devel()
        .apt("python3 python3-venv cmake git", [python(), vec![venv], tools()].concat())
        .run("python3 -m venv /opt/venv && /opt/venv/bin/pip install app", members)
        .cmd(&["/opt/venv/bin/serve"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert!(installed(&best.dockerfile).contains(&"python3"), "{}", best.dockerfile);
    has_lines(best, &["RUN python3 -m venv /opt/venv && /opt/venv/bin/pip install app"]);
    let gone = gone(best);
    assert!(
        !gone.contains(&"/usr/bin/python3.10") && !gone.contains(&"/usr/lib/python3.10/os.py"),
        "{gone:?}"
    );
    assert!(!installed(&best.dockerfile).contains(&"cmake"));
}

#[test]
fn modules_of_the_system_come_with_environments_that_search_them() {
    let resources = "usr/lib/python3/dist-packages/pkg_resources/__init__.py";
    for (setting, is_named) in [("true", true), ("false", false)] {
        let settings = format!("include-system-site-packages = {setting}");
        let members = environment("opt/venv", "/usr/bin/python3", &settings);
        let resources = deb("python3-pkg-resources", "python3", vec![text(resources, 4_000)]);
        let scene: Scene = devel()
            .apt("python3 cmake git", [python(), vec![resources], tools()].concat())
            .run("python3 -m venv /opt/venv && /opt/venv/bin/pip install app", members)
            .cmd(&["/opt/venv/bin/serve"]);
        let best = &scene.propose().list[0];
        assert!(best.closure.resolved, "{:#?}", best.closure);
        let installed = installed(&best.dockerfile);
        assert_eq!(installed.contains(&"python3-pkg-resources"), is_named, "{setting}: {}", best.dockerfile);
    }
}

#[test]
fn a_virtual_environment_of_a_python_that_nobody_named_keeps_it_too() {
    // Python came as a dependency of something that goes.
    let members = environment("opt/venv", "/usr/bin/python3.10", "version = 3.10.12");
    let headers = deb("python3.10-dev", "python3.10", vec![text("usr/include/python3.10/Python.h", 60_000)]);
    let scene = devel()
        .apt("python3.10-dev cmake git", [python(), vec![headers], tools()].concat())
        .run("python3.10 -m venv /opt/venv && /opt/venv/bin/pip install app", members)
        .cmd(&["/opt/venv/bin/serve"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    // git is a question where Python is: nobody has said that it is used.
    assert_eq!(installed(&best.dockerfile), ["python3.10"]);
}

#[test]
fn a_script_that_starts_an_environment_does_not_keep_installers_of_the_system() {
    let members = environment("opt/venv", "/usr/bin/python3", "include-system-site-packages = false");
    let modules = wheel(
        "usr/lib/python3/dist-packages",
        "setuptools",
        "66.1",
        &[("setuptools/__init__.py", vec![b'#'; 4_000])],
    );
    let setuptools = deb("python3-setuptools", "python3", modules);
    let pip = deb(
        "python3-pip",
        "python3, python3-setuptools",
        vec![text("usr/lib/python3/dist-packages/pip.py", 4_000)],
    );
    let script = "#!/bin/sh\n. /opt/venv/bin/activate\nexec serve\n";
    let packages = [python(), vec![setuptools, pip], tools()].concat();
    let scene = built(devel().apt("python3 python3-pip cmake git", packages), &[])
        .run("python3 -m venv /opt/venv && /opt/venv/bin/pip install app", members)
        .copy("start.sh /start.sh", vec![file("start.sh", script).mode(0o755)])
        .cmd(&["/start.sh"]);
    let best = &scene.propose().list[0];
    assert!(!installed(&best.dockerfile).contains(&"python3-pip"), "{}", best.dockerfile);
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert!(format!("{:?}", best.closure).contains("a shell script may run"), "{:#?}", best.closure);
}

#[test]
fn a_later_change_of_owners_does_not_part_a_virtual_environment() {
    let mut members = environment("srv/api/venv", "/usr/bin/python3.10", "version = 3.10.12");
    let names = ["activate", "alembic", "celery", "flask", "gunicorn", "pip"];
    let script = "#!/srv/api/venv/bin/python\nimport app\n";
    members.extend(names.map(|name| file(format!("srv/api/venv/bin/{name}"), script).mode(0o755)));
    let owned: Vec<_> = members.iter().map(|member| member.clone().owned_by(1000, 1000)).collect();
    let scene = built(devel().apt("python3.10 cmake git", [python(), tools()].concat()), &[])
        .run("python3.10 -m venv /srv/api/venv && /srv/api/venv/bin/pip install app", members)
        .copy("serve.conf /etc/serve.conf", vec![file("etc/serve.conf", "a=1\n")])
        .run("chown -R 1000:1000 /srv/api", owned)
        .cmd(&["/srv/api/venv/bin/serve"]);
    let best = one(&scene.propose(), "stages").clone();
    assert!(best.closure.resolved, "{:#?}", best.closure);
    let stage = last_stage(&best.dockerfile);
    let copies: Vec<&str> = stage.lines().filter(|line| line.contains("/srv/api")).collect();
    assert!(copies.iter().any(|line| line.starts_with("COPY") && line.contains(" /srv/api")), "{stage}");
    assert!(!stage.contains("/venv/bin "), "{stage}");
}

#[test]
fn an_extension_that_a_package_manager_compiled_makes_a_build_stage() {
    let compiler = || {
        vec![
            deb("nodejs", "libc6", vec![program("usr/bin/node", &["libc.so.6"])]),
            deb("ruby", "libc6", vec![program("usr/bin/ruby", &["libc.so.6"])]),
            deb("make", "libc6", vec![program("usr/bin/make", &[]), text("usr/include/make.h", 90_000)]),
        ]
    };
    let module = || Elf::library("").needing(&["libc.so.6"]).build();
    let addon = "srv/node_modules/better-sqlite3/build";
    let gem = "var/lib/gems/3.1.0/extensions/x86_64-linux/3.1.0/ffi-1.15.5";
    for (command, run, members) in [
        (
            "npm install",
            &["/usr/bin/node", "server.js"],
            vec![
                file(format!("{addon}/Makefile"), "all:\n\tg++ -shared\n"),
                file(format!("{addon}/Release/better_sqlite3.node"), module()),
            ],
        ),
        (
            "bundle install",
            &["/usr/bin/ruby", "server.js"],
            vec![file(format!("{gem}/gem.build_complete"), ""), file(format!("{gem}/ffi_c.so"), module())],
        ),
    ] {
        let scene = devel()
            .apt("nodejs ruby make", compiler())
            .workdir("/srv", "/srv")
            .run(command, members)
            .copy("server.js .", vec![text("srv/server.js", 300)])
            .cmd(run);
        let proposals = scene.propose();
        let best = one(&proposals, "stages");
        assert!(last_stage(&best.dockerfile).contains("COPY --from=build"), "{}", best.dockerfile);
        assert!(!last_stage(&best.dockerfile).contains(command), "{}", best.dockerfile);
        assert!(proposals.list.iter().all(|one| one.id.starts_with("stages") || one.id == "tidy"));
    }
    // Downloaded ready: the same instructions on a smaller base.
    let scene = devel()
        .apt("nodejs ruby make", compiler())
        .workdir("/srv", "/srv")
        .run("npm install", vec![file("srv/node_modules/sharp/build/Release/sharp.node", module())])
        .copy("server.js .", vec![text("srv/server.js", 300)])
        .cmd(&["/usr/bin/node", "server.js"]);
    assert!(scene.propose().list.iter().all(|one| !one.id.starts_with("stages")));
}

#[test]
fn a_script_of_the_project_that_leaves_programs_is_a_build() {
    let compiler = || {
        let make = vec![program("usr/bin/make", &[]), text("usr/include/make.h", 90_000)];
        vec![
            deb("python3", "libc6", vec![program("usr/bin/python3", &["libc.so.6"])]),
            deb("make", "libc6", make),
        ]
    };
    let library = || file("srv/app/libtopk.so", Elf::library("libtopk.so").needing(&["libc.so.6"]).build());
    let scene = |command: &str, members: Vec<Member>| {
        devel()
            .apt("python3 make", compiler())
            .workdir("/srv", "/srv")
            .run(command, members)
            .copy("main.py .", vec![text("srv/main.py", 300)])
            .cmd(&["/usr/bin/python3", "main.py"])
            .propose()
    };
    for command in [
        "mkdir app && bash /tmp/native/build.sh /srv/app && rm -rf /tmp/native",
        "./scripts/build_native.sh",
        "python3 scripts/build_native.py",
        "cythonize -i app/fast.pyx",
        "sh -c \"make -C native\"",
        "ant -q dist",
    ] {
        let proposals = scene(command, vec![library()]);
        let best = one(&proposals, "stages");
        let last = last_stage(&best.dockerfile);
        assert!(last.contains("COPY --from=build") && !last.contains(command), "{}", best.dockerfile);
        assert!(best.dockerfile.contains(command), "{}", best.dockerfile);
        assert!(
            proposals.list.iter().all(|one| one.id.starts_with("stages") || one.id == "tidy"),
            "{command}"
        );
    }
    // What is downloaded was compiled elsewhere, and what leaves no program compiled nothing.
    for (command, members) in [
        ("curl -fsSL https://example.org/x.tgz | tar xz -C /srv/app", vec![library()]),
        ("curl -fsSL https://example.org/install.sh | sh -s -- -y", vec![library()]),
        ("curl -fsSL https://example.org/install.sh | env UV_INSTALL_DIR=/opt sh", vec![library()]),
        ("curl -fsSLo /usr/local/bin/gosu https://example.org/gosu && gosu nobody true", vec![library()]),
        (
            "curl -LO https://example.org/kubectl && install -m 0755 kubectl /usr/local/bin/kubectl",
            vec![library()],
        ),
        ("wget -q https://example.org/x.zip && unzip x.zip && ./aws/install", vec![library()]),
        ("wget -q https://example.org/dotnet-install.sh && bash dotnet-install.sh", vec![library()]),
        ("bash -c \"curl -fsSL https://example.org/x.tgz | tar xz\"", vec![library()]),
        ("find /srv -name '*.tmp' -exec rm {} +", vec![library()]),
        ("python3 -m playwright install", vec![library()]),
        ("terraform -version", vec![library()]),
        ("python3 scripts/fetch.py", vec![text("srv/data.bin", 300)]),
    ] {
        let proposals = scene(command, members);
        assert!(proposals.list.iter().all(|one| !one.id.starts_with("stages")), "{command}");
    }
}

#[test]
fn tools_that_a_script_of_the_build_calls_stay_beside_it() {
    let installs_git = |script: Option<&str>| {
        let git = vec![program("usr/bin/git", &["libc.so.6"]), text("usr/lib/git-core/git-x", 900_000)];
        let python = vec![program("usr/bin/python3", &["libc.so.6"])];
        let mut scene = devel()
            .apt("python3 git", vec![deb("python3", "libc6", python), deb("git", "libc6", git)])
            .workdir("/srv", "/srv");
        if let Some(script) = script {
            scene = scene.copy("fetch.sh .", vec![file("srv/fetch.sh", script).mode(0o755)]);
        }
        let scene = scene
            .run("./fetch.sh /srv/data", vec![text("srv/data/words.txt", 300)])
            .copy("main.py .", vec![text("srv/main.py", 300)])
            .cmd(&["/usr/bin/python3", "main.py"]);
        let proposals = scene.propose();
        let changed = proposals.list.iter().find(|one| one.id != "tidy").expect("a proposal");
        installed(&changed.dockerfile).contains(&"git")
    };
    assert!(installs_git(Some("#!/bin/sh\ngit clone -q https://example.org/words \"$1\"\n")));
    assert!(installs_git(None), "a script that the image does not have");
    assert!(!installs_git(Some("#!/bin/sh\ncurl -fsSL https://example.org/words -o \"$1\"\n")));
}

#[test]
fn a_recommended_package_whose_module_is_enabled_is_named() {
    let php = || {
        vec![
            deb("php8.2-cli", "libc6", vec![program("usr/bin/php8.2", &["libc.so.6"])]),
            deb("php8.2-xml", "php8.2-cli", library("usr/lib/php/20220829", "dom.so", "", &["libc.so.6"])),
            deb("php8.2-zip", "php8.2-cli", library("usr/lib/php/20220829", "zip.so", "", &["libc.so.6"])),
        ]
    };
    let scene = devel()
        .install(
            "apt-get update && apt-get install -y php8.2-cli cmake git && rm -rf /var/lib/apt/lists/*",
            [php(), tools()].concat(),
            Vec::new(),
        )
        .copy(
            "dom.ini /etc/php/8.2/cli/conf.d/",
            vec![file("etc/php/8.2/cli/conf.d/dom.ini", "; priority=20\nextension=dom.so\n")],
        )
        .copy("index.php /srv/", vec![text("srv/index.php", 300)])
        .cmd(&["/usr/bin/php8.2", "/srv/index.php"]);
    let proposals = scene.propose();
    for proposal in &proposals.list {
        let installed = installed(&proposal.dockerfile);
        assert!(installed.contains(&"php8.2-xml") && !installed.contains(&"php8.2-zip"), "{installed:?}");
    }
    assert!(proposals.list.iter().any(|one| one.id == "base"));
}

#[test]
fn recommended_packages_that_nothing_uses_are_not_named() {
    // A list is for builds; a module that builds extensions names libraries of all systems; a page of documentation has
    // the style of a program that made it.
    let page = symlink("usr/share/doc/curl/html/base.css", "/usr/share/mkdocs/base.css");
    let debs = || {
        vec![
            deb("libx11-6", "libc6", library("usr/lib/x86_64-linux-gnu", "libX11.so.6", "", &[])),
            deb("clang", "libc6", vec![program("usr/bin/clang", &["libc.so.6"])]),
            deb("golang-misc", "clang", vec![text("usr/share/golang/list", 3_000)]),
            deb("curl", "libc6", vec![program("usr/bin/curl", &["libc.so.6"]), page.clone()]),
            deb("mkdocs", "", vec![text("usr/share/mkdocs/base.css", 3_000)]),
        ]
    };
    let automatic = ["golang-misc", "libx11-6", "mkdocs"]
        .map(|name| format!("Package: {name}\nArchitecture: amd64\nAuto-Installed: 1\n\n"));
    let states = file("var/lib/apt/extended_states", automatic.concat());
    let numpy =
        file("usr/lib/python3/dist-packages/numpy/distutils/system_info.py", "libs = ['libX11.so']\n");
    let command = "apt-get update && apt-get install -y clang curl cmake git";
    let scene = devel()
        .install(command, [debs(), tools()].concat(), vec![states])
        .copy("numpy /usr/lib/python3/dist-packages/numpy", vec![numpy])
        .copy("serve.sh /srv/", vec![file("srv/serve.sh", "#!/bin/sh\nclang a.c\n").mode(0o755)])
        .cmd(&["/srv/serve.sh"]);
    let proposals = scene.propose();
    assert!(!proposals.list.is_empty());
    for proposal in &proposals.list {
        let installed = installed(&proposal.dockerfile);
        assert!(installed.contains(&"clang"), "{installed:?}");
        for name in ["golang-misc", "libx11-6", "mkdocs"] {
            assert!(!installed.contains(&name), "{installed:?}");
        }
    }
}

#[test]
fn a_file_that_an_instruction_diverted_is_there_again() {
    // apt unpacks the program at its own path, over which the wrapper is copied.
    let debs = vec![deb("tool", "libc6", vec![program("usr/bin/tool", &["libc.so.6"])])];
    let diverted = vec![
        file("var/lib/dpkg/diversions", "/usr/bin/tool\n/usr/bin/tool.distrib\n:\n"),
        program("usr/bin/tool.distrib", &["libc.so.6"]),
    ];
    let wrapper = file("usr/bin/tool", "#!/bin/sh\nexec /usr/bin/tool.distrib \"$@\"\n").mode(0o755);
    let command = "apt-get update && apt-get install -y tool cmake git && dpkg-divert --local --rename --add /usr/bin/tool";
    let scene = devel()
        .install(command, [debs, tools()].concat(), diverted)
        .copy("wrapper /usr/bin/tool", vec![wrapper])
        .run("make -C /src install", vec![program("usr/local/bin/serve", &["libc.so.6"])])
        .cmd(&["/usr/bin/tool"]);
    // Not built here: what builds scenes knows no diversions.
    let analysis = scene.analysis();
    let plan = Plan::of_safe(analysis.findings.as_ref().unwrap());
    let text = scene.dockerfile();
    let given = Some(Given { name: "Dockerfile", text: text.as_bytes() });
    let proposals = analysis.propose(&plan, given).unwrap().unwrap();
    let staged = proposals.list.iter().filter(|one| one.id.starts_with("stages"));
    for proposal in staged.clone() {
        let stage = last_stage(&proposal.dockerfile);
        assert!(stage.contains("COPY --from=build /usr/bin/tool.distrib "), "{stage}");
    }
    assert!(staged.count() > 0);
}

#[test]
fn a_library_that_a_recommended_package_has_for_a_plugin_is_named() {
    // Settings of the service may name the plugin.
    let plugin = file("usr/lib/collectd/curl.so", Elf::library("").needing(&["libcurl.so.4"]).build());
    let debs = vec![
        deb("collectd-core", "libc6", vec![program("usr/sbin/collectd", &["libc.so.6"]), plugin]),
        deb("libcurl4", "libc6", library("usr/lib/x86_64-linux-gnu", "libcurl.so.4", "", &[])),
    ];
    let scene = devel()
        .install(
            "apt-get update && apt-get install -y collectd-core cmake git",
            [debs, tools()].concat(),
            vec![],
        )
        .copy("collectd.conf /srv/", vec![file("srv/collectd.conf", "LoadPlugin curl\n")])
        .cmd(&["/usr/sbin/collectd", "-C", "/srv/collectd.conf"]);
    for proposal in &scene.propose().list {
        let installed = installed(&proposal.dockerfile);
        assert!(installed.contains(&"collectd-core") && installed.contains(&"libcurl4"), "{installed:?}");
        assert!(proposal.closure.resolved, "{:#?}", proposal.closure);
    }
}

#[test]
fn a_package_that_comes_with_another_one_is_named_as_before() {
    // It has links only, as gcc has.
    let debs = vec![
        deb("clang", "clang-14", vec![symlink("usr/bin/clang", "clang-14")]),
        deb("clang-14", "libc6", vec![program("usr/bin/clang-14", &["libc.so.6"])]),
        deb("clang-tools-14", "clang", vec![program("usr/bin/clangd-14", &["libc.so.6"])]),
    ];
    let scene = devel()
        .apt("clang clang-tools-14 cmake git", [debs, tools()].concat())
        .copy("serve.sh /srv/", vec![file("srv/serve.sh", "#!/bin/sh\nclang a.c\n").mode(0o755)])
        .cmd(&["/srv/serve.sh"]);
    let proposals = scene.propose();
    let installed = installed(&one(&proposals, "base").dockerfile);
    assert_eq!(installed[..2], ["clang", "clang-tools-14"], "{installed:?}");
}

#[test]
fn a_package_comes_with_the_only_one_that_provides_what_it_depends_on() {
    let loader = "libc6\nProvides: selector-parser (= 6.0)";
    let debs = vec![
        deb("bundler", "selector-parser", vec![program("usr/bin/bundler", &["libc.so.6"])]),
        deb("css-loader", loader, vec![text("usr/share/nodejs/css-loader.js", 9_000)]),
    ];
    let scene = devel().apt("bundler cmake git", [debs, tools()].concat()).cmd(&["/usr/bin/bundler"]);
    let best = &scene.propose().list[0];
    assert!(installed(&best.dockerfile).contains(&"bundler"), "{}", best.dockerfile);
    assert!(!gone(best).contains(&"/usr/share/nodejs/css-loader.js"), "{:?}", gone(best));
}

#[test]
fn a_library_that_nothing_is_linked_with_stays_beside_python() {
    let lib =
        |name: &str| file(format!("{TRIPLE}/{name}"), Elf::library(name).needing(&["libc.so.6"]).build());
    let magick = || {
        vec![
            deb("libmagickwand-6", "libc6\nSource: imagemagick", vec![lib("libMagickWand-6.so.7")]),
            deb(
                "libmagickwand-dev",
                "libmagickwand-6\nSource: imagemagick",
                vec![text("usr/include/wand.h", 60_000)],
            ),
            // A program is linked with this one.
            deb("libxslt1.1", "libc6\nSource: libxslt", vec![lib("libxslt.so.1")]),
            deb("libxslt1-dev", "libxslt1.1\nSource: libxslt", vec![text("usr/include/xslt.h", 60_000)]),
            deb("xsltproc", "libxslt1.1", vec![program("usr/bin/xsltproc", &["libxslt.so.1"])]),
            // A module names this one.
            deb("libpango-1.0-0", "libc6\nSource: pango1", vec![lib("libpango-1.0.so.0")]),
            // One of the same source that no module names.
            deb("libpangoxft-1.0-0", "libpango-1.0-0\nSource: pango1", vec![lib("libpangoxft-1.0.so.0")]),
            deb(
                "libpango-dev",
                "libpangoxft-1.0-0, xsltproc\nSource: pango1",
                vec![text("usr/include/pango.h", 60_000)],
            ),
        ]
    };
    let site = "usr/local/lib/python3.10/dist-packages";
    let scene = |modules: &[(&str, Vec<u8>)]| {
        let scene = devel().apt(
            "python3 libmagickwand-dev libxslt1-dev libpango-dev cmake git",
            [python(), magick(), tools()].concat(),
        );
        let scene = if modules.is_empty() {
            scene
        } else {
            scene.run("pip install wand", wheel(site, "wand", "0.6", modules))
        };
        scene
            .copy("serve.py /srv/", vec![file("srv/serve.py", "import wand\n")])
            .cmd(&["python3", "/srv/serve.py"])
    };
    let names = b"import ctypes\nctypes.CDLL('libpango-1.0.so.0')\n".to_vec();
    let with = scene(&[("wand/__init__.py", names)]);
    let best = &with.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert_eq!(
        installed(&best.dockerfile),
        ["python3", "libmagickwand-6", "libpango-1.0-0"],
        "{}",
        best.dockerfile
    );
    let says = format!("{best:?}");
    assert!(says.contains("a Python package may open its library by name: libmagickwand-6."), "{says}");
    let without = scene(&[]);
    assert_eq!(installed(&without.propose().list[0].dockerfile), ["python3"]);
}
