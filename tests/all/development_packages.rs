//! Packages that projects declare for development: records of npm, and `pyproject.toml` with what pip installed.

use serde_json::{Value, json};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{Content, wheel_requiring};
use crate::fixtures::tarball::{Member, file, hardlink, symlink, tar};
use crate::support::{Place, Report};

const SITE: &str = "app/.venv/lib/python3.12/site-packages";

/// The findings of an image with these files and this command.
fn found_in(members: Vec<Member>, command: &[&str]) -> Vec<Value> {
    let mut image = Image::of(Packing::Gzip, [tar(members)]);
    image.config = json!({"Cmd": command, "WorkingDir": "/app"});
    let place = Place::new();
    let report: Report =
        place.report(&format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t"))));
    let findings = report.json["findings"].as_array().unwrap();
    findings.iter().filter(|one| one["rule"] == "development-packages").cloned().collect()
}

fn paths(finding: &Value) -> Vec<&str> {
    finding["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect()
}

fn node(scripts: &Value) -> Vec<Member> {
    let record = json!({"lockfileVersion": 3, "packages": {
        "node_modules/express": {"version": "5.1.0"},
        "node_modules/debug": {"version": "4.4.0"},
        "node_modules/tsx": {"version": "4.20.0", "dev": true},
        "node_modules/tsx/node_modules/debug": {"version": "3.0.0", "dev": true},
        "node_modules/tsx/node_modules/kept": {"version": "1.0.0"},
        "node_modules/../../etc": {"version": "1.0.0", "dev": true},
        "node_modules/absent": {"version": "1.0.0", "dev": true},
    }});
    let project = json!({"devDependencies": {"tsx": "^4"}, "scripts": scripts});
    vec![
        file("etc/passwd", "root:x:0:0::/root:/bin/sh\n"),
        file("app/package.json", project.to_string()),
        file("app/node_modules/.package-lock.json", record.to_string()),
        file("app/node_modules/express/index.js", "module.exports = 1\n"),
        file("app/node_modules/debug/index.js", "module.exports = 4\n"),
        file("app/node_modules/tsx/dist/cli.mjs", "#!/usr/bin/env node\n"),
        file("app/node_modules/tsx/package.json", "{}"),
        file("app/node_modules/tsx/node_modules/debug/index.js", "module.exports = 3\n"),
        file("app/node_modules/tsx/node_modules/kept/index.js", "module.exports = 2\n"),
        symlink("app/node_modules/.bin/run-ts", "../tsx/dist/cli.mjs"),
    ]
}

#[test]
fn npm_records_what_only_development_requires() {
    let found = found_in(node(&json!({})), &["node", "dist/index.js"]);
    let [one] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((&one["verdict"], &one["category"]), (&json!("unsure"), &json!("build-tools")));
    assert_eq!(one["title"], "Development packages: tsx, debug");
    assert_eq!(
        paths(one),
        [
            "/app/node_modules/tsx/dist/cli.mjs",
            "/app/node_modules/tsx/node_modules/debug/index.js",
            "/app/node_modules/tsx/package.json",
        ]
    );
    assert_eq!(one["question"], "Does the service need tsx, debug at run time?");
    assert!(one["reason"].as_str().unwrap().contains("/app/node_modules/.package-lock.json"), "{one:#}");
    assert!(one["fix"].as_str().unwrap().contains("npm ci --omit=dev"), "{one:#}");
}

#[test]
fn what_the_command_starts_is_required() {
    for (scripts, command, reason) in [
        (json!({}), &["npx", "tsx", "src/index.ts"][..], "The image's command starts tsx"),
        (
            json!({}),
            &["/bin/sh", "-c", "exec node_modules/.bin/run-ts src/index.ts"],
            "The image's command starts tsx",
        ),
        (
            json!({"start": "tsx src/index.ts"}),
            &["npm", "start"],
            "The script start of package.json starts tsx",
        ),
        (
            json!({"start": "npm run serve", "preserve": "run-ts check.ts", "serve": "node ."}),
            &["npm", "start"],
            "The script preserve of package.json starts tsx",
        ),
    ] {
        let found = found_in(node(&scripts), command);
        assert_eq!(found[0]["verdict"], "needed", "{command:?} {found:#?}");
        assert!(found[0]["reason"].as_str().unwrap().starts_with(reason), "{command:?} {found:#?}");
    }
    // A script that nothing starts does not count.
    let found = found_in(node(&json!({"dev": "tsx watch src/index.ts"})), &["npm", "start"]);
    assert_eq!(found[0]["verdict"], "unsure");
    let found = found_in(node(&json!({"test": "tsx test"})), &["node", "test"]);
    assert_eq!(found[0]["verdict"], "unsure");
}

/// An environment of uv with packages and what they require.
fn python(project: &str, packages: &[(&str, &[&str], &Content<'_>)]) -> Vec<Member> {
    let mut members = vec![
        file("app/pyproject.toml", project),
        file("app/uv.lock", "version = 1\n"),
        file("app/.venv/pyvenv.cfg", "home = /usr/bin\n"),
    ];
    for (name, requires, content) in packages {
        members.extend(wheel_requiring(SITE, name, "1.0", requires, content));
    }
    members
}

const PROJECT: &str = r#"
[project]
name = "service"
dependencies = ["flask[async]>=3"]
[dependency-groups]
dev = ["pytest", "Ruff_Lint"]
"#;

/// Name, what it requires, files.
type Package = (&'static str, &'static [&'static str], Vec<(&'static str, Vec<u8>)>);

fn packages() -> Vec<Package> {
    let module = |path| vec![(path, b"x = 1\n".to_vec())];
    vec![
        (
            "flask",
            &["click", "asgiref; extra == 'async'", "mypy; extra == 'dev'"],
            module("flask/__init__.py"),
        ),
        ("click", &[], module("click.py")),
        ("asgiref", &["typing-extensions"], module("asgiref.py")),
        ("typing-extensions", &[], module("typing_extensions.py")),
        ("pytest", &["pluggy>=1", "typing-extensions", "click"], module("pytest.py")),
        ("pluggy", &[], module("pluggy.py")),
        ("ruff-lint", &["mypy"], module("../../../bin/ruff")),
        ("mypy", &[], module("mypy.py")),
    ]
}

fn environment(project: &str, packages: &[Package]) -> Vec<Member> {
    let packages: Vec<_> =
        packages.iter().map(|(name, requires, content)| (*name, *requires, &content[..])).collect();
    python(project, &packages)
}

#[test]
fn groups_for_development_are_followed_through_the_metadata() {
    let mut members = environment(PROJECT, &packages());
    members.push(file(format!("{SITE}/__pycache__/pluggy.cpython-312.pyc"), "bytecode"));
    members.push(file(format!("{SITE}/__pycache__/click.cpython-312.pyc"), "bytecode"));
    let found = found_in(members, &["/app/.venv/bin/python", "-m", "service"]);
    let [one] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(one["verdict"], "unsure");
    assert_eq!(one["title"], "Development packages: pytest, ruff-lint, pluggy and 1 more");
    let paths = paths(one);
    for name in [
        "pytest.py",
        "pluggy.py",
        "mypy.py",
        "__pycache__/pluggy.cpython-312.pyc",
        "pytest-1.0.dist-info/RECORD",
    ] {
        assert!(paths.contains(&format!("/{SITE}/{name}").as_str()), "{name}: {paths:?}");
    }
    assert!(paths.contains(&"/app/.venv/bin/ruff"), "{paths:?}");
    for kept in ["flask", "click", "asgiref", "typing_extensions"] {
        assert!(!paths.iter().any(|path| path.contains(kept)), "{kept}: {paths:?}");
    }
    assert!(one["fix"].as_str().unwrap().contains("uv sync --no-dev"), "{one:#}");
}

#[test]
fn what_something_else_installed_requires_is_kept() {
    // Installed, and no project requires it.
    let mut more = packages();
    more.push(("plugin", &["pluggy"], vec![("plugin.py", b"x = 1\n".to_vec())]));
    let kept = found_in(environment(PROJECT, &more), &["python"]);
    assert!(!paths(&kept[0]).iter().any(|path| path.contains("pluggy")), "{kept:#?}");
    // The extra of a package that another one asks for.
    let mut more = packages();
    more.push(("plugin", &["flask[dev]"], vec![("plugin.py", b"x = 1\n".to_vec())]));
    let kept = found_in(environment(PROJECT, &more), &["python"]);
    assert!(!paths(&kept[0]).iter().any(|path| path.contains("mypy")), "{kept:#?}");
    // A file that another package lists, too.
    let mut more = packages();
    more.push(("both", &[], vec![("pluggy.py", b"x = 1\n".to_vec())]));
    let kept = found_in(environment(PROJECT, &more), &["python"]);
    assert!(!paths(&kept[0]).contains(&format!("/{SITE}/pluggy.py").as_str()), "{kept:#?}");
    // A file with a second name elsewhere, as uv links from its cache; names in caches do not count.
    let mut members = environment(PROJECT, &packages());
    members.push(hardlink("srv/own.py", format!("{SITE}/pluggy.py")));
    members.push(hardlink("root/.cache/uv/archive-v0/x/mypy.py", format!("{SITE}/mypy.py")));
    let kept = found_in(members, &["python"]);
    assert!(!paths(&kept[0]).contains(&format!("/{SITE}/pluggy.py").as_str()), "{kept:#?}");
    assert!(paths(&kept[0]).contains(&format!("/{SITE}/mypy.py").as_str()), "{kept:#?}");
}

/// A search of all lines for each extra would take more than the patience of all tests.
#[test]
fn many_extras_are_followed_in_time() {
    let extras: Vec<String> = (0..40_000).map(|number| format!("e{number}")).collect();
    let mut requires = vec![format!("pytest[{}]", extras.join(","))];
    requires.extend((0..16_000).map(|_| "pytest; extra == 'e'".to_owned()));
    let requires: Vec<&str> = requires.iter().map(String::as_str).collect();
    let flask: &[(&str, Vec<u8>)] = &[("flask/__init__.py", b"x = 1\n".to_vec())];
    let pytest: &[(&str, Vec<u8>)] = &[("pytest.py", b"x = 1\n".to_vec())];
    let members = python(PROJECT, &[("flask", &[], flask), ("pytest", &requires, pytest)]);
    let found = found_in(members, &["python"]);
    assert_eq!(found[0]["title"], "Development packages: pytest", "{found:#?}");
}

#[test]
fn projects_that_are_not_installed_here_declare_nothing() {
    // A source tree whose own dependencies are not installed.
    let other = PROJECT.replace("flask", "django");
    assert_eq!(found_in(environment(&other, &packages()), &["python"]), Vec::<Value>::new());
    // Without dependencies of its own it may be any project.
    let none = PROJECT.replace("flask[async]>=3", "").replace("\"\"", "");
    assert_eq!(found_in(environment(&none, &packages()), &["python"]), Vec::<Value>::new());
    // Another project here requires it when it runs.
    let mut members = environment(PROJECT, &packages());
    members
        .push(file("app/member/pyproject.toml", "[project]\nname = 'member'\ndependencies = ['pytest']\n"));
    let kept = found_in(members, &["python"]);
    assert!(
        !paths(&kept[0]).iter().any(|path| path.contains("pytest") || path.contains("pluggy")),
        "{kept:#?}"
    );
    // A group that may be a part of the service.
    let group = PROJECT.replace("dev =", "inference =");
    assert_eq!(found_in(environment(&group, &packages()), &["python"]), Vec::<Value>::new());
}

#[test]
fn a_program_that_the_command_starts_is_required() {
    let found = found_in(environment(PROJECT, &packages()), &["/app/.venv/bin/python", "-m", "pytest"]);
    assert_eq!(found[0]["verdict"], "needed", "{found:#?}");
    assert!(
        found[0]["reason"].as_str().unwrap().starts_with("The image's command starts pytest"),
        "{found:#?}"
    );
}
