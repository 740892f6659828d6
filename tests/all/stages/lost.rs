//! Effects of a `RUN` that a proposal must repeat or tell: links, owners, folders, programs that it calls.

use serde_json::json;

use super::meaning::in_order;
use super::one_layer::propose;
use super::parts::{built, devel, program, text, tools};
use super::scene::{Scene, deb, has_lines, has_none, last_stage, one};
use crate::fixtures::tarball::{Member, dir, file, symlink};
use cutaway::rewrite::Proposal;

const APP: &str = "opt/app/one/bin/app";

fn stages(scene: &Scene) -> Proposal {
    one(&scene.propose(), "stages").clone()
}

/// The actions that the proposal leaves to its reader.
fn left(proposal: &Proposal) -> String {
    format!("{:?} {:?}", proposal.closure, proposal.hints)
}

fn start() -> Scene {
    devel().apt("build-essential cmake git", tools()).copy("src /src", vec![text("src/Makefile", 300)])
}

fn app() -> Vec<Member> {
    vec![program(APP, &["libcurand.so.10"])]
}

fn owned(members: Vec<Member>) -> Vec<Member> {
    members.into_iter().map(|member| member.owned_by(1, 0)).collect()
}

#[test]
fn links_to_folders_stay() {
    let scene = devel()
        .apt("build-essential cmake git", tools())
        .copy("conf /srv/conf", vec![file("srv/conf/app.conf", "a=1\n")])
        .copy("src /src", vec![text("src/Makefile", 300)])
        .run(
            "make -C /src install && ln -s /srv/conf /etc/app",
            [app(), vec![symlink("etc/app", "/srv/conf")]].concat(),
        )
        .cmd(&["/opt/app/one/bin/app"]);
    in_order(&stages(&scene), &["COPY conf /srv/conf", "ln -sfn /srv/conf /etc/app"]);
}

#[test]
fn a_comment_and_a_condition_stay_where_they_act() {
    let two = || vec![program("opt/app/two/bin/app", &["libcurand.so.10"])];
    let of = |owner: &str| {
        start()
            .run("make -C /src install PREFIX=/opt/app/one", app())
            .run(owner, owned(app()))
            .run("chmod 4755 /opt/app/one/bin/app", owned(app()))
            .run("make -C /src install PREFIX=/opt/app/two", two())
            .cmd(&["/opt/app/one/bin/app", "/opt/app/two/bin/app"])
    };
    let plain = stages(&of("if [ -d /opt/app/one ]; then chown -R daemon /opt/app/one; fi"));
    in_order(&plain, &["COPY --from=build", "chown -R daemon /opt/app/one", "chmod 4755"]);
    let with_comment = stages(&of("if [ -d /opt/app/one ]; then chown -R daemon /opt/app/one; fi # owner"));
    assert!(!last_stage(&with_comment.dockerfile).contains("# owner"), "{}", with_comment.dockerfile);
    assert!(left(&with_comment).contains("chown -R daemon /opt/app/one"), "{with_comment:#?}");
    // What others need before is not moved.
    let with_user =
        stages(&of("if ! id app; then useradd app; chown -R daemon /opt/app/one; fi; mkdir -p /srv/data"));
    has_none(&with_user, &["mkdir -p /srv/data"]);
    assert!(left(&with_user).contains("useradd app"), "{with_user:#?}");
    // Whether the assignment happens is known in the RUN alone, as what a file sets.
    for (owner, variable) in [
        ("[ -n \"$OWNER\" ] || OWNER=daemon; chown -R $OWNER /opt/app/one", "OWNER=daemon"),
        (": \"${OWNER:=daemon}\"; chown -R $OWNER /opt/app/one", ":="),
        (". /etc/owner; chown -R $OWNER /opt/app/one", "/etc/owner"),
    ] {
        let found = stages(&of(owner));
        let stage = last_stage(&found.dockerfile);
        let whole = stage.contains(variable) && stage.contains("chown -R $OWNER");
        let text = left(&found);
        let is_left = text.contains("chown -R $OWNER") || text.contains("changes the owner of /opt/app/one");
        let left = !stage.contains("chown -R $OWNER") && is_left;
        assert!(whole && stage.contains(owner) || left, "{owner}: {found:#?}");
    }
}

#[test]
fn what_is_relative_runs_in_its_folder() {
    let scene = devel()
        .apt("build-essential cmake git", tools())
        .copy("src /src", vec![text("src/Makefile", 300)])
        .workdir("/opt/app", "/opt/app")
        .run("make -C /src install PREFIX=/opt/app/one", app())
        // With the owner as it was: the owner that a script sets is not simulated.
        .run("if [ -d one ]; then chown -R daemon one; fi", app())
        .workdir("/srv", "/srv")
        .run(
            "make -C /src install PREFIX=/opt/app/two",
            vec![program("opt/app/two/bin/app", &["libcurand.so.10"])],
        )
        .cmd(&["/opt/app/one/bin/app", "/opt/app/two/bin/app"]);
    let found = stages(&scene);
    let stage = last_stage(&found.dockerfile);
    let at_home = stage.contains("cd /opt/app && if [ -d one ]") || {
        let before = stage.split("chown -R daemon one").next().unwrap();
        before.contains("WORKDIR /opt/app") && !before.contains("WORKDIR /srv")
    };
    assert!(at_home || left(&found).contains("chown -R daemon one"), "{stage}");
}

#[test]
fn an_operand_that_is_not_known_stays() {
    let scene = devel()
        .apt("build-essential cmake git", tools())
        .copy("src /src", vec![text("src/Makefile", 300)])
        .run(
            "make -C /src install && DATA=/srv/data && mkdir -p /srv/data && chown daemon /opt/app/one/bin/app $DATA",
            owned([app(), vec![dir("srv/data")]].concat()),
        )
        .cmd(&["/opt/app/one/bin/app"]);
    let found = stages(&scene);
    let stage = last_stage(&found.dockerfile);
    let repeated = stage.contains("$DATA") && stage.contains("DATA=/srv/data");
    assert!(repeated || left(&found).contains("$DATA"), "{stage}");
}

#[test]
fn folders_of_a_build_that_cannot_be_divided_are_told() {
    let command = |more: &str| {
        format!(
            "if [ -d /src ]; then apt-get update && apt-get install -y --no-install-recommends cmake git hello \
             && make -C /src install{more}; fi"
        )
    };
    let hello = || deb("hello", "libc6", vec![program("usr/bin/hello", &[])]);
    let scene = |more: &str, members: Vec<Member>| {
        devel()
            .copy("src /src", vec![text("src/Makefile", 300)])
            .install(&command(more), [tools(), vec![hello()]].concat(), members)
            .cmd(&["/opt/app/one/bin/app", "/usr/bin/hello"])
    };
    let told = "unsupported form";
    let found = stages(&scene(" && mkdir -p /var/lib/app", [app(), vec![dir("var/lib/app")]].concat()));
    assert!(left(&found).contains(told), "{found:#?}");
    let found = stages(&scene("", app()));
    assert!(!left(&found).contains(told), "{found:#?}");
    let chown = devel()
        .apt("build-essential cmake git", tools())
        .copy("src /src", vec![text("src/Makefile", 300)])
        .run("make -C /src install && if true; then chown -R daemon /opt/app/one; fi", owned(app()))
        .cmd(&["/opt/app/one/bin/app"]);
    let found = stages(&chown);
    let stage = last_stage(&found.dockerfile);
    let kept = stage.contains("chown -R daemon") || stage.contains("--chown=");
    assert!(kept || left(&found).contains("chown -R daemon"), "{found:#?}");
}

#[test]
fn a_folder_for_other_commands_is_made() {
    let scene = built(devel().apt("build-essential cmake git", tools()), &["libcurand.so.10"])
        .run(
            "mkdir -p /opt/cfg && echo key=1 > /opt/cfg/a.conf && echo more > /etc/b.conf",
            vec![file("opt/cfg/a.conf", "key=1\n"), file("etc/b.conf", "more\n")],
        )
        .run(
            "cat /opt/cfg/a.conf > /etc/c.conf && rm -rf /opt/cfg",
            vec![file("etc/c.conf", "key=1\n"), file("opt/.wh.cfg", "")],
        )
        .cmd(&["/usr/local/bin/serve", "/etc/b.conf", "/etc/c.conf"]);
    let found = stages(&scene);
    let stage = last_stage(&found.dockerfile);
    if stage.contains("echo key=1 > /opt/cfg/a.conf") {
        in_order(&found, &["mkdir -p /opt/cfg", "echo key=1 > /opt/cfg/a.conf"]);
    }
}

#[test]
fn the_contents_of_a_folder_are_what_copy_brings() {
    let scene = devel()
        .apt("build-essential cmake git", tools())
        .copy("app /srv/app", vec![text("srv/app/Makefile", 300)])
        .run("make -C /srv/app", vec![program("srv/app/dist/serve", &["libcurand.so.10"])])
        .copy("dist/ /srv/app/", vec![file("srv/app/extra.txt", "x\n")])
        .cmd(&["/srv/app/dist/serve", "/srv/app/extra.txt"]);
    let proposals = propose(&scene, true);
    let found = one(&proposals, "stages");
    let stage = last_stage(&found.dockerfile);
    assert!(stage.contains("--from=build /srv/app"), "{stage}");
    has_lines(found, &["COPY dist/ /srv/app/"]);
    // Which files come with it is not known in a layer of several instructions.
    let told = "remove the COPY of files from the build stage that come with line 5";
    assert!(left(found).contains(told), "{found:#?}");
}

#[test]
fn programs_behind_one_that_starts_them_are_installed() {
    let curl = || deb("curl", "libc6", vec![program("usr/bin/curl", &[])]);
    let scene = built(devel().apt("build-essential cmake git", tools()), &["libcurand.so.10"])
        .apt("curl", vec![curl()])
        .run("timeout 60 bash -c \"curl -fsS https://example.org/v > /etc/v\"", vec![file("etc/v", "1\n")])
        .cmd(&["/usr/local/bin/serve", "/etc/v"]);
    let found = stages(&scene);
    let stage = last_stage(&found.dockerfile);
    if stage.contains("timeout 60") {
        assert!(stage.contains(" curl"), "{stage}");
        in_order(&found, &["curl", "timeout 60"]);
    }
}

fn with_user() -> Scene {
    let users = vec![
        file("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nsvc:x:1001:1001::/home/svc:/bin/sh\n"),
        file("etc/group", "root:x:0:\nsvc:x:1001:\n"),
        dir("home/svc").owned_by(1001, 1001),
    ];
    devel()
        .apt("build-essential cmake git", tools())
        .run("groupadd -g 1001 svc && useradd -m -u 1001 -g svc svc", users)
}

#[test]
fn users_are_there_before_the_copy_that_names_them() {
    let scene = with_user()
        .workdir("/srv/app", "/srv/app")
        .copy("--chown=svc:svc . .", vec![text("srv/app/main.c", 300).owned_by(1001, 1001)])
        .run("make", vec![program("srv/app/serve", &["libcurand.so.10"])])
        .run(
            "mkdir -p /var/lib/svc && chown -R svc:svc /var/lib/svc",
            vec![dir("var/lib/svc").owned_by(1001, 1001)],
        )
        .cmd(&["/srv/app/serve"]);
    in_order(&stages(&scene), &["useradd -m -u 1001 -g svc svc", "COPY --chown=svc:svc . ."]);
}

#[test]
fn workdir_makes_the_folder_that_gets_an_owner() {
    let scene = devel()
        .apt("build-essential cmake git", tools())
        .workdir("/opt/kiosk/app", "/opt/kiosk/app")
        .run("chown daemon /opt/kiosk/app", vec![dir("opt/kiosk/app").owned_by(1, 0)])
        .copy("conf /opt/kiosk/app/conf", vec![text("opt/kiosk/app/conf/a", 300)])
        .copy("src /src", vec![text("src/Makefile", 300)])
        .run("make -C /src install", vec![program("opt/kiosk/app/bin/serve", &["libcurand.so.10"])])
        .cmd(&["/opt/kiosk/app/bin/serve"]);
    in_order(&stages(&scene), &["WORKDIR /opt/kiosk/app", "chown daemon /opt/kiosk/app"]);
}

#[test]
fn empty_folders_of_an_installation_are_made_again() {
    let installed = || {
        vec![program("usr/local/bin/kiosk", &["libcurand.so.10"]), dir("opt/kiosk/var"), dir("var/lib/kiosk")]
    };
    let start = || {
        devel()
            .apt("build-essential cmake git", tools())
            .copy("src /src", vec![text("src/Makefile", 300)])
            .run("make -C /src && make -C /src install", installed())
    };
    let owned = vec![dir("opt/kiosk/var").owned_by(1, 0), dir("opt/kiosk/cache").owned_by(1, 0)];
    let scene = start()
        .run("mkdir -p /opt/kiosk/cache && chown daemon /opt/kiosk/var /opt/kiosk/cache", owned)
        .cmd(&["/usr/local/bin/kiosk"]);
    let found = stages(&scene);
    in_order(
        &found,
        &["COPY --from=build /usr/local/bin/kiosk", "/opt/kiosk/var", "chown daemon /opt/kiosk/var"],
    );
    in_order(&found, &["mkdir -p /var/lib/kiosk"]);
}

#[test]
fn an_empty_folder_gets_the_owner_that_a_later_run_sets() {
    let scene = devel()
        .apt("build-essential cmake git", tools())
        .run(
            "useradd --system --home-dir /opt/kiosk --create-home kiosk",
            vec![
                file("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nkiosk:x:999:999::/opt/kiosk:/bin/sh\n"),
                file("etc/group", "root:x:0:\nkiosk:x:999:\n"),
                dir("opt/kiosk").owned_by(999, 999),
            ],
        )
        .copy("conf /opt/kiosk/conf", vec![text("opt/kiosk/conf/a", 300)])
        .copy("src /src", vec![text("src/Makefile", 300)])
        .run(
            "make -C /src install PREFIX=/opt/kiosk",
            vec![program("opt/kiosk/bin/kiosk", &["libcurand.so.10"]), dir("opt/kiosk/var")],
        )
        .run("chown -R kiosk:kiosk /opt/kiosk/var", vec![dir("opt/kiosk/var").owned_by(999, 999)])
        .cmd(&["/opt/kiosk/bin/kiosk"]);
    // The home is made before anything is copied into it.
    in_order(
        &stages(&scene),
        &["useradd", "-o kiosk -g kiosk /opt/kiosk/var", "COPY --from=build /opt/kiosk/bin"],
    );
}

#[test]
fn a_folder_that_a_build_fills_is_no_copy_in_one_layer() {
    for (sources, copied) in [
        ("config", vec![file("app/a.ini", "x=1\n")]),
        ("*.ini", vec![file("app/a.ini", "x=1\n")]),
        ("a.ini b.ini", vec![file("app/a.ini", "x=1\n"), file("app/b.ini", "x=1\n")]),
    ] {
        let scene = start()
            .run(
                "cmake -S /src -B /tmp/b && cmake --build /tmp/b --target install",
                vec![program("app/bin/serve", &["libcurand.so.10"])],
            )
            .copy(&format!("{sources} /app/"), copied)
            .cmd(&["/app/bin/serve"]);
        let proposals = propose(&scene, true);
        let found = one(&proposals, "stages");
        let stage = last_stage(&found.dockerfile);
        assert!(stage.contains("--from=build /app"), "{sources}: {stage}");
    }
}

#[test]
fn a_user_that_no_repeated_command_makes_is_told() {
    let users = || {
        vec![
            file("etc/passwd", "root:x:0:0:root:/root:/bin/bash\napp:x:1001:1001::/:/bin/sh\n"),
            file("etc/group", "root:x:0:\napp:x:1001:\n"),
        ]
    };
    let built = || vec![program("usr/local/bin/serve", &["libcurand.so.10"])];
    let told = |text: &str| {
        let scene = start()
            .run(text, [users(), built()].concat())
            .set("USER app", "User", json!("app"))
            .cmd(&["/usr/local/bin/serve"]);
        left(&stages(&scene))
    };
    for text in [
        "make -C /src install-with-user",
        "make -C /src install && echo 'app:x:1001:1001::/:/bin/sh' >> /etc/passwd",
    ] {
        let told = told(text);
        assert!(told.contains("No command of the new stage makes the user app"), "{text}: {told}");
    }
    for text in [
        "if ! id app; then useradd app; fi; make -C /src install",
        "make -C /src install && (getent passwd app || useradd app)",
    ] {
        let told = told(text);
        assert!(told.contains("uns useradd app"), "{text}: {told}");
    }
    let plain = start()
        .run("make -C /src install", built())
        .run("useradd app", users())
        .set("USER app", "User", json!("app"))
        .cmd(&["/usr/local/bin/serve"]);
    let found = stages(&plain);
    assert!(!left(&found).contains("the user app"), "{found:#?}");
    in_order(&found, &["useradd app", "USER app"]);
}

#[test]
fn modes_of_copied_files_are_theirs() {
    let scene = start()
        .run(
            "if true; then make -C /src install; chmod +x /usr/local/bin/serve; fi",
            vec![program("usr/local/bin/serve", &["libcurand.so.10"])],
        )
        .cmd(&["/usr/local/bin/serve"]);
    let found = stages(&scene);
    assert!(!left(&found).contains("chmod"), "{found:#?}");
}

#[test]
fn a_folder_that_has_its_owner_is_not_made_again() {
    let scene = with_user()
        .copy("src /src", vec![text("src/Makefile", 300)])
        .run("make -C /src install", vec![program("usr/local/bin/serve", &["libcurand.so.10"])])
        .workdir("/srv/app", "/srv/app")
        .run(
            "groupadd -r spring && useradd -r -g spring spring && mkdir /srv/app/logs && \
             chown -R spring:spring /srv/app/logs",
            vec![
                file("etc/passwd", "root:x:0:0:root:/root:/bin/bash\nspring:x:999:999::/:/bin/sh\n"),
                file("etc/group", "root:x:0:\nspring:x:999:\n"),
                dir("srv/app/logs").owned_by(999, 999),
            ],
        )
        .set("USER spring", "User", json!("spring"))
        .cmd(&["/usr/local/bin/serve"]);
    let found = stages(&scene);
    let stage = last_stage(&found.dockerfile);
    in_order(&found, &["useradd -r -g spring spring", "/srv/app/logs"]);
    let makes = stage.matches("mkdir /srv/app/logs").count() + stage.matches("install -d").count();
    assert_eq!(makes, 1, "{stage}");
}

#[test]
fn empty_folders_keep_their_modes_and_those_above_their_owners() {
    let members = vec![
        program("usr/local/bin/serve", &["libcurand.so.10"]),
        dir("var/spool/app").mode(0o1777),
        dir("var/lib/app").owned_by(1000, 1000).mode(0o700),
        dir("var/lib/app/q").owned_by(1000, 1000).mode(0o700),
    ];
    let scene = start().run("make -C /src install", members).cmd(&["/usr/local/bin/serve"]);
    let found = stages(&scene);
    in_order(
        &found,
        &[
            "install -d -o 1000 -g 1000 -m 700 /var/lib/app",
            "install -d -o 1000 -g 1000 -m 700 /var/lib/app/q",
        ],
    );
    assert!(
        last_stage(&found.dockerfile).contains("install -d -m 1777 /var/spool/app"),
        "{}",
        found.dockerfile
    );
}

#[test]
fn modes_that_a_building_run_gives_empty_folders_stay() {
    let members = vec![
        program("usr/local/bin/serve", &["libcurand.so.10"]),
        dir("srv/uploads").owned_by(1, 0).mode(0o1777),
        dir("srv/secret").mode(0o700),
    ];
    let command = "make -C /src install && mkdir -p /srv/uploads /srv/secret && chmod 700 /srv/secret && \
                   chmod 1777 /srv/uploads && chown daemon /srv/uploads";
    let scene = start().run(command, members).cmd(&["/usr/local/bin/serve"]);
    in_order(
        &stages(&scene),
        &[
            "mkdir -p /srv/uploads /srv/secret",
            "chmod 700 /srv/secret",
            "chmod 1777 /srv/uploads",
            "chown daemon",
        ],
    );
}

#[test]
fn modes_of_context_files_that_an_opaque_run_sets_are_told() {
    let scene = start()
        .copy("entry.sh /usr/local/bin/", vec![file("usr/local/bin/entry.sh", "#!/bin/sh\nexec serve\n")])
        .copy("src /src", vec![text("src/Makefile", 300)])
        .run(
            "if [ -f /src/Makefile ]; then make -C /src install; fi; chmod +x /usr/local/bin/entry.sh",
            vec![
                program("usr/local/bin/serve", &["libcurand.so.10"]),
                file("usr/local/bin/entry.sh", "#!/bin/sh\nexec serve\n").mode(0o755),
            ],
        )
        .cmd(&["/usr/local/bin/entry.sh"]);
    let found = stages(&scene);
    let copied = last_stage(&found.dockerfile).contains("COPY --from=build /usr/local/bin/entry.sh");
    assert!(copied || left(&found).contains("chmod +x"), "{found:#?}");
}

#[test]
fn folders_that_got_an_owner_are_no_fault_of_mkdir() {
    let scene = with_user()
        .copy("src /src", vec![text("src/Makefile", 300)])
        .run("make -C /src install", vec![program("usr/local/bin/serve", &["libcurand.so.10"])])
        .run(
            "mkdir /data /logs && chown -R svc:svc /data",
            vec![dir("data").owned_by(1001, 1001).mode(0o750), dir("logs")],
        )
        .cmd(&["/usr/local/bin/serve"]);
    let found = stages(&scene);
    let stage = last_stage(&found.dockerfile);
    let makes = stage.find("install -d").is_some_and(|made| stage[made..].contains("mkdir /data"));
    assert!(!makes, "{stage}");
    assert!(stage.contains("/logs") && stage.contains("/data"), "{stage}");
}
