//! Images of Python as docker-library builds them: the full one, and the slim one below it.

use serde_json::json;

use super::parts::{TRIPLE, libc, library, program, static_library, text};
use super::scene::{Deb, Scene, deb, gone, last_stage, one};
use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, symlink};

#[test]
fn python_of_docker_hub_ends_on_its_slim_variant() {
    let scene = python_image()
        .apt("gcc", gcc())
        .workdir("/app", "/app")
        .copy("serve.py .", vec![file("app/serve.py", "print()\n")])
        .cmd(&["python", "serve.py"]);
    for (tag, slim) in [("3.11", "3.11-slim"), ("3.11.9-bookworm", "3.11.9-slim-bookworm")] {
        let scene = scene.clone().from(&format!("python:{tag}"));
        let proposals = scene.propose();
        let best = one(&proposals, "distribution");
        assert_eq!(best.base_image.as_deref(), Some(format!("python:{slim}").as_str()));
        assert!(best.closure.resolved, "{:#?}", best.closure);
        let stage = last_stage(&best.dockerfile);
        assert_eq!(
            stage,
            format!("FROM python:{slim}\nWORKDIR /app\nCOPY serve.py .\nCMD [\"python\",\"serve.py\"]\n")
        );
        let gone = gone(best);
        assert!(gone.contains(&"/usr/include/zlib.h") && gone.contains(&"/usr/bin/gcc"), "{gone:?}");
        for kept in [
            "/usr/local/bin/python3.11",
            "/usr/local/lib/libpython3.11.so.1.0",
            "/usr/lib/x86_64-linux-gnu/libz.so.1.3",
        ] {
            assert!(!gone.contains(&kept), "{kept}: {gone:?}");
        }
    }
}

#[test]
fn modules_of_the_base_that_python_compiled_are_not_copied() {
    const LIBRARY: &str = "usr/local/lib/python3.11";
    let cache = |module: &str| {
        let (folder, name) = module.rsplit_once('/').unwrap_or(("", module));
        let folder = if folder.is_empty() { LIBRARY.to_owned() } else { format!("{LIBRARY}/{folder}") };
        text(&format!("{folder}/__pycache__/{name}.cpython-311.pyc"), 2_000)
    };
    let modules = ["os", "json/decoder", "email/parser", "logging/config", "http/client", "urllib/parse"];
    let mut members: Vec<Member> = modules.iter().map(|module| cache(module)).collect();
    members.extend([
        text(&format!("{LIBRARY}/site-packages/quick/__init__.py"), 4_000),
        text(&format!("{LIBRARY}/site-packages/quick/__pycache__/__init__.cpython-311.pyc"), 4_000),
        library(&format!("{LIBRARY}/site-packages/quick"), "quick.so", "", &["libc.so.6"]).remove(0),
        text(&format!("{LIBRARY}/site-packages/quick-1.0.dist-info/METADATA"), 300),
    ]);
    let scene = python_image()
        .apt("gcc", gcc())
        .run("pip install --no-binary :all: quick==1.0", members)
        .workdir("/app", "/app")
        .copy("serve.py .", vec![file("app/serve.py", "import quick\n")])
        .cmd(&["python", "serve.py"]);
    let proposals = scene.propose();
    let best = one(&proposals, "stages-distribution");
    let stage = last_stage(&best.dockerfile);
    let copies: Vec<&str> = stage.lines().filter(|line| line.contains("--from=")).collect();
    let packages = format!("/{LIBRARY}/site-packages");
    assert_eq!(copies, [format!("COPY --from=build {packages} {packages}")]);
    assert!(
        best.closure.unproven.iter().any(|text| text.contains("6 compiled modules")),
        "{:#?}",
        best.closure.unproven
    );
}

#[test]
fn a_copied_folder_counts_what_it_stores_again() {
    const PACKAGES: &str = "usr/local/lib/python3.11/site-packages";
    let names = ["one", "two", "three", "four", "five", "six", "seven"];
    let members = |names: &[&str]| -> Vec<Member> {
        let module = library(&format!("{PACKAGES}/one"), "quick.so", "", &["libc.so.6"]);
        let sources = names.iter().map(|name| text(&format!("{PACKAGES}/{name}/__init__.py"), 50_000));
        sources.chain(module).collect()
    };
    let scene = python_image().apt("gcc", gcc());
    let few = scene.clone().run("pip install --no-binary :all: one", members(&names[..1]));
    let many = scene.run("pip install --no-binary :all: one seven", members(&names));
    let sizes = [few, many].map(|scene| {
        let scene = scene
            .workdir("/app", "/app")
            .copy("serve.py .", vec![file("app/serve.py", "import one\n")])
            .cmd(&["python", "serve.py"]);
        one(&scene.propose(), "stages-distribution").predicted.content_bytes
    });
    // Both are copied with all of site-packages, which has pip.
    assert_eq!(sizes[1] - sizes[0], 6 * 50_000);
    assert!(sizes[0] > 700_000, "{sizes:?}");
}

#[test]
fn the_slim_variant_has_no_libraries_of_tk() {
    let packages = "usr/local/lib/python3.11/site-packages/shot";
    let scene = python_image()
        .apt("gcc", gcc())
        .run(
            "pip install --no-binary :all: shot",
            [
                library(packages, "_shot.so", "", &["libc.so.6", "libpng16.so.16"]),
                vec![text(&format!("{packages}/__init__.py"), 900)],
            ]
            .concat(),
        )
        .workdir("/app", "/app")
        .copy("serve.py .", vec![file("app/serve.py", "import shot\n")])
        .cmd(&["python", "serve.py"])
        .from("python:3.11");
    let proposals = scene.propose();
    let best = one(&proposals, "stages-distribution");
    assert_eq!(best.base_image.as_deref(), Some("python:3.11-slim"));
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert!(last_stage(&best.dockerfile).contains("libpng16-16"), "{}", best.dockerfile);
    assert!(best.closure.unproven.iter().any(|text| text.contains("imports tkinter")), "{:#?}", best.closure);
}

#[test]
fn git_is_installed_where_pip_clones() {
    const PACKAGE: &str = "usr/local/lib/python3.11/site-packages/kr-1.0.dist-info";
    let git = deb("git", "libc6", vec![program("usr/bin/git", &[])]);
    let image = || python_image().apt("git", vec![git.clone()]).apt("gcc", gcc());
    // As pip and uv write it (PEP 610).
    let by_git = "[build-system]\nrequires = [\"setuptools\", \"setuptools-scm\"]\n";
    for (origin, project, is_called) in [
        (r#"{"url": "https://example.org/kr", "vcs_info": {"commit_id": "46fd", "vcs": "git"}}"#, "", true),
        (r#"{"url":"https://example.org/kr","vcs_info":{"vcs":"git","commit_id":"46fd"}}"#, "", true),
        (r#"{"dir_info": {}, "url": "file:///src/kr"}"#, by_git, true),
    ] {
        let scene = image()
            .copy("pyproject.toml /src/kr/", vec![file("src/kr/pyproject.toml", project)])
            .run(
                "pip install -r requirements.txt",
                vec![
                    file(format!("{PACKAGE}/METADATA"), "Metadata-Version: 2.1\nName: kr\nVersion: 1.0\n"),
                    file(format!("{PACKAGE}/direct_url.json"), origin),
                ],
            )
            .workdir("/app", "/app")
            .copy("serve.py .", vec![file("app/serve.py", "import kr\n")])
            .cmd(&["python", "serve.py"])
            .from("python:3.11");
        let proposals = scene.propose();
        let stage = last_stage(&one(&proposals, "distribution").dockerfile);
        let install = stage.find("apt-get install -y --no-install-recommends git");
        let clone = stage.find("RUN pip install -r requirements.txt");
        assert!(clone.is_some(), "{stage}");
        assert_eq!(install.is_some_and(|install| Some(install) < clone), is_called, "{stage}");
    }
}

#[test]
fn an_image_whose_script_starts_python_keeps_it() {
    let scene = python_image()
        .apt("gcc", gcc())
        .copy("tool.c /usr/src/tool.c", vec![text("usr/src/tool.c", 300)])
        .run(
            "gcc -o /usr/local/bin/tool /usr/src/tool.c",
            vec![program("usr/local/bin/tool", &["libc.so.6"])],
        )
        .workdir("/app", "/app")
        .copy(
            "app.py e.sh /app/",
            vec![
                file("app/app.py", "print()\n"),
                file("app/e.sh", "#!/bin/sh\nset -e\nexec python /app/app.py \"$@\"\n").mode(0o755),
            ],
        )
        .entrypoint(&["/app/e.sh"])
        .from("python:3.11");
    let proposals = scene.propose();
    for proposal in &proposals.list {
        let stage = last_stage(&proposal.dockerfile);
        assert!(stage.starts_with("FROM python:3.11"), "{stage}");
    }
    assert!(!proposals.list.is_empty());
}

#[test]
fn many_programs_beside_one_of_another_stage_are_copied_with_their_folder() {
    let packages = "usr/local/lib/python3.11/site-packages";
    let mut members: Vec<Member> = (0..30)
        .map(|at| file(format!("usr/local/bin/tool{at}"), "#!/usr/local/bin/python3.11\n").mode(0o755))
        .collect();
    members.push(text(&format!("{packages}/tools/__init__.py"), 20_000));
    members.extend(library(&format!("{packages}/tools"), "_tools.so", "", &["libc.so.6", "libpq.so.5"]));
    let client = || deb("libpq5", "libc6", library(TRIPLE, "libpq.so.5", ".15", &["libc.so.6"]));
    let header = || deb("libpq-dev", "libpq5", vec![text("usr/include/libpq-fe.h", 9_000)]);
    let scene = python_image()
        .copy("--from=jbig /src/jbig2 /usr/local/bin/", vec![program("usr/local/bin/jbig2", &["libc.so.6"])])
        .install(
            "apt-get update && apt-get install -y gcc libpq-dev && if [ \"$(uname -m)\" = armv7l ]; then make; fi && pip install --no-binary :all: tools",
            [gcc(), vec![client(), header()]].concat(),
            members,
        )
        .workdir("/app", "/app")
        .copy("serve.py .", vec![file("app/serve.py", "import tools\n")])
        .cmd(&["/usr/local/bin/tool3"]);
    let proposals = scene.propose_of(&format!("FROM debian:12 AS jbig\nRUN make\n\n{}", scene.dockerfile()));
    let best = &proposals.list[0];
    let stage = last_stage(&best.dockerfile);
    assert!(best.closure.resolved, "{stage}\n{:#?}", best.closure);
    assert!(stage.contains("COPY --from=build /usr/local/bin /usr/local/bin"), "{stage}");
    // The RUN cannot be divided, but what it brings for the final stage is known.
    assert!(stage.contains("libpq5"), "{stage}");
    assert!(
        !best.closure.unproven.iter().any(|text| text.contains("unsupported form")),
        "{:#?}",
        best.closure
    );
}

pub(super) fn gcc() -> Vec<Deb> {
    vec![deb(
        "gcc",
        "libc6",
        vec![
            program("usr/bin/gcc", &[]),
            program("usr/lib/gcc/x86_64-linux-gnu/12/cc1", &[]),
            text("usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", 4_000_000),
        ],
    )]
}

/// python:3.11 as docker-library builds it: Debian, what builds, and Python below `/usr/local`.
pub(super) fn python_image() -> Scene {
    let mut image = Image::new(Packing::Gzip)
        .layer("# debian.sh --arch 'amd64' out/ 'bookworm'", &[])
        .layer("RUN /bin/sh -c set -eux; apt-get install -y --no-install-recommends ca-certificates curl # buildkit", &[])
        .layer("RUN /bin/sh -c set -ex; apt-get install -y --no-install-recommends zlib1g-dev # buildkit", &[])
        .step("ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin")
        .step("ENV GPG_KEY=A035C8C19219BA821ECEA86B64E628F8D684696D")
        .step("ENV PYTHON_VERSION=3.11.9")
        .layer("RUN /bin/sh -c set -eux; wget -O python.tar.xz; make install # buildkit", &[])
        .layer("RUN /bin/sh -c set -eux; for src in idle3 python3; do ln -svT x y; done # buildkit", &[])
        .step("CMD [\"python3\"]");
    image.config = json!({"Cmd": ["python3"], "Env": [
        "PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin",
        "GPG_KEY=A035C8C19219BA821ECEA86B64E628F8D684696D", "PYTHON_VERSION=3.11.9",
    ]});
    let zlib = library(TRIPLE, "libz.so.1", ".3", &["libc.so.6"]);
    let headers =
        vec![text("usr/include/zlib.h", 7_000), static_library(&format!("{TRIPLE}/libz.a"), 30_000)];
    let debian = vec![
        file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n"),
        symlink("lib64", "usr/lib64"),
        symlink("bin", "usr/bin"),
    ];
    let debs: Vec<Deb> =
        vec![libc(), deb("dash", "libc6", vec![program("usr/bin/dash", &[]), symlink("usr/bin/sh", "dash")])];
    let python = vec![
        program("usr/local/bin/python3.11", &["libpython3.11.so.1.0"]),
        file(
            "usr/local/lib/libpython3.11.so.1.0",
            Elf::library("libpython3.11.so.1.0").needing(&["libc.so.6", "libz.so.1"]).build(),
        ),
        library("usr/local/lib/python3.11/lib-dynload", "_tkinter.cpython-311.so", "", &["libtk8.6.so"])
            .remove(0),
        text("usr/local/lib/python3.11/os.py", 3_000),
        text("usr/local/lib/python3.11/json/decoder.py", 3_000),
        text("usr/local/lib/python3.11/email/parser.py", 3_000),
        text("usr/local/lib/python3.11/logging/config.py", 3_000),
        text("usr/local/lib/python3.11/http/client.py", 3_000),
        text("usr/local/lib/python3.11/urllib/parse.py", 3_000),
        text("usr/local/lib/python3.11/site-packages/pip/__init__.py", 700_000),
        text("usr/local/include/python3.11/Python.h", 1_000),
    ];
    let needed = &["libc.so.6", "libpng16.so.16"];
    let tk = vec![
        deb("libpng16-16", "libc6", library(TRIPLE, "libpng16.so.16", ".39", &["libc.so.6"])),
        deb("libtk8.6", "libpng16-16", library(TRIPLE, "libtk8.6.so", "", needed)),
    ];
    let links =
        vec![symlink("usr/local/bin/python3", "python3.11"), symlink("usr/local/bin/python", "python3")];
    Scene::on(
        "python:3.11",
        image,
        &[("debian:12", 1)],
        vec![
            (debian, debs),
            (
                Vec::new(),
                vec![
                    deb("ca-certificates", "", vec![text("usr/share/ca-certificates/one.crt", 500)]),
                    deb("curl", "libc6", vec![program("usr/bin/curl", &[])]),
                    deb("tzdata", "", vec![text("usr/share/zoneinfo/UTC", 100)]),
                    deb("netbase", "", vec![text("etc/protocols", 100)]),
                ],
            ),
            (
                Vec::new(),
                [vec![deb("zlib1g", "libc6", zlib), deb("zlib1g-dev", "zlib1g", headers)], tk].concat(),
            ),
            (python, Vec::new()),
            (links, Vec::new()),
        ],
    )
}
