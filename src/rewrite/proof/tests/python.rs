//! Python packages, modules and sources.

use serde_json::json;

use super::scene::{Entry, Scene, What, program, text, wheel};
use super::{faults, unproven};
use crate::findings::Verdict;

const SITE: &str = "opt/venv/lib/python3.12/site-packages";

fn scene(more: Vec<Entry<'_>>) -> Scene {
    let wheel =
        wheel(SITE, "model", &[("model/__init__.py", b"a".to_vec()), ("model/data.bin", b"bc".to_vec())]);
    let mut layer: Vec<Entry<'_>> = vec![
        ("usr/bin/python3.12", program(&[], None)),
        ("opt/venv/bin/python", What::Link("/usr/bin/python3.12")),
        ("app/serve.py", text("import helper\n")),
        ("app/lib/helper.py", text("1\n")),
    ];
    layer.extend(more);
    let mut list: Vec<(String, What<'_>)> =
        layer.into_iter().map(|(path, what)| (path.to_owned(), what)).collect();
    list.extend(wheel);
    let list: Vec<Entry<'_>> = list.iter().map(|(path, what)| (path.as_str(), copy(what))).collect();
    let config = json!({
        "Cmd": ["python", "serve.py"], "Env": ["PATH=/opt/venv/bin:/usr/bin"], "WorkingDir": "/app"
    });
    Scene::new(&config, &[&list])
}

fn copy<'a>(what: &What<'a>) -> What<'a> {
    match what {
        What::File(body) => What::File(body.clone()),
        What::Link(target) => What::Link(target),
        What::Second(target) => What::Second(target),
        What::Folder(owner, mode) => What::Folder(*owner, *mode),
    }
}

#[test]
fn a_file_of_a_wheel_with_and_without_a_finding() {
    let mut scene = scene(Vec::new());
    assert!(scene.without(&[]).closure.unproven.is_empty(), "{:#?}", scene.without(&[]).closure);
    let data = format!("{SITE}/model/data.bin");
    let out = [(1, data.as_str())];
    faults(&scene.without(&out), &["model 1.0 (pip in /opt/venv", "lacks 1 of its files", "data.bin"]);
    scene.find(Verdict::Safe, true, &out);
    unproven(&scene.without(&out), &["1 file of 1 Python package removed by the plan"]);
}

#[test]
fn a_finding_outside_the_plan_does_not_help() {
    let mut scene = scene(Vec::new());
    let data = format!("{SITE}/model/data.bin");
    scene.find(Verdict::Safe, false, &[(1, &data)]);
    faults(&scene.without(&[(1, &data)]), &["lacks 1 of its files"]);
}

#[test]
fn a_package_that_is_left_out_as_a_whole() {
    let scene = scene(Vec::new());
    let paths =
        ["model/__init__.py", "model/data.bin", "model-1.0.dist-info/METADATA", "model-1.0.dist-info/RECORD"];
    let paths: Vec<String> = paths.iter().map(|path| format!("{SITE}/{path}")).collect();
    let out: Vec<(u16, &str)> = paths.iter().map(|path| (1, path.as_str())).collect();
    faults(&scene.without(&out), &["model 1.0", "is left out, but /usr/bin/python3.12 runs"]);
    // Its metadata alone is not a package.
    faults(&scene.without(&out[..2]), &["lacks 2 of its files"]);
    let mut draft = scene.draft(&out);
    draft.entrypoint = Some(vec!["/lib64/ld-linux-x86-64.so.2".to_owned()]);
    let proven = scene.prove(&draft);
    // The command is still checked: an entrypoint may run it.
    assert!(proven.closure.faults.iter().any(|text| text.contains("model 1.0")));
}

#[test]
fn a_virtual_environment_does_not_search_the_system() {
    const SYSTEM: &str = "usr/lib/python3/dist-packages";
    let scene_with = |settings: Option<&str>| {
        let mako = wheel(SYSTEM, "mako", &[("mako/__init__.py", b"m".to_vec())]);
        let mut more: Vec<Entry<'_>> = mako.iter().map(|(path, what)| (path.as_str(), copy(what))).collect();
        more.push(("usr/bin/python3", What::Link("python3.12")));
        more.extend(settings.map(|settings| ("opt/venv/pyvenv.cfg", text(settings))));
        scene(more)
    };
    let paths = ["mako/__init__.py", "mako-1.0.dist-info/METADATA", "mako-1.0.dist-info/RECORD"];
    let paths: Vec<String> = paths.iter().map(|path| format!("{SYSTEM}/{path}")).collect();
    let out: Vec<(u16, &str)> = paths.iter().map(|path| (1, path.as_str())).collect();
    let own = scene_with(Some("home = /usr/bin\ninclude-system-site-packages = false\n"));
    let told =
        "mako 1.0 (pip in /usr/lib/python3/dist-packages) is left out; /usr/bin/python3.12 runs in a virtual";
    unproven(&own.without(&out), &[told]);
    for settings in [None, Some("include-system-site-packages = true"), Some("home = /usr/bin")] {
        let fault =
            "mako 1.0 (pip in /usr/lib/python3/dist-packages) is left out, but /usr/bin/python3.12 runs";
        faults(&scene_with(settings).without(&out), &[fault]);
    }
    // The Python of the system runs, too.
    let mut draft = own.draft(&out);
    draft.entrypoint = Some(vec!["/usr/bin/python3.12".to_owned()]);
    let proven = own.prove(&draft);
    assert!(proven.closure.faults.iter().any(|text| text.contains("mako 1.0")), "{:#?}", proven.closure);
    // Its own packages are needed.
    let venv: Vec<String> = ["model/__init__.py", "model/data.bin", "model-1.0.dist-info/METADATA"]
        .iter()
        .map(|path| format!("{SITE}/{path}"))
        .collect();
    let venv: Vec<(u16, &str)> = venv.iter().map(|path| (1, path.as_str())).collect();
    faults(&own.without(&venv), &["model 1.0"]);
}

#[test]
fn sources_beside_what_runs_are_needed() {
    let scene = scene(Vec::new());
    faults(&scene.without(&[(1, "app/lib/helper.py")]), &["1 Python file in /app", "/app/lib/helper.py"]);
    faults(
        &scene.without(&[(1, "app/serve.py"), (1, "app/lib/helper.py")][..1]),
        &["the command names /app/serve.py"],
    );
}

#[test]
fn a_module_that_a_server_is_given() {
    let more = vec![
        ("opt/venv/bin/uvicorn", text("#!/opt/venv/bin/python\nimport uvicorn\n")),
        ("app/service/main.py", text("app = 1\n")),
        ("app/service/other.py", text("1\n")),
    ];
    let scene = scene(more);
    let mut draft = scene.draft(&[(1, "app/service/main.py")]);
    draft.entrypoint = Some(vec!["uvicorn".to_owned(), "service.main:app".to_owned()]);
    let proven = scene.prove(&draft);
    let told = "the command runs Python module service.main (/app/service/main.py): not in the new image";
    assert!(proven.closure.faults.iter().any(|text| text == told), "{:#?}", proven.closure.faults);
}
