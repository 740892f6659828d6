//! Settings and commands of the build stage that a new stage needs again.

use cutaway::rewrite::Applicability;
use serde_json::json;

use super::parts::{built, devel, program, text, tools, weighty};
use super::scene::{Scene, has_lines, has_none, last_stage, one};
use crate::fixtures::tarball::{Member, dir, file};

fn base() -> Scene {
    built(devel().apt("cmake git", tools()), &["libcurand.so.10"])
}

fn count(text: &str, word: &str) -> usize {
    text.matches(word).count()
}

#[test]
fn settings_between_other_lines_are_repeated_once_each() {
    let scene = devel()
        .set("SHELL [\"/bin/sh\",\"-c\"]", "Shell", json!(["/bin/sh", "-c"]))
        .step("LABEL one=1")
        .step("EXPOSE 80")
        .set("HEALTHCHECK CMD [\"/bin/true\"]", "Healthcheck", json!({"Test": ["CMD", "/bin/true"]}))
        .set(
            "HEALTHCHECK CMD [\"/usr/local/bin/serve\",\"--check\"]",
            "Healthcheck",
            json!({"Test": ["CMD", "/usr/local/bin/serve", "--check"]}),
        )
        .set("STOPSIGNAL SIGINT", "StopSignal", json!("SIGINT"))
        .set("STOPSIGNAL SIGQUIT", "StopSignal", json!("SIGQUIT"))
        .step("VOLUME /data")
        .env("MODE", "fast")
        .env("MODE", "slow")
        .set("ENTRYPOINT [\"/wrong\"]", "Entrypoint", json!(["/wrong"]))
        .apt("cmake git", tools())
        .step("EXPOSE 8080/tcp");
    let mut scene =
        built(scene, &["libcurand.so.10"]).entrypoint(&["/usr/local/bin/serve"]).step("LABEL two=2");
    scene.image.config["Labels"]["one"] = json!("1");
    scene.image.config["Labels"]["two"] = json!("2");
    scene.image.config["ExposedPorts"] = json!({"80/tcp": {}, "8080/tcp": {}});
    scene.image.config["Volumes"] = json!({"/data": {}});
    let best = &scene.propose().list[0];
    let stage = last_stage(&best.dockerfile);
    for once in [
        "SHELL [",
        "LABEL one=1",
        "EXPOSE 80\n",
        "EXPOSE 8080/tcp",
        "\"--check\"]",
        "STOPSIGNAL SIGQUIT",
        "VOLUME /data",
        "ENV MODE=slow",
        "ENTRYPOINT [\"/usr/local/bin/serve\"]",
        "LABEL two=2",
        "WORKDIR /src",
    ] {
        assert_eq!(count(stage, once), 1, "{once}: {stage}");
    }
    has_none(best, &["SIGINT", "/bin/true", "/wrong", "ENV MODE=fast\nENV MODE=fast"]);
    assert!(best.closure.resolved, "{:#?}", best.closure);
    // What the last value is comes last.
    assert!(
        stage.find("ENV MODE=fast").is_none_or(|at| at < stage.find("ENV MODE=slow").unwrap()),
        "{stage}"
    );
}

#[test]
fn what_the_last_lines_say_is_not_repeated_before_them() {
    let scene = base()
        .step("USER root")
        .set("WORKDIR /tmp", "WorkingDir", json!("/src"))
        .cmd(&["/usr/local/bin/serve"]);
    let best = &scene.propose().list[0];
    let stage = last_stage(&best.dockerfile);
    assert_eq!(count(stage, "USER "), 1, "{stage}");
    assert_eq!(count(stage, "CMD "), 1, "{stage}");
}

#[test]
fn a_relative_working_folder_is_told_whole() {
    let scene = devel()
        .apt("cmake git", tools())
        .workdir("/srv", "/srv")
        .workdir("app", "/srv/app")
        .copy("serve .", vec![program("srv/app/serve", &["libcurand.so.10"])])
        .cmd(&["./serve"]);
    let best = &scene.propose().list[0];
    assert!(best.closure.resolved, "{:#?}", best.closure);
    has_lines(best, &["WORKDIR /srv", "WORKDIR app", "COPY serve ."]);
    // A stage that is new is told the whole path.
    let scene = devel()
        .apt("cmake git", tools())
        .workdir("/srv", "/srv")
        .workdir("app", "/srv/app")
        .copy("main.cu .", vec![file("srv/app/main.cu", "int main() {}\n")])
        .run("nvcc -o serve main.cu", vec![program("srv/app/serve", &["libcurand.so.10"])])
        .cmd(&["./serve"]);
    let best = one(&scene.propose(), "stages").clone();
    has_lines(&best, &["WORKDIR /srv/app"]);
    has_none(&best, &["WORKDIR app"]);
    // The last one is among those that end the file: it starts from the one before.
    let scene = devel()
        .apt("cmake git", tools())
        .copy("serve /srv/app/", vec![program("srv/app/serve", &["libcurand.so.10"])])
        .workdir("/srv", "/srv")
        .workdir("app", "/srv/app")
        .cmd(&["./serve"]);
    let best = &scene.propose().list[0];
    let stage = last_stage(&best.dockerfile);
    assert!(stage.contains("WORKDIR /srv\nWORKDIR app\n") || stage.contains("WORKDIR /srv/app\n"), "{stage}");
}

#[test]
fn a_relative_working_folder_at_the_end_keeps_what_it_is_relative_to() {
    let scene = devel()
        .apt("cmake git", tools())
        .workdir("/srv", "/srv")
        .copy("serve app/", vec![program("srv/app/serve", &["libcurand.so.10"])])
        .workdir("app", "/srv/app")
        .cmd(&["./serve"]);
    let best = &scene.propose().list[0];
    let stage = last_stage(&best.dockerfile);
    let lines: Vec<&str> = stage.lines().filter(|line| line.starts_with("WORKDIR")).collect();
    assert!(lines == ["WORKDIR /srv", "WORKDIR app"] || lines == ["WORKDIR /srv/app"], "{stage}");
}

#[test]
fn a_working_folder_that_nothing_uses_is_not_repeated() {
    let scene = |built: &[Member]| {
        let serve = program("usr/local/bin/serve", &["libcurand.so.10"]);
        devel()
            .apt("cmake git", tools())
            .workdir("/src/build", "/src/build")
            .run("cmake .. && make install", [built, &[serve]].concat())
            .copy(
                "run.sh /usr/local/bin/run.sh",
                vec![file("usr/local/bin/run.sh", "#!/bin/sh\nexec serve\n").mode(0o755)],
            )
            .workdir("/", "/")
            .cmd(&["/usr/local/bin/run.sh"])
    };
    let folders = |scene: &Scene| {
        let best = one(&scene.propose(), "stages").clone();
        let lines = last_stage(&best.dockerfile).lines().filter(|line| line.starts_with("WORKDIR"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let cache = text("src/build/CMakeCache.txt", 2_000);
    assert_eq!(folders(&scene(&[cache])), ["WORKDIR /"]);
    // The service may write to an empty one.
    assert_eq!(folders(&scene(&[])), ["WORKDIR /src/build", "WORKDIR /"]);
}

#[test]
fn arguments_that_settings_use_are_repeated_before_them() {
    let scene = devel().arg("PORT", "8000").arg("JOBS", "4").apt("cmake git", tools());
    let scene = built(scene, &["libcurand.so.10"]).step("ENV LISTEN=$PORT").cmd(&["/usr/local/bin/serve"]);
    let best = &scene.propose().list[0];
    let stage = last_stage(&best.dockerfile);
    assert!(
        stage.find("ARG PORT=8000").expect(stage) < stage.find("ENV LISTEN=$PORT").expect(stage),
        "{stage}"
    );
    has_none(best, &["JOBS"]);
}

#[test]
fn a_path_that_goes_on_from_nvidias_keeps_what_it_goes_on_from() {
    // On the distribution's image the variable is empty: the folders of the host's driver would be lost.
    let mut scene = weighty()
        .apt("cmake git", tools())
        .copy("app /opt/", vec![program("opt/app", &[])])
        .step("ENV LD_LIBRARY_PATH=/opt/own:$LD_LIBRARY_PATH")
        .cmd(&["/opt/app"]);
    let list = scene.image.config["Env"].as_array_mut().unwrap();
    list.retain(|pair| !pair.as_str().unwrap().starts_with("LD_LIBRARY_PATH="));
    list.push(json!("LD_LIBRARY_PATH=/opt/own:/usr/local/nvidia/lib:/usr/local/nvidia/lib64"));
    let best = &one(&scene.propose(), "distribution").clone();
    assert_eq!(best.base_image.as_deref(), Some("ubuntu:22.04"));
    let stage = last_stage(&best.dockerfile);
    assert_eq!(count(stage, "LD_LIBRARY_PATH=/opt/own:$LD_LIBRARY_PATH"), 1, "{stage}");
    let before = stage.find("LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/nvidia/lib64").expect(stage);
    assert!(before < stage.find("/opt/own").unwrap(), "{stage}");
}

#[test]
fn arguments_that_repeated_commands_use_are_repeated_before_them() {
    let scene = devel().arg("UID", "1234").run(
        "useradd -u $UID -m app",
        vec![
            file("etc/passwd", "root:x:0:0:root:/root:/bin/bash\napp:x:1234:1234::/home/app:/bin/sh\n"),
            dir("home/app").owned_by(1234, 1234),
        ],
    );
    let scene = built(scene.apt("cmake git", tools()), &["libcurand.so.10"])
        .set("USER app", "User", json!("app"))
        .cmd(&["/usr/local/bin/serve"]);
    let best = one(&scene.propose(), "stages").clone();
    let stage = last_stage(&best.dockerfile);
    let at = stage.find("useradd -u $UID").expect(stage);
    assert!(stage[..at].contains("ARG UID=1234"), "{stage}");
    has_none(&best, &["/etc/passwd"]);
}

#[test]
fn users_by_variables_of_the_shell_are_left_to_the_user() {
    let scene = devel().run(
        "NAME=app && useradd -m $NAME",
        vec![file("etc/passwd", "root:x:0:0:root:/root:/bin/bash\napp:x:1000:1000::/home/app:/bin/sh\n")],
    );
    let scene = built(scene.apt("cmake git", tools()), &["libcurand.so.10"]).cmd(&["/usr/local/bin/serve"]);
    let best = one(&scene.propose(), "stages").clone();
    // The whole instruction, or it is said that somebody has to be added.
    let said = best.closure.unproven.iter().any(|line| line.contains("adds a user"));
    let repeated = last_stage(&best.dockerfile).contains("NAME=app && useradd -m $NAME");
    assert!(repeated || said && best.applicability == Applicability::Manual, "{}", best.dockerfile);
    has_none(&best, &["/etc/passwd"]);
}

#[test]
fn working_folders_on_both_sides_of_the_cut_add_up() {
    let scene = devel()
        .apt("cmake git", tools())
        .workdir("/srv", "/srv")
        .workdir("app", "/srv/app")
        .copy("bin bin", vec![program("srv/app/bin/serve", &["libcurand.so.10"])])
        .workdir("bin", "/srv/app/bin")
        .cmd(&["./serve"]);
    let best = &scene.propose().list[0];
    let stage = last_stage(&best.dockerfile);
    assert!(stage.contains("\nWORKDIR /srv\nWORKDIR app\nCOPY bin bin\nWORKDIR bin\n"), "{stage}");
    // With a build stage below them.
    let scene = built(devel().apt("cmake git", tools()), &["libcurand.so.10"])
        .workdir("/srv", "/srv")
        .workdir("app", "/srv/app")
        .cmd(&["/usr/local/bin/serve"]);
    let best = one(&scene.propose(), "stages").clone();
    let stage = last_stage(&best.dockerfile);
    assert!(stage.contains("\nWORKDIR /srv\nWORKDIR app\nCMD"), "{stage}");
}
