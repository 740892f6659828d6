//! Repeated instructions mean what they mean today: no operator, flag, command or setting is lost on the way.

use cutaway::rewrite::Proposal;
use serde_json::json;

use super::parts::{built, devel, library, program, text, tools};
use super::scene::{Deb, Scene, deb, has_lines, has_none, last_stage, one};
use crate::fixtures::tarball::{Member, dir, file};

const APP: (u64, u64) = (1000, 1000);

fn base() -> Scene {
    devel().apt("cmake git", tools())
}

/// A service is compiled, then these instructions follow, or go before.
fn compiled(scene: Scene) -> Scene {
    built(scene, &["libcurand.so.10"]).cmd(&["/usr/local/bin/serve"])
}

fn best(scene: &Scene, id: &str) -> Proposal {
    one(&scene.propose(), id).clone()
}

fn users() -> Vec<Member> {
    vec![
        file("etc/passwd", "root:x:0:0:root:/root:/bin/bash\napp:x:1000:1000::/home/app:/bin/sh\n"),
        file("etc/group", "root:x:0:\napp:x:1000:\n"),
        dir("home/app").owned_by(1000, 1000),
    ]
}

fn owned(members: Vec<Member>) -> Vec<Member> {
    members.into_iter().map(|member| member.owned_by(APP.0, APP.1)).collect()
}

fn node() -> Vec<Deb> {
    vec![deb("nodejs", "libc6", vec![program("usr/bin/node", &[])])]
}

fn source() -> Vec<Member> {
    vec![file("etc/apt/sources.list.d/nodesource.list", "deb https://deb.nodesource.com nodistro main\n")]
}

const SETUP: &str = "curl -fsSL https://deb.nodesource.com/setup_20.x | bash -";

/// Whether these stand in the final stage in this order.
pub(super) fn in_order(proposal: &Proposal, parts: &[&str]) {
    let stage = last_stage(&proposal.dockerfile);
    let mut from = 0;
    for part in parts {
        let at = stage[from..].find(part);
        from +=
            at.unwrap_or_else(|| panic!("no {part:?} behind {:?} in\n{stage}", &stage[..from])) + part.len();
    }
}

#[test]
fn a_pipe_stays_a_pipe() {
    let command = format!("{SETUP} && apt-get install -y --no-install-recommends nodejs cmake");
    let scene = devel().install(&command, [node(), tools()].concat(), source()).cmd(&["/usr/bin/node"]);
    in_order(&best(&scene, "base"), &[&format!("RUN {SETUP} && apt-get install -y"), " nodejs"]);
    has_none(&best(&scene, "base"), &["cmake"]);
    // Beside a build stage too: packages come from the source that the script sets up.
    let scene = built(devel().install(&command, [node(), tools()].concat(), source()), &["libcurand.so.10"]);
    let started = scene.clone().cmd(&["/usr/bin/node", "/usr/local/bin/serve"]);
    in_order(&best(&started, "stages"), &[&format!("{SETUP} && apt-get install -y"), " nodejs"]);
    // Nothing names Node.js: it is in question, and stays in the build stage.
    let idle = best(&scene.cmd(&["/usr/local/bin/serve"]), "stages");
    has_none(&idle, &["nodejs"]);
    assert!(
        idle.closure.unproven.iter().any(|one| one.contains("Node.js without a known use")),
        "{:#?}",
        idle.closure
    );
}

#[test]
fn alternatives_and_lists_keep_their_operators() {
    let command = "apt-get update; apt-get install -y --no-install-recommends nodejs cmake; mkdir /data; id app || useradd app";
    let scene = devel().install(command, [node(), tools()].concat(), users()).cmd(&["/usr/bin/node"]);
    in_order(&best(&scene, "base"), &["nodejs", "; mkdir /data; id app || useradd app"]);
    // A part of a list is no command of its own: the whole installation stays as it is.
    let command = "apt-get update && apt-get install -y --no-install-recommends nodejs cmake git || true";
    let scene = compiled(devel().install(command, [node(), tools()].concat(), vec![]));
    has_lines(&best(&scene, "stages"), &[&format!("RUN {command}")]);
    let scene = compiled(base())
        .run("getent passwd app || useradd -u 1000 app", users())
        .copy("models /models", vec![text("models/__init__.py", 0), text("models/model.bin", 9_000)])
        .run(
            "chown -R app:app /models",
            owned(vec![dir("models"), text("models/__init__.py", 0), text("models/model.bin", 9_000)]),
        )
        .step("USER app");
    let stages = best(&scene, "stages");
    in_order(&stages, &["getent passwd app || useradd -u 1000 app", "COPY --chown=app:app models /models"]);
    let stage = last_stage(&stages.dockerfile);
    assert_eq!(stage.matches("useradd").count(), 1, "{stage}");
}

#[test]
fn a_heredoc_stays_a_heredoc() {
    let body = "<<EOF\nset -e\napt-get update\napt-get install -y --no-install-recommends nodejs cmake\nEOF";
    let scene = devel().install(body, [node(), tools()].concat(), vec![]).cmd(&["/usr/bin/node"]);
    in_order(
        &best(&scene, "base"),
        &["RUN <<EOF\nset -e\napt-get update\napt-get install -y --no-install-recommends nodejs\n", "EOF\n"],
    );
}

#[test]
fn parts_of_a_copy_have_its_flags() {
    let tree = || {
        vec![
            text("app/CMakeLists.txt", 300),
            text("app/main.cu", 30_000),
            file("app/run.sh", "#!/bin/sh\nexec serve\n").mode(0o755),
        ]
    };
    let scene = |words: &str| {
        let made = vec![program("usr/local/bin/serve", &["libcurand.so.10"])];
        let owner = if words.contains("chown") { (5, 6) } else { (0, 0) };
        let tree = tree().into_iter().map(|member| member.owned_by(owner.0, owner.1)).collect();
        base()
            .copy(words, tree)
            .run("cmake -B /build /app && cmake --install /build", made)
            .cmd(&["/app/run.sh"])
    };
    has_lines(
        &best(&scene("--chmod=755 --link . /app"), "stages"),
        &["COPY --chmod=755 --link run.sh /app/"],
    );
    has_lines(&best(&scene("--chown=5:6 . /app"), "stages"), &["COPY --chown=5:6 run.sh /app/"]);
    // What a pattern of it is about is said of the whole folder only.
    has_lines(&best(&scene("--exclude=docs/in . /app"), "stages"), &["COPY --exclude=docs/in . /app"]);
    has_lines(&best(&scene("--parents . /app"), "stages"), &["COPY --parents . /app"]);
}

#[test]
fn an_owner_of_a_part_is_given_to_that_part() {
    let tree = |folder: &str| {
        vec![text(&format!("{folder}/main.py"), 900), text(&format!("{folder}/storage/state.db"), 900)]
    };
    let scene = compiled(base().run("useradd -u 1000 app", users()))
        .copy(". /app", tree("app"))
        .run(
            "chown -R app:app /app/storage",
            owned(vec![dir("app/storage"), text("app/storage/state.db", 900)]),
        )
        .step("USER app");
    in_order(
        &best(&scene, "stages"),
        &["useradd", "COPY . /app", "chown -R app:app /app/storage", "USER app"],
    );
    let scene = compiled(base().run("useradd -u 1000 app", users()))
        .copy("rootfs/ /", tree("app"))
        .run("chown -R app:app /app", owned([vec![dir("app"), dir("app/storage")], tree("app")].concat()))
        .step("USER app");
    in_order(&best(&scene, "stages"), &["COPY rootfs/ /", "chown -R app:app /app", "USER app"]);
}

#[test]
fn an_owner_of_folders_that_are_made_stays() {
    let scene = compiled(base().run("useradd -u 1000 app", users()))
        .copy("app /app", vec![text("app/main.py", 900)])
        .run(
            "mkdir -p /app/data && chown -R app:app /app",
            owned(vec![dir("app"), dir("app/data"), text("app/main.py", 900)]),
        )
        .step("USER app");
    let stages = best(&scene, "stages");
    let stage = last_stage(&stages.dockerfile);
    let given =
        stage.contains("install -d -o app -g app /app/data") || stage.contains("chown -R app:app /app");
    assert!(given, "{stage}");
}

#[test]
fn the_mode_of_a_copied_file_stays_with_it() {
    let script = || file("app/entrypoint.sh", "#!/bin/sh\nexec serve\n");
    let scene = base()
        .copy(". /app", vec![script()])
        .run(
            "chmod +x /app/entrypoint.sh && make -C /opt/lib install",
            vec![script().mode(0o755), text("opt/engine/table", 9_000)],
        )
        .cmd(&["/app/entrypoint.sh"]);
    in_order(&best(&scene, "stages"), &["COPY . /app", "chmod +x /app/entrypoint.sh", "CMD"]);
}

#[test]
fn empty_folders_are_made_again() {
    let made =
        || vec![program("usr/local/bin/engine", &["libcurand.so.10"]), dir("var/lib/engine"), dir("data")];
    let scene = base()
        .run(
            "cmake --install build && mkdir -p /var/lib/engine /data /src/build",
            [made(), vec![dir("src/build"), text("src/build/a.o", 10)]].concat(),
        )
        .cmd(&["/usr/local/bin/engine"]);
    let stages = best(&scene, "stages");
    in_order(&stages, &["mkdir -p /var/lib/engine /data"]);
    has_none(&stages, &["/src/build"]);
    let mut members = users();
    members.extend([dir("data").owned_by(1000, 1000), program("usr/local/bin/engine", &[])]);
    let scene = base()
        .run("useradd -u 1000 app && cmake --install build && mkdir -p /data && chown app:app /data", members)
        .set("USER app", "User", json!("app"))
        .cmd(&["/usr/local/bin/engine"]);
    in_order(
        &best(&scene, "stages"),
        &["useradd -u 1000 app", "mkdir -p /data", "chown app:app /data", "USER app"],
    );
}

#[test]
fn what_a_later_command_removes_of_a_copy_does_not_come_back() {
    let copied =
        || vec![text("app/main.py", 900), text("app/secrets.env", 90), text("app/tests/one.py", 900)];
    let scene = |command: &str| {
        compiled(base())
            .workdir("/app", "/app")
            .copy(". .", copied())
            .run(command, vec![file("app/.wh.secrets.env", ""), file("app/.wh.tests", "")])
    };
    in_order(
        &best(&scene("rm -rf secrets.env tests"), "stages"),
        &["COPY . .", "RUN rm -rf secrets.env tests"],
    );
    // In an instruction that builds, behind a COPY that is repeated.
    let scene = base()
        .copy(". /app", copied())
        .run(
            "make -C /app install && rm -rf /app/secrets.env /app/tests",
            vec![text("opt/engine/table", 9_000), file("app/.wh.secrets.env", ""), file("app/.wh.tests", "")],
        )
        .cmd(&["/app/main.py"]);
    in_order(&best(&scene, "stages"), &["COPY . /app", "rm -rf /app/secrets.env /app/tests"]);
}

#[test]
fn a_folder_that_a_variable_names_is_made_again() {
    let made = || vec![text("opt/engine/table", 9_000), dir("data").owned_by(65_534, 0)];
    let scene = base()
        .set("ENV STATE=/data", "Env", json!(["STATE=/data"]))
        .run("make && make install && install -d -o nobody $STATE", made())
        .cmd(&["/opt/engine/table"]);
    let stages = best(&scene, "stages");
    in_order(&stages, &["ENV STATE=/data", "RUN install -d -o nobody $STATE"]);
}

#[test]
fn an_argument_comes_before_what_uses_it() {
    let made = || vec![text("opt/engine/table", 9_000)];
    let scene = base()
        .arg("UID", "1000")
        .run("useradd -m -u ${UID} app && make install", [users(), made()].concat())
        .set("USER app", "User", json!("app"))
        .cmd(&["/opt/engine/table"]);
    in_order(&best(&scene, "stages"), &["ARG UID=1000", "useradd -m -u ${UID} app", "USER app"]);
    // Users that go first take their argument along.
    let scene =
        compiled(base().copy("models /models", vec![text("models/model.bin", 9_000)]).arg("UID", "1000"))
            .run("useradd -m -u ${UID} app", users())
            .run("chown -R app:app /models", owned(vec![dir("models"), text("models/model.bin", 9_000)]))
            .step("USER app");
    in_order(
        &best(&scene, "stages"),
        &["ARG UID=1000", "useradd -m -u ${UID} app", "COPY --chown=app:app models"],
    );
}

#[test]
fn recommended_packages_that_are_needed_are_named() {
    let debs = || {
        vec![
            deb("curl", "libc6", vec![program("usr/bin/curl", &[])]),
            deb("ca-certificates", "", vec![text("usr/share/ca-certificates/one.crt", 500)]),
            deb("publicsuffix", "", vec![text("usr/share/publicsuffix/list", 500)]),
        ]
    };
    let command = "apt-get update && apt-get install -y curl cmake git";
    let scene = compiled(devel().install(command, [debs(), tools()].concat(), vec![]));
    let stages = best(&scene, "stages");
    let stage = last_stage(&stages.dockerfile);
    let line = stage.lines().find(|line| line.contains("apt-get install")).expect(stage);
    assert!(line.contains("--no-install-recommends curl ca-certificates"), "{stage}");
    let said = stages.closure.unproven.iter().any(|line| line.contains("publicsuffix"));
    assert!(said, "{:#?}", stages.closure);
}

#[test]
fn a_file_that_is_installed_is_copied() {
    let scene = base()
        .workdir("/src", "/src")
        .copy(". /src", vec![text("src/main.cu", 3_000), text("src/CMakeLists.txt", 300)])
        .run("make", vec![program("src/server", &["libcurand.so.10"])])
        .run(
            "install -m755 /src/server /usr/local/bin/server",
            vec![program("usr/local/bin/server", &["libcurand.so.10"])],
        )
        .cmd(&["/usr/local/bin/server"]);
    let stages = best(&scene, "stages");
    has_none(&stages, &["install -m755"]);
    in_order(&stages, &["COPY --from=build /usr/local/bin/server /usr/local/bin/server"]);
    // `env` does what it starts does.
    let made = vec![program("usr/local/bin/server", &["libcurand.so.10"])];
    let scene = base().run("env CC=gcc make install", made).cmd(&["/usr/local/bin/server"]);
    in_order(&best(&scene, "stages"), &["COPY --from=build /usr/local/bin/server /usr/local/bin/server"]);
}

#[test]
fn commands_run_as_the_user_that_they_ran_as() {
    let scene = built(base().run("useradd -m -u 1000 app", users()).step("USER app"), &["libcurand.so.10"])
        .run("mkdir -p /home/app/cache", vec![dir("home/app/cache").owned_by(1000, 1000)])
        .step("USER root")
        .cmd(&["/usr/local/bin/serve"]);
    in_order(&best(&scene, "stages"), &["useradd", "USER app", "RUN mkdir -p /home/app/cache", "USER root"]);
}

#[test]
fn no_copy_lists_more_paths_than_somebody_reads() {
    let many: Vec<Member> = (0..7)
        .flat_map(|number| library("usr/local/lib", &format!("libpart{number}.so.1"), "", &[]))
        .collect();
    let scene = base()
        .run("make install", [many, vec![program("usr/local/bin/serve", &[])]].concat())
        .copy("extra.so /usr/local/lib/extra.so", library("usr/local/lib", "extra.so", "", &[]))
        .cmd(&["/usr/local/bin/serve"]);
    let stages = best(&scene, "stages");
    let stage = last_stage(&stages.dockerfile);
    for line in stage.lines().filter(|line| line.starts_with("COPY")) {
        assert!(line.split_whitespace().count() <= 8, "{stage}");
    }
}
