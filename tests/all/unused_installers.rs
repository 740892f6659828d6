//! Package managers of Python in final images, with the packages that only they require.

use serde_json::{Value, json};

use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::wheel_requiring;
use crate::fixtures::tarball::{Member, file, tar};
use crate::support::{Place, Report};

const SITE: &str = "usr/local/lib/python3.12/site-packages";

/// The findings of the rule in an image with these files and this command.
fn found_in(members: Vec<Member>, command: &[&str]) -> Vec<Value> {
    let mut image = Image::of(Packing::Gzip, [tar(members)]);
    image.config = json!({"Cmd": command, "WorkingDir": "/app"});
    let place = Place::new();
    let report: Report =
        place.report(&format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t"))));
    let findings = report.json["findings"].as_array().unwrap();
    findings.iter().filter(|one| one["rule"] == "unused-installers").cloned().collect()
}

fn paths(finding: &Value) -> Vec<&str> {
    finding["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect()
}

/// A package with one module.
fn package(site: &str, name: &str, requires: &[&str]) -> Vec<Member> {
    let module = format!("{}.py", name.replace('-', "_"));
    wheel_requiring(site, name, "1.0", requires, &[(&module, b"x = 1\n".to_vec())])
}

fn requested(site: &str, name: &str) -> Member {
    file(format!("{site}/{}-1.0.dist-info/REQUESTED", name.replace('-', "_")), "")
}

/// Poetry with what it requires, and a service whose project requires flask.
fn service() -> Vec<Member> {
    let mut members = vec![
        file("etc/passwd", "root:x:0:0::/root:/bin/sh\n"),
        file(
            "app/pyproject.toml",
            "[project]\nname = \"app\"\nversion = \"1\"\ndependencies = [\"flask\", \"tomlkit\"]\n",
        ),
        file("app/start.sh", "#!/bin/sh\nexec gunicorn app:app\n").mode(0o755),
    ];
    members.extend(package(
        SITE,
        "poetry",
        &["poetry-core", "requests>=2", "keyring", "zstandard", "tomlkit", "pip", "packaging"],
    ));
    members.push(requested(SITE, "poetry"));
    for name in ["poetry-core", "keyring", "tomlkit", "pip", "packaging", "click"] {
        members.extend(package(SITE, name, &[]));
    }
    members.push(requested(SITE, "packaging"));
    members.extend(package(SITE, "requests", &["certifi"]));
    members.extend(package(SITE, "certifi", &[]));
    // What a package uses where it is there stays with it.
    members.extend(package(SITE, "flask", &["click", "zstandard; extra == 'zstd'"]));
    members.extend(package(SITE, "zstandard", &[]));
    members
}

#[test]
fn poetry_goes_with_what_only_it_requires() {
    let found = found_in(service(), &["./start.sh"]);
    let [one] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(one["verdict"], "unsure");
    assert_eq!(one["title"], "poetry without a known use, with 4 packages that only it requires");
    assert_eq!(
        one["question"],
        "Does the service start poetry at run time, or import certifi, keyring, poetry-core, requests?"
    );
    let names = paths(one).into_iter().map(|path| path.rsplit('/').next().unwrap());
    let modules: Vec<&str> = names.filter(|name| name.contains(".py")).collect();
    // tomlkit is the project's, packaging was asked for by name, pip is in every environment, zstandard is used by flask.
    assert_eq!(modules, ["certifi.py", "keyring.py", "poetry.py", "poetry_core.py", "requests.py"]);
}

#[test]
fn who_starts_them_keeps_them() {
    for command in [
        &["poetry", "run", "gunicorn"][..],
        &["python", "-m", "poetry", "run", "x"],
        &["sh", "-c", "exec poetry run x"],
    ] {
        assert!(found_in(service(), command).is_empty(), "{command:?}");
    }
    let mut members = service();
    members.retain(|member| member.name != b"app/start.sh");
    members.push(file("app/start.sh", "#!/bin/sh\nset -e\npoetry run gunicorn app:app\n").mode(0o755));
    assert!(found_in(members, &["./start.sh"]).is_empty());
}

#[test]
fn an_environment_of_its_own_goes_as_a_whole() {
    let site = "opt/poetry/lib/python3.12/site-packages";
    let mut members = vec![file("opt/poetry/pyvenv.cfg", "home = /usr/local/bin\n")];
    members.extend(package(site, "poetry", &["requests"]));
    members.extend(package(site, "requests", &[]));
    members.extend(package(site, "pip", &[]));
    let found = found_in(members, &["python", "app.py"]);
    let [one] = &found[..] else { panic!("{found:#?}") };
    assert!(paths(one).contains(&"/opt/poetry/lib/python3.12/site-packages/pip.py"), "{one:#}");
}

#[test]
fn uv_without_a_package_is_a_question() {
    let program = |path: &str| file(path, Elf::program(path).build()).mode(0o755);
    let members =
        || vec![file("etc/passwd", "root:x:0:0::/root:/bin/sh\n"), program("bin/uv"), program("bin/uvx")];
    let found = found_in(members(), &["/app/.venv/bin/uvicorn", "app:app"]);
    let [one] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(one["question"], "Does the service start uv at run time?");
    assert_eq!(paths(one), ["/bin/uv", "/bin/uvx"]);
    assert!(found_in(members(), &["uv", "run", "app.py"]).is_empty());
    let mut named = members();
    named.push(file("app/tool.py", "import subprocess\nsubprocess.run([\"uv\", \"pip\", \"list\"])\n"));
    let found = found_in(named, &["python", "serve.py"]);
    assert_eq!(found[0]["question"], "Does the service start uv at run time? /app/tool.py names uv.");
}
