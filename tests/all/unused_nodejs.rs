//! Node.js, its packages and `node_modules`, where nothing starts a program of Node.js.

use serde_json::{Value, json};

use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packages::{dpkg_list, dpkg_status};
use crate::fixtures::packing::Packing;
use crate::fixtures::service::wheel;
use crate::fixtures::tarball::{Member, file, symlink, tar};
use crate::support::{Place, Report};

/// The findings of the rule in an image with these files and this config.
fn found_in(members: Vec<Member>, config: Value) -> Vec<Value> {
    let mut image = Image::of(Packing::Gzip, [tar(members)]);
    image.config = config;
    let place = Place::new();
    let report: Report =
        place.report(&format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t"))));
    let findings = report.json["findings"].as_array().unwrap();
    findings.iter().filter(|one| one["rule"] == "unused-nodejs").cloned().collect()
}

fn paths(finding: &Value) -> Vec<&str> {
    finding["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect()
}

fn program(path: &str) -> Member {
    file(path, Elf::program(path).build()).mode(0o755)
}

/// Node.js from its archive in `/usr/local`, and a web service in Python with a front end.
fn service(entrypoint: &str) -> Vec<Member> {
    vec![
        file("etc/passwd", "root:x:0:0::/root:/bin/sh\n"),
        program("usr/local/bin/python3.12"),
        program("usr/local/bin/node"),
        symlink("usr/local/bin/npm", "../lib/node_modules/npm/bin/npm-cli.js"),
        file("usr/local/lib/node_modules/npm/bin/npm-cli.js", "#!/usr/bin/env node\n"),
        file("usr/local/lib/node_modules/sass/sass.js", "#!/usr/bin/env node\n").mode(0o755),
        symlink("usr/local/bin/sass", "../lib/node_modules/sass/sass.js"),
        file("usr/local/include/node/node_version.h", "#define NODE_MAJOR_VERSION 20\n"),
        file("app/entrypoint.sh", entrypoint).mode(0o755),
        file("app/wsgi.py", "import flask\n"),
        file("app/frontend/node_modules/vite/index.js", "x\n"),
        file("app/frontend/node_modules/vite/node_modules/picomatch/index.js", "x\n"),
        file("app/static/app.js", "x\n"),
    ]
}

fn command(words: &[&str]) -> Value {
    json!({"Cmd": words, "WorkingDir": "/app", "Env": ["PATH=/usr/local/bin:/usr/bin:/bin"]})
}

#[test]
fn node_js_for_the_build_is_a_question_and_so_are_its_packages() {
    let script = "#!/bin/sh\nset -e\npython3.12 manage.py migrate\nexec gunicorn wsgi\n";
    let found = found_in(service(script), command(&["./entrypoint.sh"]));
    let [runtime, modules] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((&runtime["verdict"], &runtime["category"]), (&json!("unsure"), &json!("build-tools")));
    assert_eq!(runtime["title"], "Node.js without a known use: /usr/local");
    assert_eq!(runtime["question"], "Does anything start Node.js at run time?");
    assert_eq!(
        paths(runtime),
        [
            "/usr/local/bin/node",
            "/usr/local/lib/node_modules/npm/bin/npm-cli.js",
            "/usr/local/lib/node_modules/sass/sass.js",
        ]
    );
    assert_eq!(modules["title"], "npm packages without a known use: /app/frontend/node_modules");
    assert_eq!(
        paths(modules),
        [
            "/app/frontend/node_modules/vite/index.js",
            "/app/frontend/node_modules/vite/node_modules/picomatch/index.js",
        ]
    );
    assert!(modules["question"].as_str().unwrap().contains("send files of it to browsers"), "{modules:#}");
}

#[test]
fn who_starts_node_js_by_any_way_keeps_it() {
    let idle = "#!/bin/sh\nexec gunicorn wsgi\n";
    for (script, words) in [
        (idle, &["node", "server.js"][..]),
        // Who works in a shell starts what they like.
        (idle, &["/bin/bash"]),
        (idle, &["tini", "--", "bash", "-l"]),
        (idle, &["npm", "start"]),
        (idle, &["/bin/sh", "-c", "exec /usr/local/bin/node server.js"]),
        (idle, &["tini", "--", "npx", "serve"]),
        // A program that Node.js runs.
        (idle, &["sass", "--watch", "in:out"]),
        (idle, &["./server.mjs"]),
        (idle, &["./frontend/node_modules/.bin/vite", "preview"]),
        (idle, &["sleep", "infinity"]),
        (idle, &["/usr/bin/supervisord"]),
        ("#!/bin/sh\nnode worker.js &\nexec gunicorn wsgi\n", &["./entrypoint.sh"]),
        ("#!/bin/sh\n(cd frontend && npm run build)\nexec gunicorn wsgi\n", &["bash", "/app/entrypoint.sh"]),
        ("#!/bin/sh\nexec ./more.sh\n", &["./entrypoint.sh"]),
    ] {
        let mut members = service(script);
        members.push(file("app/more.sh", "#!/bin/sh\nif true; then exec yarn start; fi\n").mode(0o755));
        members.push(symlink("app/frontend/node_modules/.bin/vite", "../vite/index.js"));
        members.push(file("etc/supervisor/conf.d/app.conf", "[program:x]\ncommand=node /app/x.js\n"));
        members.push(file("app/server.mjs", "#!/usr/bin/env -S node --max-old-space-size=512\n").mode(0o755));
        let found = found_in(members, command(words));
        assert!(found.is_empty(), "{words:?} {script}: {found:#?}");
    }
    let health = json!({
        "Cmd": ["gunicorn", "wsgi"], "Healthcheck": {"Test": ["CMD-SHELL", "node health.js || exit 1"]},
    });
    let found = found_in(service(idle), health);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn files_that_name_a_program_are_in_the_question() {
    let mut members = service("#!/bin/sh\nexec gunicorn wsgi\n");
    members.push(file("app/tasks.conf", "[render]\ncommand=node /app/render.js\n"));
    let package = "import subprocess\ndef run(x):\n    return subprocess.run([\"node\", x])\n";
    let cli = "require('child_process').spawn('node', ['x.js'])\n";
    members.push(file("app/frontend/node_modules/vite/cli.js", cli));
    let site = "usr/local/lib/python3.12/site-packages";
    members.extend(wheel(site, "execjs", "1.0", &[("execjs/run.py", package.as_bytes().to_vec())]));
    let found = found_in(members, command(&["/app/entrypoint.sh"]));
    let runtime = &found[0];
    // Node.js alone reads this.
    assert!(!runtime["used_by"].to_string().contains("cli.js"), "{runtime:#}");
    let question = runtime["question"].as_str().unwrap();
    assert!(question.starts_with("Does /app/tasks.conf start Node.js at run time"), "{question}");
    assert!(question.ends_with("It names node, as one other file does."), "{question}");
    let proof = runtime["proof"].to_string();
    assert!(proof.contains("execjs/run.py names node"), "{proof}");
}

/// `nodejs` and `npm` of Debian, and a package of another kind.
fn debian(depends: &str) -> Vec<Member> {
    let packages = [
        ("nodejs", "libc6 (>= 2.34)", vec!["usr/bin/node"]),
        ("npm", "nodejs:any, node-semver", vec!["usr/share/nodejs/npm/index.js"]),
        ("node-semver", "nodejs:any", vec!["usr/share/nodejs/semver/index.js"]),
        ("node-ms", "", vec!["usr/share/nodejs/ms/index.js"]),
        // It came with npm.
        ("webpack", "nodejs:any, node-semver", vec!["usr/share/nodejs/webpack/index.js"]),
        ("service", depends, vec!["usr/bin/service"]),
    ];
    let mut members = vec![file("etc/passwd", "root:x:0:0::/root:/bin/sh\n")];
    let mut status = Vec::new();
    for (name, depends, files) in &packages {
        let fields: &[_] = if depends.is_empty() { &[] } else { &[("Depends", *depends)] };
        status.extend(dpkg_status(name, "1.0", 1, fields));
        let listed: Vec<String> = files.iter().map(|path| format!("/{path}")).collect();
        let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
        members.push(file(format!("var/lib/dpkg/info/{name}.list"), dpkg_list(&listed)));
        let member = |path: &&str| if path.contains("bin/") { program(path) } else { file(*path, "x\n") };
        members.extend(files.iter().map(member));
    }
    members.push(file("var/lib/dpkg/status", status));
    let automatic = "Package: webpack\nArchitecture: amd64\nAuto-Installed: 1\n";
    members.push(file("var/lib/apt/extended_states", automatic));
    members
}

#[test]
fn a_launcher_starts_what_settings_name_and_no_part_of_a_package() {
    let mut members = service("#!/bin/sh\nexec gunicorn wsgi\n");
    members.push(file(
        "app/frontend/node_modules/vite/cli.js",
        "require('child_process').spawn('npm', ['x'])\n",
    ));
    members.push(file("etc/supervisord.conf", "[program:web]\ncommand=gunicorn wsgi\n"));
    assert_eq!(found_in(members.clone(), command(&["/usr/bin/supervisord"])).len(), 2);
    members.push(file("etc/supervisor/conf.d/x.conf", "[program:x]\ncommand=node /app/x.js\n"));
    assert!(found_in(members, command(&["/usr/bin/supervisord"])).is_empty());
}

#[test]
fn packages_of_the_distribution_go_unless_another_depends_on_them() {
    let found = found_in(debian("node-ms"), command(&["service"]));
    let [runtime] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(runtime["title"], "Node.js without a known use: nodejs, npm, node-semver and 1 more");
    assert_eq!(
        paths(runtime),
        [
            "/usr/bin/node",
            "/usr/share/nodejs/npm/index.js",
            "/usr/share/nodejs/semver/index.js",
            "/usr/share/nodejs/webpack/index.js",
        ]
    );
    for depends in ["nodejs (>= 18)", "npm", "node-semver"] {
        let found = found_in(debian(depends), command(&["service"]));
        assert!(found.is_empty(), "{depends}: {found:#?}");
    }
}

#[test]
fn who_names_node_modules_is_in_its_question() {
    let mut members = service("#!/bin/sh\nexec gunicorn wsgi\n");
    members.push(file("app/settings.py", "STATICFILES_DIRS = [BASE / 'frontend' / 'node_modules']\n"));
    members.push(file("app/.gitignore", "node_modules/\n"));
    members
        .push(file("app/frontend/node_modules/ajv/scripts/info", "#!/bin/sh\ncd node_modules && node x\n"));
    members.push(file("app/frontend/vite.config.js", "export default { exclude: ['node_modules'] }\n"));
    let found = found_in(members, command(&["./entrypoint.sh"]));
    let question = found[1]["question"].as_str().unwrap();
    assert!(question.ends_with("browsers? /app/settings.py names node_modules."), "{question}");
    assert_eq!(found[1]["used_by"], json!(["/app/settings.py"]));
}

#[test]
fn other_runtimes_read_the_same_packages() {
    let mut members = service("#!/bin/sh\nexec gunicorn wsgi\n");
    members.push(program("usr/local/bin/bun"));
    let found = found_in(members, command(&["./entrypoint.sh"]));
    assert_eq!(found.len(), 1, "{found:#?}");
    // A folder of that name is none.
    let mut members = service("#!/bin/sh\nexec gunicorn wsgi\n");
    members.push(file("app/frontend/node_modules/electron/index.js", "x\n"));
    assert_eq!(found_in(members, command(&["./entrypoint.sh"])).len(), 2);
    // Without any, they are as much of a question.
    let mut members = service("#!/bin/sh\nexec gunicorn wsgi\n");
    members.retain(|member| !member.name.starts_with(b"usr/local/"));
    let found = found_in(members, command(&["./entrypoint.sh"]));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["title"], "npm packages without a known use: /app/frontend/node_modules");
}
