//! Lines that a reviewer would send back.

use super::parts::{TRIPLE, built, devel, library, program, python, static_library, text, tools};
use super::python::{gcc, python_image};
use super::scene::{Deb, Scene, deb, has_lines, has_none, last_stage, one};
use crate::fixtures::elf::Elf;
use crate::fixtures::tarball::{Member, file};
use cutaway::findings::Verdict;

const SITE: &str = "usr/local/lib/python3.11/site-packages";

/// A package that pip compiled from a folder of the build context, with what setuptools leaves beside it.
fn compiled() -> Scene {
    let module =
        || library("app/quick/build/lib.linux-x86_64-cpython-311/quick", "_quick.so", "", &["libc.so.6"]);
    let members = vec![
        text("app/quick/quick.egg-info/PKG-INFO", 300),
        text("app/quick/quick.egg-info/SOURCES.txt", 300),
        text("app/quick/build/lib.linux-x86_64-cpython-311/quick/__init__.py", 800),
        file("app/quick/build/temp.linux-x86_64-cpython-311/quick.o", vec![7; 900]),
        text(&format!("{SITE}/quick/__init__.py"), 800),
        file(
            format!("{SITE}/quick-1.0.dist-info/METADATA"),
            "Metadata-Version: 2.1\nName: quick\nVersion: 1.0\n",
        ),
        file(
            format!("{SITE}/quick-1.0.dist-info/RECORD"),
            "quick/__init__.py,,\nquick/_quick.so,,\nquick-1.0.dist-info/METADATA,,\nquick-1.0.dist-info/RECORD,,\n",
        ),
        text(&format!("{SITE}/pip/__pycache__/__init__.cpython-311.pyc"), 500),
    ];
    let installed = library(&format!("{SITE}/quick"), "_quick.so", "", &["libc.so.6"]);
    let one = |mut list: Vec<Member>| list.remove(0);
    python_image()
        .apt("gcc", gcc())
        .workdir("/app", "/app")
        .copy("requirements.txt .", vec![file("app/requirements.txt", "flask\n")])
        .run("pip install -r requirements.txt", vec![text(&format!("{SITE}/flask/__init__.py"), 90_000)])
        .copy(
            ". .",
            vec![
                file("app/serve.py", "import quick\n"),
                file("app/quick/setup.py", "from setuptools import setup\n"),
                text("app/quick/quick/_quick.c", 900),
                text("app/quick/quick/__init__.py", 800),
            ],
        )
        .run("pip install ./quick", [members, vec![one(module()), one(installed)]].concat())
        .cmd(&["python", "serve.py"])
}

#[test]
fn uv_stays_in_the_build_stage_unless_something_runs_it() {
    let info = format!("{SITE}/uv-0.9.dist-info");
    let scene = |script: &str, command: &[&str]| {
        python_image()
            .apt("gcc", gcc())
            .run(
                "pip install uv",
                vec![
                    program("usr/local/bin/uv", &["libc.so.6"]),
                    text(&format!("{SITE}/uv/__init__.py"), 900),
                    file(format!("{info}/METADATA"), "Metadata-Version: 2.1\nName: uv\nVersion: 0.9\n"),
                    file(
                        format!("{info}/RECORD"),
                        "../../../bin/uv,,\nuv/__init__.py,,\nuv-0.9.dist-info/METADATA,,\nuv-0.9.dist-info/RECORD,,\n",
                    ),
                ],
            )
            .workdir("/app", "/app")
            .copy(". .", vec![file("app/start.sh", script).mode(0o755), file("app/serve.py", "import quick\n")])
            .run(
                "uv pip install --system ./quick",
                vec![
                    library(&format!("{SITE}/quick"), "_quick.so", "", &["libc.so.6"]).remove(0),
                    text(&format!("{SITE}/quick/__init__.py"), 800),
                ],
            )
            .cmd(command)
    };
    let last = |script: &str, command: &[&str]| {
        let scene = scene(script, command);
        let proposals = scene.propose();
        let best = proposals.list.iter().find(|one| one.id.starts_with("stages")).expect("a split");
        last_stage(&best.dockerfile).to_owned()
    };
    let plain = "#!/bin/sh\nexec python serve.py\n";
    let stage = last(plain, &["/app/start.sh"]);
    assert!(stage.contains("/site-packages") && !stage.contains("/uv"), "{stage}");
    assert!(last("#!/bin/sh\nexec uv run serve.py\n", &["/app/start.sh"]).contains("/usr/local/bin/uv"));
    assert!(last(plain, &["uv", "run", "serve.py"]).contains("/usr/local/bin/uv"));
}

#[test]
fn what_setuptools_leaves_beside_sources_stays_in_the_build_stage() {
    let scene = compiled();
    let proposals = scene.propose();
    let best = one(&proposals, "stages-distribution");
    assert!(best.closure.resolved, "{:#?}", best.closure);
    let stage = last_stage(&best.dockerfile);
    let copies: Vec<&str> = stage.lines().filter(|line| line.contains("--from=build")).collect();
    // The next version has another name.
    assert_eq!(copies, [format!("COPY --from=build /tmp/site-packages/ /{SITE}/")], "{stage}");
    let collects = format!(
        "RUN mkdir /tmp/site-packages \\\n    && cd /{SITE} \\\n    && cp -a quick quick-*.dist-info /tmp/site-packages/\n"
    );
    assert!(best.dockerfile.contains(&collects), "{}", best.dockerfile);
    // Unless something names it.
    let scene = scene.env("PYTHONPATH", "/app/quick/build/lib.linux-x86_64-cpython-311");
    let proposals = scene.propose();
    let stage = last_stage(&one(&proposals, "stages-distribution").dockerfile);
    let built = "/app/quick/build/lib.linux-x86_64-cpython-311";
    let is_copy = |line: &str| line.starts_with("COPY --from=build") && line.contains(built);
    assert!(stage.lines().any(is_copy), "{stage}");
    assert!(!stage.contains("egg-info"), "{stage}");
}

#[test]
fn a_copy_of_parts_has_neither_the_recipe_nor_lists_of_packages() {
    let scene = devel()
        .apt("cmake git", tools())
        .workdir("/app", "/app")
        .copy("requirements.txt .", vec![file("app/requirements.txt", "flask\n")])
        .copy(
            ". .",
            vec![
                text("app/media/start.sh", 400),
                file("app/Dockerfile", "FROM python:3.11\n"),
                file("app/.dockerignore", ".git\n"),
                file("app/requirements.txt", "flask\n"),
                text("app/plugin/Makefile", 300),
                text("app/plugin/plugin.c", 900),
            ],
        )
        .run("make -C plugin install", library("usr/local/lib/media", "plugin.so", "", &["libc.so.6"]))
        .cmd(&["sh", "/app/media/start.sh"]);
    let best = &scene.propose().list[0];
    has_lines(best, &["COPY media /app/media"]);
    has_none(best, &[" Dockerfile", ".dockerignore", "requirements.txt", "plugin/Makefile"]);
    let is_told = |text: &String| text.contains("not in the new image") && text.contains("/app/Dockerfile");
    assert!(best.closure.unproven.iter().any(is_told), "{:#?}", best.closure.unproven);
}

#[test]
fn a_package_begins_the_line_of_those_that_went() {
    let list = "\\\n    cmake git curl \\\n    nginx";
    let debs = vec![
        deb("curl", "libc6", vec![program("usr/bin/curl", &[])]),
        deb("nginx", "libc6", vec![program("usr/sbin/nginx", &[])]),
    ];
    let scene =
        built(devel().apt(list, [tools(), debs].concat()), &["libc.so.6"]).cmd(&["/usr/local/bin/serve"]);
    let best = &scene.propose().list[0];
    has_lines(best, &["curl \\", "nginx && rm -rf /var/lib/apt/lists/*"]);
    assert!(
        last_stage(&best.dockerfile).contains("recommends \\\n    curl \\\n    nginx"),
        "{}",
        best.dockerfile
    );
}

#[test]
fn the_folder_of_the_stage_is_not_entered_again() {
    let script = |path: &str| file(path, "#!/bin/sh\nexec serve\n");
    let scene = |command: &str, others: &[&str]| {
        let scene = built(devel().apt("cmake git", tools()), &["libc.so.6"]);
        let made = others.iter().copied().chain(["app/start.sh"]).map(|path| script(path).mode(0o755));
        scene
            .copy("a.sh /srv/", vec![script("srv/a.sh")])
            .workdir("/app", "/app")
            .copy("start.sh .", vec![script("app/start.sh")])
            .run(command, made.collect())
            .cmd(&["/app/start.sh"])
            .propose()
    };
    let proposals = scene("cmake --version && chmod +x start.sh", &[]);
    has_lines(&proposals.list[0], &["RUN chmod +x start.sh"]);
    // An earlier command was elsewhere.
    let proposals =
        scene("cmake --version && cd /srv && chmod +x a.sh && cd /app && chmod +x start.sh", &["srv/a.sh"]);
    has_lines(&proposals.list[0], &["&& cd /app && chmod +x start.sh"]);
}

/// A list of packages for building, and what it depends on: a question, since a package of R compiles at run time.
fn collection() -> Vec<Deb> {
    let header = |name: &str| text(&format!("usr/include/{name}.h"), 30_000);
    vec![
        deb(
            "gcc",
            "libc6",
            vec![program("usr/bin/gcc", &[]), program("usr/lib/gcc/x86_64-linux-gnu/12/cc1", &[])],
        ),
        deb("libbz2-dev", "libc6", vec![header("bzlib")]),
        deb("liblzma-dev", "libc6", vec![header("lzma")]),
        deb(
            "libreadline-dev",
            "libc6",
            vec![header("readline"), static_library(&format!("{TRIPLE}/libreadline.a"), 4_000)],
        ),
        deb(
            "r-base-dev",
            "gcc, libbz2-dev, liblzma-dev, libreadline-dev",
            vec![text("usr/share/doc/r-base-dev/README", 400)],
        ),
    ]
}

#[test]
fn a_list_of_packages_is_named_instead_of_all_that_it_brings() {
    let scene = python_image()
        .apt("r-base-dev git", [tools(), collection()].concat())
        .workdir("/srv", "/srv")
        .copy("serve.sh .", vec![file("srv/serve.sh", "#!/bin/sh\ngcc -o /tmp/model model.c\n").mode(0o755)])
        .cmd(&["/srv/serve.sh"]);
    let proposals = scene.propose();
    assert!(!proposals.list.is_empty());
    for proposal in &proposals.list {
        has_none(proposal, &["libbz2-dev", "liblzma-dev", "libreadline-dev"]);
        assert!(last_stage(&proposal.dockerfile).contains("r-base-dev"), "{}", proposal.dockerfile);
    }
}

#[test]
fn a_named_package_is_not_replaced_by_one_that_it_brings() {
    let mut packages = collection();
    packages.pop();
    packages.push(deb(
        "libreadline-all-dev",
        "libreadline-dev",
        vec![text("usr/include/readline-all.h", 300)],
    ));
    let scene = python_image()
        .apt("gcc libreadline-all-dev git", [tools(), packages].concat())
        .workdir("/srv", "/srv")
        .copy("serve.sh .", vec![file("srv/serve.sh", "#!/bin/sh\ngcc -o /tmp/model model.c\n").mode(0o755)])
        .cmd(&["/srv/serve.sh"]);
    for proposal in &scene.propose().list {
        let stage = last_stage(&proposal.dockerfile);
        let replaced = stage.contains("libreadline-dev") && !stage.contains("libreadline-all-dev");
        assert!(!replaced, "{}", proposal.dockerfile);
    }
}

#[test]
fn a_module_that_a_script_loads_by_its_path_stays() {
    let scene = devel()
        .apt("cmake git", tools())
        .copy("mod /usr/src/mod", vec![text("usr/src/mod/hello.c", 3_000), text("usr/src/mod/Makefile", 300)])
        .run("cd /usr/src/mod && make", library("usr/src/mod", "hello.so", "", &["libc.so.6"]))
        .workdir("/app", "/app")
        .copy(
            "start.sh .",
            vec![
                file("app/start.sh", "#!/bin/sh\nexec serve --loadmodule /usr/src/mod/hello.so\n")
                    .mode(0o755),
            ],
        )
        .cmd(&["/app/start.sh"]);
    let proposals = scene.propose();
    assert!(!proposals.list.is_empty());
    for proposal in &proposals.list {
        assert!(last_stage(&proposal.dockerfile).contains("/usr/src/mod"), "{}", proposal.dockerfile);
    }
}

#[test]
fn an_installed_library_is_not_copied_from_its_build_tree() {
    let tree = |place: &str| library(place, "libengine.so.1", ".2.0", &["libc.so.6"]);
    let scene = devel()
        .apt("cmake git", tools())
        .workdir("/build", "/build")
        .copy("engine engine", vec![text("build/engine/engine.cpp", 3_000), text("build/engine/CMakeLists.txt", 300)])
        .run(
            "cmake -S engine -B engine/build && cmake --build engine/build && cmake --install engine/build && ldconfig",
            [
                tree("build/engine/build"),
                tree("usr/local/lib"),
                vec![
                    text("build/engine/build/CMakeCache.txt", 2_000),
                    file(
                        "build/engine/build/install_manifest.txt",
                        "/usr/local/lib/libengine.so.1.2.0\n/usr/local/lib/cmake/engine/engineTargets.cmake\n",
                    ),
                ],
            ]
            .concat(),
        )
        .workdir("/app", "/app")
        .copy("main.py .", vec![file("app/main.py", "import ctypes\nctypes.CDLL('libengine.so')\n")])
        .cmd(&["/app/main.py"]);
    let best = &scene.propose().list[0];
    has_none(best, &["/build/engine", "cmake"]);
    assert!(
        last_stage(&best.dockerfile).contains("/usr/local/lib/libengine.so.1.2.0"),
        "{}",
        best.dockerfile
    );
}

#[test]
fn a_package_for_building_is_not_named_instead_of_the_libraries_that_it_brings() {
    let event = |name: &'static str, soname: &str| {
        deb(name, "libc6", library(TRIPLE, soname, ".0.1", &["libc.so.6"]))
    };
    let debs = vec![
        event("libevent-core-2.1-7", "libevent_core-2.1.so.7"),
        event("libevent-openssl-2.1-7", "libevent_openssl-2.1.so.7"),
        deb(
            "libevent-dev",
            "libevent-core-2.1-7, libevent-openssl-2.1-7",
            vec![
                text("usr/include/event.h", 20_000),
                static_library(&format!("{TRIPLE}/libevent.a"), 80_000),
            ],
        ),
    ];
    let scene = built(
        devel().apt("cmake git libevent-dev", [tools(), debs].concat()),
        &["libevent_core-2.1.so.7", "libevent_openssl-2.1.so.7"],
    )
    .cmd(&["/usr/local/bin/serve"]);
    let best = &scene.propose().list[0];
    has_none(best, &["libevent-dev"]);
    assert!(
        last_stage(&best.dockerfile).contains("libevent-core-2.1-7 libevent-openssl-2.1-7"),
        "{}",
        best.dockerfile
    );
}

#[test]
fn what_debian_has_of_the_requirements_of_a_python_package_is_installed() {
    let packages = "usr/lib/python3/dist-packages";
    let module = |name: &str, module: &str, requires: &str| {
        vec![
            text(&format!("{packages}/{module}/__init__.py"), 500),
            file(
                format!("{packages}/{name}-2.1.egg-info/PKG-INFO"),
                format!("Name: {name}\nVersion: 2.1\n{requires}"),
            ),
        ]
    };
    let debs = vec![
        deb("python3-markupsafe", "python3", module("MarkupSafe", "markupsafe", "")),
        deb("python3-mako", "python3, python3-markupsafe", module("Mako", "mako", "")),
        deb("libtool-dev", "python3-mako", vec![text("usr/include/tool.h", 20_000)]),
    ];
    let flask =
        |file_name: &str| format!("usr/local/lib/python3.10/dist-packages/flask-3.0.dist-info/{file_name}");
    let scene = built(
        devel().apt("cmake git python3 libtool-dev", [tools(), python(), debs].concat()),
        &["libc.so.6"],
    )
    .run(
        "pip install flask",
        vec![
            text("usr/local/lib/python3.10/dist-packages/flask/__init__.py", 900),
            file(flask("METADATA"), "Name: flask\nVersion: 3.0\nRequires-Dist: MarkupSafe>=2.1\nRequires-Dist: Mako; extra == \"x\"\n"),
            file(flask("RECORD"), "flask/__init__.py,,\nflask-3.0.dist-info/METADATA,,\nflask-3.0.dist-info/RECORD,,\n"),
        ],
    )
    .workdir("/app", "/app")
    .copy("main.py .", vec![file("app/main.py", "import flask\n")])
    .cmd(&["python3", "main.py"]);
    let proposals = scene.propose();
    let stage = last_stage(&proposals.list[0].dockerfile);
    assert!(stage.contains("python3-markupsafe"), "{stage}");
    assert!(!stage.contains("python3-mako"), "{stage}");
}

#[test]
fn packages_of_debian_are_not_installed_for_another_python() {
    let packages = "usr/lib/python3/dist-packages";
    let resources = vec![text(&format!("{packages}/pkg_resources/__init__.py"), 900)];
    let debs = vec![
        deb("python3-pkg-resources", "python3", resources),
        deb("libtool-dev", "python3-pkg-resources", vec![text("usr/include/tool.h", 20_000)]),
    ];
    let best = &compiled().apt("libtool-dev", debs).propose().list[0];
    let stage = last_stage(&best.dockerfile);
    assert!(stage.contains("/site-packages"), "{stage}");
    assert!(!stage.contains("pkg-resources"), "{stage}");
}

#[test]
fn plugins_beside_those_of_an_installed_package_stay() {
    let folder = format!("{TRIPLE}/gstreamer-1.0");
    let plugin = |name: &str| library(&folder, &format!("libgst{name}.so"), "", &["libc.so.6"]).remove(0);
    let debs = vec![
        deb("gstreamer1.0-plugins-base", "libc6", vec![plugin("app")]),
        // Recommended, and so is one of another source, and one that has nothing for it.
        deb("gstreamer1.0-x", "libc6", vec![plugin("pango")]),
        deb("libcamera-gstreamer", "libc6", vec![plugin("camera")]),
        deb("fonts-more", "", vec![text("usr/share/fonts/more.ttf", 2_000)]),
    ];
    let scene = built(
        devel().install(
            "apt-get update && apt-get install -y cmake git gstreamer1.0-plugins-base && rm -rf /var/lib/apt/lists/*",
            [tools(), debs].concat(),
            Vec::new(),
        ),
        &["libc.so.6"],
    )
    .cmd(&["/usr/local/bin/serve"]);
    let best = &scene.propose().list[0];
    assert!(last_stage(&best.dockerfile).contains("gstreamer1.0-x"), "{}", best.dockerfile);
    has_none(best, &["fonts-more", "libcamera"]);
}

#[test]
fn what_a_package_runs_and_only_recommends_stays() {
    let debs = vec![
        deb("imagemagick", "libmagickcore-6.q16-6", vec![program("usr/bin/convert", &[])]),
        deb(
            "libmagickcore-6.q16-6",
            "libc6",
            library(TRIPLE, "libMagickCore-6.Q16.so.6", "", &["libc.so.6"]),
        ),
        deb("ghostscript", "libc6", vec![program("usr/bin/gs", &[])]),
        deb("netpbm", "libc6", vec![program("usr/bin/ppmtopgm", &[])]),
    ];
    let scene = built(
        devel().install(
            "apt-get update && apt-get install -y cmake git imagemagick && rm -rf /var/lib/apt/lists/*",
            [tools(), debs].concat(),
            Vec::new(),
        ),
        &["libc.so.6"],
    )
    .cmd(&["/usr/local/bin/serve"]);
    let best = &scene.propose().list[0];
    assert!(last_stage(&best.dockerfile).contains("imagemagick ghostscript"), "{}", best.dockerfile);
    has_none(best, &["netpbm"]);
}

#[test]
fn tools_of_an_image_for_development_are_a_question() {
    let verdict = |make: &dyn Fn(Scene) -> Scene| {
        let scene = devel().apt("gdb", vec![deb("gdb", "libc6", vec![program("usr/bin/gdb", &[])])]);
        let scene = make(scene.copy("serve /srv/serve", vec![program("srv/serve", &[])]));
        let analysis = scene.analysis();
        let findings = analysis.findings.as_ref().unwrap();
        let of_tools = findings.list.iter().find(|one| one.rule.id == "debuggers");
        of_tools.expect("a finding").verdict
    };
    assert_eq!(verdict(&|scene| scene.cmd(&["/srv/serve"])), Verdict::Safe);
    for command in [&["/bin/bash"][..], &["tini", "--", "bash", "-l"], &["/bin/sh", "-c", "bash"]] {
        assert_eq!(verdict(&|scene| scene.cmd(command)), Verdict::Unsure, "{command:?}");
    }
    assert_eq!(verdict(&|scene| scene.cmd(&["bash", "-c", "/srv/serve"])), Verdict::Safe);
    let labels = serde_json::json!({"devcontainer.metadata": "[]"});
    let label = |scene: Scene| {
        scene.set("LABEL devcontainer.metadata=[]", "Labels", labels.clone()).cmd(&["/srv/serve"])
    };
    assert_eq!(verdict(&label), Verdict::Unsure);
}

#[test]
fn programs_that_the_application_starts_by_name_stay() {
    let debs = vec![
        deb("unzip", "libc6", vec![program("usr/bin/unzip", &[])]),
        deb("poppler-utils", "libc6", vec![program("usr/bin/pdftotext", &[])]),
        deb("ghostscript", "libc6", vec![program("usr/bin/gs", &[])]),
        deb("graphviz", "libc6", vec![program("usr/bin/dot", &[])]),
        deb("netbase", "", vec![file("etc/services", "https 443/tcp\n")]),
    ];
    // They came with others: nothing names them but the application.
    let scene = devel()
        .apt("cmake git", [tools(), debs].concat())
        .workdir("/app", "/app")
        .copy(
            ". .",
            vec![
                file("app/start.sh", "#!/bin/sh\nif ! unzip -q data.zip; then exit 1; fi\nexec serve\n"),
                file("app/pages.py", "import subprocess\nsubprocess.run(['pdftotext', path])\n"),
                file("app/notes.py", "TEXT = 'gs is not started here'\n"),
                file("app/settings.yml", "graph:\n  cmd: dot -Tsvg\n"),
            ],
        )
        .cmd(&["sh", "/app/start.sh"]);
    let best = &built(scene, &["libc.so.6"]).cmd(&["sh", "/app/start.sh"]).propose().list[0];
    let stage = last_stage(&best.dockerfile);
    // One that a setting names, and names of ports, which anything may look up.
    assert!(stage.contains("graphviz") && stage.contains("netbase"), "{stage}");
    assert!(stage.contains("poppler-utils") && stage.contains("unzip"), "{}", best.dockerfile);
    assert!(!stage.contains("ghostscript") && !stage.contains("cmake"), "{}", best.dockerfile);
    let is_told = |edit: &str| edit.contains("unzip (/app/start.sh starts unzip)");
    assert!(best.reasons.iter().any(|reason| is_told(&reason.text)), "{:#?}", best.reasons);
}

#[test]
fn a_makefile_stays_with_the_make_that_a_module_may_run() {
    let scene = |module: &str| {
        let make =
            deb("make", "libc6", vec![program("usr/bin/make", &[]), text("usr/include/make.h", 90_000)]);
        let python = deb("python3", "libc6", vec![program("usr/bin/python3", &["libc.so.6"])]);
        devel()
            .apt("python3 make cmake git", [tools(), vec![python, make]].concat())
            .workdir("/app", "/app")
            .copy(
                ". .",
                vec![
                    file("app/Makefile", "report:\n\t@./report.sh\nnative:\n\tcc -shared -o n.so n.c\n"),
                    file("app/report.sh", "#!/bin/sh\necho report\n").mode(0o755),
                    file("app/n.c", "int n;\n"),
                    file("app/web.py", module),
                    file("app/main.py", "import web\n"),
                ],
            )
            .run("make native", vec![file("app/n.so", Elf::library("n.so").needing(&["libc.so.6"]).build())])
            .cmd(&["/usr/bin/python3", "-m", "main"])
            .propose()
    };
    let last = |module: &str| last_stage(&one(&scene(module), "stages").dockerfile).to_owned();
    let with = last("import subprocess\nsubprocess.run(['make', '-s', 'report'])\n");
    assert!(with.contains("make") && with.contains("COPY"), "{with}");
    // The folder as a whole, or its Makefile by name.
    let copies = |stage: &str| stage.contains("COPY . .") || stage.contains("Makefile");
    assert!(copies(&with), "{with}");
    let without = last("print()\n");
    assert!(!copies(&without), "{without}");
}

#[test]
fn an_interpreter_that_a_development_package_brought_stays() {
    let debs = vec![
        deb(
            "openjdk-17-jdk-headless",
            "openjdk-17-jre-headless",
            vec![program("usr/lib/jvm/java-17/bin/javac", &[])],
        ),
        deb("openjdk-17-jre-headless", "libc6", vec![program("usr/lib/jvm/java-17/bin/java", &[])]),
    ];
    let scene = devel().apt("cmake git openjdk-17-jdk-headless", [tools(), debs].concat());
    let best = &built(scene, &["libc.so.6"]).cmd(&["/usr/local/bin/serve"]).propose().list[0];
    let stage = last_stage(&best.dockerfile);
    assert!(stage.contains("openjdk-17-jre-headless"), "{}", best.dockerfile);
    assert!(!stage.contains("jdk-headless") && !stage.contains("git"), "{}", best.dockerfile);
    let is_told = |text: &String| text.contains("may be run by name: openjdk-17-jre-headless");
    assert!(best.closure.unproven.iter().any(is_told), "{:#?}", best.closure.unproven);
}
