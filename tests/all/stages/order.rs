//! Commands of a repeated `RUN` find what they name: the file that a copy brings, the program that they call.

use super::meaning::in_order;
use super::parts::{built, devel, program, text, tools};
use super::python::{gcc, python_image};
use super::scene::{Scene, deb, has_lines, has_none, last_stage, one};
use crate::fixtures::tarball::{Member, file, symlink};
use cutaway::rewrite::Proposal;

const SERVE: &str = "usr/local/bin/serve";

fn built_service() -> Scene {
    built(devel().apt("cmake git", tools()), &["libcurand.so.10"])
}

fn stages(scene: &Scene) -> Proposal {
    one(&scene.propose(), "stages").clone()
}

#[test]
fn capabilities_are_set_after_the_copy() {
    let serve = || vec![program(SERVE, &["libcurand.so.10"])];
    // A layer of its own stores the file again: its content is still that of the build.
    let scene = built_service()
        .run("setcap cap_net_bind_service=+ep /usr/local/bin/serve", serve())
        .cmd(&["/usr/local/bin/serve"]);
    let own_layer = stages(&scene);
    in_order(&own_layer, &["COPY --from=build /usr/local/bin/serve", "RUN setcap cap_net_bind_service=+ep"]);
    assert!(own_layer.closure.resolved, "{own_layer:#?}");
    // In the RUN that builds: not every builder copies capabilities.
    let scene = devel()
        .apt("cmake git", tools())
        .copy("Makefile /src/", vec![text("src/Makefile", 300)])
        .run("make -C /src install && setcap cap_net_bind_service=+ep /usr/local/bin/serve", serve())
        .cmd(&["/usr/local/bin/serve"]);
    in_order(
        &stages(&scene),
        &["COPY --from=build /usr/local/bin/serve", "RUN setcap cap_net_bind_service=+ep"],
    );
    // A change of owner after the copy clears them.
    let owned = serve().into_iter().map(|one| one.owned_by(1, 0)).collect();
    let command = "make -C /src install && chown daemon /usr/local/bin/serve && setcap cap_net_bind_service=+ep /usr/local/bin/serve";
    let scene = devel()
        .apt("cmake git", tools())
        .copy("Makefile /src/", vec![text("src/Makefile", 300)])
        .run(command, owned)
        .cmd(&["/usr/local/bin/serve"]);
    in_order(
        &stages(&scene),
        &["COPY --from=build", "chown daemon /usr/local/bin/serve", "setcap cap_net_bind"],
    );
}

#[test]
fn alternatives_follow_the_programs_that_they_offer() {
    let links = || -> Vec<Member> {
        vec![
            symlink("usr/bin/server", "/etc/alternatives/server"),
            symlink("etc/alternatives/server", "/usr/local/bin/serve"),
        ]
    };
    let command = "update-alternatives --install /usr/bin/server server /usr/local/bin/serve 50";
    let made = [vec![program(SERVE, &[])], links()].concat();
    let scene = devel()
        .apt("cmake git", tools())
        .copy("Makefile /src/", vec![text("src/Makefile", 300)])
        .run(&format!("make -C /src install && {command}"), made)
        .cmd(&["server"]);
    let beside = stages(&scene);
    in_order(&beside, &["COPY --from=build /usr/local/bin/serve", command]);
    has_none(&beside, &["ln -sfn"]);
    in_order(
        &stages(&built_service().run(command, links()).cmd(&["server"])),
        &["COPY --from=build /usr/local/bin/serve", command],
    );
    // What stays in the build stage is offered there alone.
    let compiler = "update-alternatives --install /usr/local/bin/cmake cmake /usr/bin/cmake 10";
    let link = vec![
        symlink("usr/local/bin/cmake", "/etc/alternatives/cmake"),
        symlink("etc/alternatives/cmake", "/usr/bin/cmake"),
    ];
    let scene =
        built(devel().apt("cmake git", tools()).run(compiler, link), &[]).cmd(&["/usr/local/bin/serve"]);
    has_none(&stages(&scene), &["update-alternatives"]);
}

#[test]
fn packages_from_files_are_copied_or_installed_again() {
    let tool = || deb("scorer", "libc6", vec![program("opt/scorer/bin/scorer", &[])]);
    let archive = || file("src/scorer.deb", "!<arch>\n");
    // Built and installed in one RUN: no repository has it.
    let scene = devel()
        .apt("cmake git", tools())
        .copy(". /src", vec![text("src/Makefile", 300)])
        .install("cd /src && make package && dpkg -i scorer.deb", vec![tool()], vec![archive()])
        .cmd(&["/opt/scorer/bin/scorer"]);
    let built = stages(&scene);
    has_lines(&built, &["COPY --from=build /opt/scorer /opt/scorer"]);
    has_none(&built, &["apt-get install"]);
    // Given: the RUN is repeated with the COPY that it reads.
    let scene = built_service()
        .copy("scorer.deb /tmp/", vec![file("tmp/scorer.deb", "!<arch>\n")])
        .install("dpkg -i /tmp/scorer.deb", vec![tool()], Vec::new())
        .cmd(&["/opt/scorer/bin/scorer"]);
    let given = stages(&scene);
    in_order(&given, &["COPY scorer.deb /tmp/", "RUN dpkg -i /tmp/scorer.deb"]);
    assert!(!last_stage(&given.dockerfile).contains("install -y --no-install-recommends scorer"));
}

#[test]
fn programs_that_instructions_call_are_installed_before() {
    let curl = || deb("curl", "libc6", vec![program("usr/bin/curl", &[])]);
    let base = || devel().apt("curl", vec![curl()]);
    // The author installs it.
    let command = "curl -fsS https://example.org/scorer.deb -o /tmp/scorer.deb && dpkg -i /tmp/scorer.deb && rm /tmp/scorer.deb";
    let scorer = || deb("scorer", "libc6", vec![program("opt/scorer/bin/scorer", &[])]);
    let scene = base().install(command, vec![scorer()], Vec::new()).cmd(&["/opt/scorer/bin/scorer"]);
    let proposals = scene.propose();
    let stage = last_stage(&proposals.list[0].dockerfile);
    assert_eq!(stage.matches("apt-get install").count(), 1, "{stage}");
}

#[test]
fn code_for_an_interpreter_is_no_list_of_programs() {
    let import = deb("imagemagick-6.q16", "libc6", vec![program("usr/bin/import", &[])]);
    let python = deb("python3-minimal", "libc6", vec![program("usr/bin/python3", &[])]);
    let scene = |code: &str| {
        built(
            devel().apt("cmake git", tools()).apt("python3-minimal", vec![import.clone(), python.clone()]),
            &[],
        )
        .step(&format!("HEALTHCHECK CMD python3 -c \"{code}\""))
        .cmd(&["/usr/local/bin/serve"])
    };
    let found = scene("import urllib.request; urllib.request.urlopen('http://127.0.0.1')").propose();
    assert!(!found.list.is_empty());
    for proposal in &found.list {
        let added: Vec<&str> =
            proposal.dockerfile.lines().filter(|line| line.contains("imagemagick-6.q16")).collect();
        assert!(added.is_empty(), "{added:?}");
    }
}

#[test]
fn a_large_environment_is_copied_before_the_code() {
    let library = "opt/venv/lib/python3.10/site-packages/big/data.bin";
    let scene = devel()
        // With an argument that both parts use, the build stage is not divided.
        .arg("EXTRA", "dev")
        .apt("python3.10 cmake git", [super::parts::python(), tools()].concat())
        .copy("native /srv/app/native", vec![text("srv/app/native/CMakeLists.txt", 300), text("srv/app/native/main.py", 90)])
        .run(
            "python3.10 -m venv /opt/venv && /opt/venv/bin/pip install /srv/app/native && make -C /srv/app/native",
            vec![
                file("opt/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.10.0\n"),
                symlink("opt/venv/bin/python3.10", "/usr/bin/python3.10"),
                file(library, vec![7; 9 << 20]),
                program(SERVE, &[]),
            ],
        )
        .copy("app /srv/app", vec![text("srv/app/main.py", 900)])
        .run("/opt/venv/bin/pip install -e /srv/app[$EXTRA]", vec![file("opt/venv/app.pth", "/srv/app\n")])
        .cmd(&["/opt/venv/bin/python3.10", "/srv/app/main.py"]);
    in_order(&stages(&scene), &["COPY --from=build /opt/venv /opt/venv", "COPY app /srv/app"]);
}

#[test]
fn commands_on_the_same_files_keep_their_order() {
    let made = |path: &str| vec![program(path, &[])];
    let scene = devel()
        .apt("cmake git", tools())
        .run(
            "useradd -m app",
            vec![file("etc/passwd", "root:x:0:0::/:/bin/sh\napp:x:1000:1000::/home/app:/bin/sh\n")],
        )
        .copy("Makefile /src/", vec![text("src/Makefile", 300)])
        .run("make -C /src one", made("opt/t/bin/one"))
        .run("make -C /src two", made("srv/u/bin/two"))
        .run(
            "chown app:app /opt/t/bin/one /srv/u/bin/two",
            [made("opt/t/bin/one"), made("srv/u/bin/two")].concat(),
        )
        .run("chown root:root /opt/t/bin/one && chmod 4755 /opt/t/bin/one", made("opt/t/bin/one"))
        .run("make -C /src three", made("srv/u/bin/three"))
        .cmd(&["/opt/t/bin/one"]);
    in_order(
        &stages(&scene),
        &[
            "COPY --from=build /opt/t /opt/t",
            "COPY --from=build /srv/u /srv/u",
            "chown app:app /opt/t/bin/one /srv/u/bin/two",
            "chown root:root /opt/t/bin/one",
            "chmod 4755 /opt/t/bin/one",
        ],
    );
}

#[test]
fn a_command_that_follows_a_copy_keeps_its_variables() {
    let made = |path: &str| vec![program(path, &[])];
    let scene = |command: &str| {
        devel()
            .apt("cmake git", tools())
            .copy("Makefile /src/", vec![text("src/Makefile", 300)])
            .run("make -C /src one", made("opt/t/bin/one"))
            .run(command, made("opt/t/bin/one"))
            .run("make -C /src two", made("opt/t/bin/two"))
            .cmd(&["/opt/t/bin/one"])
    };
    let assigned = stages(&scene("OWNER=daemon && chown $OWNER /opt/t/bin/one"));
    in_order(
        &assigned,
        &["COPY --from=build /opt/t /opt/t", "RUN OWNER=daemon && chown $OWNER /opt/t/bin/one"],
    );
    // Known only while it runs: repeated as a whole, after the copy.
    let command = "for owner in daemon; do true; done; chown $owner /opt/t/bin/one";
    let looped = stages(&scene(command));
    in_order(&looped, &["COPY --from=build /opt/t /opt/t", &format!("RUN {command}")]);
}

#[test]
fn programs_in_substitutions_and_texts_of_shells_are_installed_before() {
    // The full image of Python has curl, the slim one does not.
    let stage = |command: &str| {
        let scene = python_image()
            .apt("gcc", gcc())
            .copy("tool.c /usr/src/", vec![text("usr/src/tool.c", 300)])
            .run(
                "gcc -o /usr/local/bin/tool /usr/src/tool.c",
                vec![program("usr/local/bin/tool", &["libc.so.6"])],
            )
            .run(command, vec![file("etc/v", "v=1\n")])
            .workdir("/app", "/app")
            .copy("serve.py .", vec![file("app/serve.py", "import os\n")])
            .cmd(&["python", "serve.py"])
            .from("python:3.11");
        last_stage(&one(&scene.propose(), "stages-distribution").dockerfile).to_owned()
    };
    for command in [
        "V=$(curl -fsS https://example.org/v) && echo \"v=$V\" > /etc/v",
        "echo \"v=`curl -fsS https://example.org/v`\" > /etc/v",
    ] {
        let stage = stage(command);
        let install = stage.find("apt-get install -y --no-install-recommends curl");
        assert!(install.is_some() && install < stage.find(command), "{stage}");
    }
    // Their results are copied.
    for command in [
        "bash -o pipefail -c \"curl -fsS https://example.org/v | tee /etc/v\"",
        "timeout 60 curl -fsS https://example.org/v -o /etc/v",
        "if ! [ -f /etc/v ]; then curl -fsS https://example.org/v -o /etc/v; fi",
    ] {
        let stage = stage(command);
        assert!(stage.contains("COPY --from=build /etc/v /etc/v") && !stage.contains("curl"), "{stage}");
    }
    assert!(!stage("echo v > /etc/v").contains("curl"));
}

#[test]
fn the_star_of_a_case_names_no_file() {
    let tool = || deb("scorer", "libc6", vec![program("opt/scorer/bin/scorer", &[])]);
    let scene = built_service()
        .copy("data /build/data", vec![text("build/data/large.bin", 900_000)])
        .copy("scorer.deb /tmp/", vec![file("tmp/scorer.deb", "!<arch>\n")])
        .install(
            "case \"$(uname -m)\" in x86_64) dpkg -i /tmp/scorer.deb ;; *) exit 1 ;; esac",
            vec![tool()],
            Vec::new(),
        )
        .cmd(&["/opt/scorer/bin/scorer"]);
    let best = stages(&scene);
    has_lines(&best, &["COPY scorer.deb /tmp/"]);
}

#[test]
fn packages_from_files_that_need_each_other_are_all_copied() {
    let library = || deb("scorelib", "libc6", vec![program("opt/scorelib/lib/libscore.so", &[])]);
    let tool = || deb("scorer", "scorelib", vec![program("opt/scorer/bin/scorer", &[])]);
    let scene = devel()
        .apt("cmake git", tools())
        .copy(". /src", vec![text("src/Makefile", 300)])
        .install("cd /src && make package && dpkg -i *.deb", vec![library(), tool()], Vec::new())
        .cmd(&["/opt/scorer/bin/scorer"]);
    let best = stages(&scene);
    assert!(!last_stage(&best.dockerfile).contains(" scorelib"), "{}", best.dockerfile);
}
