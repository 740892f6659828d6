//! Programs of the command and the health check that an image does not have.

use serde_json::{Value, json};

use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, symlink, tar};
use crate::support::{Place, Report};

/// The findings of the rule in an image with a shell, Python, wget and a service, and with this config.
fn found_in(config: &Value) -> Vec<Value> {
    let program = |path: &str| file(path, Elf::program(path).build()).mode(0o755);
    let members: Vec<Member> = vec![
        file("etc/passwd", "root:x:0:0::/root:/bin/sh\n"),
        program("usr/bin/dash"),
        symlink("bin", "usr/bin"),
        symlink("usr/bin/sh", "dash"),
        program("usr/local/bin/python3.12"),
        symlink("usr/local/bin/python", "python3.12"),
        program("usr/bin/wget"),
        program("usr/bin/tini"),
        file("app/start.sh", "#!/bin/sh\nexec python app.py\n").mode(0o755),
    ];
    let mut image = Image::of(Packing::Gzip, [tar(members)]);
    let mut whole = json!({"Env": ["PATH=/usr/local/bin:/usr/bin:/bin"], "WorkingDir": "/app"});
    whole.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
    image.config = whole;
    let place = Place::new();
    let report: Report =
        place.report(&format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t"))));
    let findings = report.json["findings"].as_array().unwrap();
    findings.iter().filter(|one| one["rule"] == "missing-programs").cloned().collect()
}

#[test]
fn a_health_check_without_its_program_is_told() {
    let found = found_in(&json!({
        "Cmd": ["python", "app.py"],
        "Healthcheck": {"Test": ["CMD-SHELL", "curl -f http://localhost:8000/ || exit 1"]},
    }));
    let [one] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(one["title"], "curl is missing for the health check");
    assert_eq!((&one["severity"], &one["verdict"]), (&json!("medium"), &json!("unsure")));
    let reason = one["reason"].as_str().unwrap();
    assert!(reason.starts_with("The health check starts curl, which is not in the image."), "{reason}");
    assert!(reason.contains("the container counts as unhealthy"), "{reason}");
    assert_eq!(one["proof"], json!(["no program curl in PATH", "PATH is /usr/local/bin:/usr/bin:/bin"]),);
}

#[test]
fn a_command_without_its_program_does_not_start() {
    for (config, title) in [
        (json!({"Cmd": ["gunicorn", "app:app"]}), "gunicorn is missing for the image's command"),
        (
            json!({"Cmd": ["/bin/sh", "-c", "cd /app && exec gunicorn app:app"]}),
            "gunicorn is missing for the image's command",
        ),
        (
            json!({"Entrypoint": ["tini", "--"], "Cmd": ["node", "x.js"]}),
            "node is missing for the image's command",
        ),
        (
            json!({"Cmd": ["/bin/bash", "-c", "python app.py"]}),
            "/bin/bash is missing for the image's command",
        ),
        (json!({"Entrypoint": ["./run.sh"]}), "./run.sh is missing for the image's command"),
    ] {
        let found = found_in(&config);
        let [one] = &found[..] else { panic!("{config}: {found:#?}") };
        assert_eq!(one["title"], title);
        assert_eq!(one["severity"], "high");
    }
}

#[test]
fn what_the_image_has_or_may_get_is_not_told() {
    let check = |text: &str| json!({"Cmd": ["./start.sh"], "Healthcheck": {"Test": ["CMD-SHELL", text]}});
    for config in [
        json!({"Cmd": ["python", "app.py"]}),
        json!({"Cmd": ["/bin/sh", "-c", "A=1 exec python app.py"]}),
        json!({"Cmd": ["/bin/sh", "-c", "$PROGRAM app.py"]}),
        json!({"Entrypoint": ["tini", "--"], "Cmd": ["./start.sh"]}),
        json!({"Cmd": ["/models/run"], "Volumes": {"/models": {}}}),
        json!({"Cmd": ["/srv/run"]}),
        check("curl -f http://localhost/ || wget -q http://localhost/ || exit 1"),
        check("wget -q http://localhost/ || curl -f http://localhost/"),
        check("command -v curl && curl -f http://localhost/"),
        check("if test -x /usr/bin/curl; then curl -f http://localhost/; fi"),
        check("test -e /tmp/ready && exit 0"),
        check("nvidia-smi"),
        check("[ -x /usr/bin/curl ] && curl -f http://localhost/"),
        json!({"Cmd": ["/bin/sh", "-c", "cd /srv && ./serve"], "WorkingDir": "/"}),
        json!({"Cmd": ["/bin/sh", "-c", ". /venv/bin/activate && gunicorn app"]}),
        json!({"Cmd": ["/bin/sh", "-c", "export PATH=/venv/bin:$PATH && exec gunicorn app"]}),
        json!({"Cmd": ["/bin/sh", "-c", "npm install -g serve && serve"]}),
        json!({"Cmd": ["/bin/sh", "-lc", "nvm use; rails s"]}),
        json!({"Cmd": ["sh", "./start.sh", "-c", "s3cr3t"]}),
        json!({"Cmd": ["tini", "python", "--", "--host"]}),
        json!({"Cmd": ["/bin/sh", "-c", "run() { python x.py; }; run"]}),
        json!({"Cmd": ["[python,'x.js']"]}),
        json!({"Cmd": ["./start.sh"], "Healthcheck": {"Test": ["NONE"]}}),
        json!({}),
    ] {
        let found = found_in(&config);
        assert!(found.is_empty(), "{config}: {found:#?}");
    }
}

#[test]
fn what_goes_on_without_a_program_is_not_said_to_fail() {
    let reason = |config: Value| {
        let found = found_in(&config);
        let [one] = &found[..] else { panic!("{config}: {found:#?}") };
        one["reason"].as_str().unwrap().to_owned()
    };
    let shell = |text: &str| json!({"Cmd": ["/bin/sh", "-c", text]});
    let check =
        |text: &str| json!({"Cmd": ["python", "app.py"], "Healthcheck": {"Test": ["CMD-SHELL", text]}});
    for text in ["ntpdate pool.example.org; exec python app.py", "prewarm & exec python app.py"] {
        let reason = reason(shell(text));
        assert!(reason.ends_with("Its script ends there, or goes on without it."), "{text}: {reason}");
    }
    for text in ["curl -f http://x; exit 0", "curl -s http://x | wget -O- http://y"] {
        let reason = reason(check(text));
        assert!(reason.ends_with("Its script ends there, or goes on without it."), "{text}: {reason}");
    }
    let alone = reason(shell("cd /app && exec gunicorn app:app"));
    assert!(alone.ends_with("The container does not start."), "{alone}");
    // Another program does it.
    for text in [
        "curl -f http://x && echo ok || wget -q http://x",
        "curl -s http://x | wget -O- http://y || python -c 1",
    ] {
        assert_eq!(found_in(&check(text)), Vec::<Value>::new(), "{text}");
    }
    for text in ["mapfile -t x < /etc/passwd; exec python app.py", "enable -n test; exec python app.py"] {
        assert_eq!(found_in(&shell(text)), Vec::<Value>::new(), "{text}");
    }
}

#[test]
fn a_long_path_is_shown_once() {
    let path = format!("PATH=/usr/local/bin:/usr/bin:/bin:{}", "/x".repeat(2_000));
    let text = (0..300).map(|at| format!("missing{at}")).collect::<Vec<_>>().join("; ");
    let found = found_in(&json!({"Env": [path], "Cmd": ["/bin/sh", "-c", text]}));
    let [one] = &found[..] else { panic!("{found:#?}") };
    let proof = one["proof"].as_array().unwrap();
    assert_eq!(proof.len(), 102, "{proof:#?}");
    assert_eq!(proof[100], "and 200 more");
    assert!(proof.iter().all(|line| line.as_str().unwrap().chars().count() < 600), "{proof:#?}");
}
