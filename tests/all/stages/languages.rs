//! Images of Node.js and Rust as docker-library builds them, and what smaller bases lack that no text names.

use cutaway::rewrite::Proposal;
use serde_json::json;

use super::parts::{TRIPLE, built, devel, libc, library, program, static_library, text, tools};
use super::python::{gcc, python_image};
use super::scene::{Deb, Scene, deb, gone, has_lines, has_none, last_stage, one};
use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, dir, file, symlink};

const PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn debian() -> (Vec<Member>, Vec<Deb>) {
    let members = vec![
        file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n"),
        file("etc/passwd", "root:x:0:0::/root:/bin/sh\n"),
        symlink("lib64", "usr/lib64"),
        symlink("bin", "usr/bin"),
    ];
    let shell = vec![program("usr/bin/dash", &[]), symlink("usr/bin/sh", "dash")];
    (members, vec![libc(), deb("dash", "libc6", shell)])
}

fn buildpack() -> (Vec<Member>, Vec<Deb>) {
    let zlib = library(TRIPLE, "libz.so.1", ".3", &["libc.so.6"]);
    let headers =
        vec![text("usr/include/zlib.h", 7_000), static_library(&format!("{TRIPLE}/libz.a"), 900_000)];
    let debs = [
        vec![
            deb("ca-certificates", "", vec![text("usr/share/ca-certificates/one.crt", 500)]),
            deb("curl", "libc6", vec![program("usr/bin/curl", &[])]),
            deb("zlib1g", "libc6", zlib),
            deb("zlib1g-dev", "zlib1g", headers),
        ],
        gcc(),
    ];
    (Vec::new(), debs.concat())
}

fn node_image(tag: &str) -> Scene {
    let mut image = Image::new(Packing::Gzip)
        .layer("# debian.sh --arch 'amd64' out/ 'bookworm'", &[])
        .layer(
            "RUN /bin/sh -c set -ex; apt-get install -y --no-install-recommends zlib1g-dev # buildkit",
            &[],
        )
        .layer("RUN /bin/sh -c groupadd --gid 1000 node && useradd --uid 1000 node # buildkit", &[])
        .step("ENV NODE_VERSION=20.11.1")
        .layer("RUN /bin/sh -c set -ex && tar -xJf node.tar.xz -C /usr/local # buildkit", &[])
        .step("ENV YARN_VERSION=1.22.19")
        .layer("RUN /bin/sh -c set -ex && tar -xzf yarn.tar.gz -C /opt/ # buildkit", &[])
        .step("CMD [\"node\"]");
    image.config = json!({"Cmd": ["node"], "Env": [PATH, "NODE_VERSION=20.11.1", "YARN_VERSION=1.22.19"]});
    let users = vec![
        file("etc/passwd", "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/bash\n"),
        text("home/node/.bashrc", 300),
    ];
    let node = vec![
        program("usr/local/bin/node", &["libc.so.6"]),
        text("usr/local/lib/node_modules/npm/package.json", 300),
        text("usr/local/include/node/node.h", 1_000),
    ];
    let yarn = vec![text("opt/yarn-v1.22.19/lib/cli.js", 5_000)];
    let of = |members: Vec<Member>| (members, Vec::new());
    Scene::on(
        &format!("node:{tag}"),
        image,
        &[("debian:12", 1)],
        vec![debian(), buildpack(), of(users), of(node), of(yarn)],
    )
}

#[test]
fn node_of_docker_hub_ends_on_its_slim_variant() {
    for (tag, slim) in [("20", "20-slim"), ("20.11.1-bookworm", "20.11.1-bookworm-slim"), ("lts", "lts-slim")]
    {
        let scene = node_image(tag)
            .workdir("/app", "/app")
            .copy("server.js .", vec![file("app/server.js", "require('http')\n")])
            .set("USER node", "User", json!("node"))
            .cmd(&["node", "server.js"]);
        let proposals = scene.propose();
        let best = one(&proposals, "distribution");
        assert_eq!(best.base_image.as_deref(), Some(format!("node:{slim}").as_str()));
        assert!(best.closure.resolved && best.closure.faults.is_empty(), "{:#?}", best.closure);
        assert!(!format!("{:?}", best.closure).contains("tkinter"), "{:#?}", best.closure);
        let gone = gone(best);
        assert!(gone.contains(&"/usr/include/zlib.h"), "{gone:?}");
        for kept in
            ["/usr/local/bin/node", "/opt/yarn-v1.22.19/lib/cli.js", "/home/node/.bashrc", "/etc/passwd"]
        {
            assert!(!gone.contains(&kept), "{kept}: {gone:?}");
        }
    }
    // No tag of which a slim variant is known.
    let scene = node_image("20-alpine")
        .workdir("/app", "/app")
        .copy("server.js .", vec![file("app/server.js", "require('http')\n")])
        .cmd(&["node", "server.js"]);
    assert!(scene.propose().list.iter().all(|one| one.id != "distribution"));
}

fn rust_image() -> Scene {
    const SETTINGS: [&str; 3] =
        ["RUSTUP_HOME=/usr/local/rustup", "CARGO_HOME=/usr/local/cargo", "RUST_VERSION=1.95.0"];
    let path = format!("PATH=/usr/local/cargo/bin:{}", &PATH[5..]);
    let mut image = Image::new(Packing::Gzip)
        .layer("# debian.sh --arch 'amd64' out/ 'bookworm'", &[])
        .layer(
            "RUN /bin/sh -c set -ex; apt-get install -y --no-install-recommends zlib1g-dev # buildkit",
            &[],
        )
        .step(&format!("ENV {} {path}", SETTINGS.join(" ")))
        .layer("RUN /bin/sh -c set -eux; wget \"$url\"; ./rustup-init -y; rm rustup-init # buildkit", &[]);
    image.config = json!({"Env": [&path, SETTINGS[0], SETTINGS[1], SETTINGS[2]]});
    let toolchain = vec![
        program("usr/local/cargo/bin/cargo", &["libc.so.6"]),
        text("usr/local/cargo/bin/rustup", 2_000_000),
        text("usr/local/rustup/toolchains/stable/lib/librustc_driver.rlib", 2_000_000),
    ];
    Scene::on("rust:latest", image, &[("debian:12", 1)], vec![debian(), buildpack(), (toolchain, Vec::new())])
}

#[test]
fn a_program_of_rust_ends_on_the_distribution() {
    let of = |path: &str, command: &str| {
        rust_image()
            .workdir("/app", "/app")
            .copy(". .", vec![text("app/Cargo.toml", 300), text("app/src/main.rs", 300)])
            .run("cargo build --release", vec![program(path, &["libc.so.6", "libz.so.1"])])
            .cmd(&[command])
            .propose()
    };
    let proposals = of("app/target/release/serve", "./target/release/serve");
    let best = one(&proposals, "stages-distribution");
    let stage = last_stage(&best.dockerfile);
    assert!(stage.starts_with("FROM debian:12\n"), "{stage}");
    assert!(stage.contains("zlib1g") && !stage.contains("ENV"), "{stage}");
    has_lines(best, &["COPY --from=build /app/target /app/target"]);
    assert!(best.closure.resolved && best.closure.faults.is_empty(), "{:#?}", best.closure);
    // Where the old base alone names the folder of the program.
    let proposals = of("usr/local/cargo/bin/serve", "serve");
    let best = one(&proposals, "stages-distribution");
    let path = "ENV PATH=/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    has_lines(best, &[path]);
    assert!(best.closure.resolved && best.closure.faults.is_empty(), "{:#?}", best.closure);
}

/// The example of the image's description.
#[test]
fn what_cargo_installs_is_found_by_its_name() {
    let proposals = rust_image()
        .workdir("/usr/src/myapp", "/usr/src/myapp")
        .copy(". .", vec![text("usr/src/myapp/Cargo.toml", 300), text("usr/src/myapp/src/main.rs", 300)])
        .run(
            "cargo install --path .",
            vec![
                // The layer writes the folder again.
                dir("usr/local/cargo/bin"),
                program("usr/local/cargo/bin/myapp", &["libc.so.6"]),
                file(
                    "usr/local/cargo/.crates2.json",
                    "{\"installs\": {\"myapp\": {\"rustc\": \"rustc 1.95.0\"}}}",
                ),
                dir("usr/src/myapp/target/release/examples"),
            ],
        )
        .cmd(&["myapp"])
        .propose();
    let best = one(&proposals, "stages-distribution");
    let path = "ENV PATH=/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    has_lines(best, &[path, "COPY --from=build /usr/local/cargo/bin/myapp /usr/local/cargo/bin/myapp"]);
    has_none(best, &["mkdir", "gcc"]);
    assert!(best.closure.resolved && best.closure.faults.is_empty(), "{:#?}", best.closure);
}

#[test]
fn variables_of_the_base_that_instructions_read_are_set() {
    let path = format!("PATH=/app/bin:/usr/local/cargo/bin:{}", &PATH[5..]);
    let settings =
        json!([path, "RUSTUP_HOME=/usr/local/rustup", "CARGO_HOME=/usr/local/cargo", "RUST_VERSION=1.95.0"]);
    let scene = rust_image()
        .set("ENV PATH=/app/bin:$PATH", "Env", settings)
        .workdir("$CARGO_HOME/work", "/usr/local/cargo/work")
        .copy(
            ". .",
            vec![text("usr/local/cargo/work/Cargo.toml", 300), text("usr/local/cargo/work/page.html", 300)],
        )
        .run("cargo install --path .", vec![program("usr/local/cargo/bin/serve", &["libc.so.6"])])
        .cmd(&["serve"]);
    let proposals = scene.propose();
    let best = one(&proposals, "stages-distribution");
    let stage = last_stage(&best.dockerfile);
    let first = stage.find("ENV PATH=/usr/local/cargo/bin:").unwrap();
    assert!(first < stage.find("ENV PATH=/app/bin:$PATH").unwrap(), "{stage}");
    assert!(stage.contains("CARGO_HOME=/usr/local/cargo"), "{stage}");
    assert!(best.closure.resolved && best.closure.faults.is_empty(), "{:#?}", best.closure);
}

#[test]
fn what_slim_images_lack_without_a_name_is_installed() {
    let mut debs = vec![
        deb("bzip2", "libc6", vec![program("usr/bin/bzip2", &[])]),
        deb("xz-utils", "libc6", vec![program("usr/bin/xz", &[])]),
        deb("media-types", "", vec![file("etc/mime.types", "image/webp webp\n")]),
        deb("perl-base", "libc6", vec![program("usr/bin/perl", &[])]),
        deb("perl", "perl-base", vec![text("usr/share/perl/5.36.0/JSON/PP.pm", 900)]),
        deb("libfribidi0", "libc6", library(TRIPLE, "libfribidi.so.0", ".4", &["libc.so.6"])),
    ];
    let pillow = vec![
        file(
            "usr/local/lib/python3.11/site-packages/pillow-10.4.0.dist-info/METADATA",
            "Name: pillow\nVersion: 10.4.0\n",
        ),
        file(
            "usr/local/lib/python3.11/site-packages/pillow-10.4.0.dist-info/RECORD",
            "PIL/_imagingft.so,,\npillow-10.4.0.dist-info/METADATA,,\n",
        ),
        file(
            "usr/local/lib/python3.11/site-packages/PIL/_imagingft.so",
            Elf::library("_imagingft.so").needing(&["libc.so.6"]).build(),
        ),
    ];
    let image = |new: &[Deb]| {
        python_image()
            .apt("gcc", [gcc(), new.to_vec()].concat())
            .run("pip install pillow", pillow.clone())
            .workdir("/app", "/app")
            .copy(
                ". .",
                vec![
                    file(
                        "app/run.sh",
                        "#!/bin/sh\ntar -xf /data/a.tar.xz\nperl report.pl\nexec python serve.py\n",
                    ),
                    file("app/serve.py", "print()\n"),
                ],
            )
            .cmd(&["sh", "run.sh"])
            .from("python:3.11")
    };
    let proposals = image(&debs).propose();
    let best = proposals.list.iter().find(|one| one.base_image.as_deref() == Some("python:3.11-slim"));
    let stage = last_stage(&best.unwrap().dockerfile);
    for package in ["bzip2", "xz-utils", "media-types", "perl", "libfribidi0"] {
        assert!(stage.contains(package), "{package}: {stage}");
    }
    // What the image does not have is not installed.
    debs.retain(|deb| deb.name != "bzip2" && deb.name != "media-types");
    let proposals = image(&debs).propose();
    let best = proposals.list.iter().find(|one| one.base_image.as_deref() == Some("python:3.11-slim"));
    let stage = last_stage(&best.unwrap().dockerfile);
    assert!(!stage.contains("bzip2") && !stage.contains("media-types"), "{stage}");
}

#[test]
fn what_ld_preload_names_is_installed() {
    let allocator = vec![
        deb("libgoogle-perftools4", "libc6", library(TRIPLE, "libtcmalloc.so.4", ".5", &["libc.so.6"])),
        deb(
            "libgoogle-perftools-dev",
            "libgoogle-perftools4",
            vec![text("usr/include/gperftools/malloc.h", 300)],
        ),
    ];
    let scene = built(devel().apt("build-essential cmake git", tools()), &["libcurand.so.10"])
        .apt("libgoogle-perftools-dev", allocator)
        .env("LD_PRELOAD", &format!("/{TRIPLE}/libtcmalloc.so.4"))
        .run("mkdir -p /var/lib/app", vec![dir("var/lib/app")])
        .cmd(&["/usr/local/bin/serve"]);
    let proposals = scene.propose();
    let best = one(&proposals, "stages");
    let stage = last_stage(&best.dockerfile);
    assert!(stage.contains("libgoogle-perftools4"), "{stage}");
    assert!(best.closure.faults.is_empty(), "{:#?}", best.closure);
}

#[test]
fn a_compiler_that_a_stage_without_a_build_installs_may_be_run() {
    let of = |source: &str| {
        let scene = python_image()
            .apt("gcc", gcc())
            .workdir("/app", "/app")
            .copy(
                "run.sh serve.py ./",
                vec![file("app/serve.py", source), file("app/run.sh", "exec python serve.py\n")],
            )
            .cmd(&["sh", "run.sh"])
            .from("python:3.11");
        scene.propose()
    };
    let open = of("import subprocess\nsubprocess.run(['gcc', '-c', 'x.c'])\n");
    assert!(open.list.iter().all(|one| last_stage(&one.dockerfile).contains("gcc")), "{:#?}", open.list);
    let proposals = of("print()\n");
    let safe = one(&proposals, "distribution");
    assert!(!last_stage(&safe.dockerfile).contains("gcc"), "{}", safe.dockerfile);
    // The script lies in the working directory.
    assert!(!format!("{:?}", safe.closure).contains("does not exist"), "{:#?}", safe.closure);
}

#[test]
fn programs_behind_npm_and_scripts_without_a_first_line_are_installed() {
    let of = |source: Member, command: &[&str]| {
        let name = String::from_utf8(source.name.clone()).unwrap();
        let scene = node_image("20")
            .workdir("/app", "/app")
            .copy(&format!("{} ./", name.trim_start_matches("app/")), vec![source])
            .cmd(command);
        let proposals = scene.propose();
        last_stage(&one(&proposals, "distribution").dockerfile).to_owned()
    };
    let package = "{\n  \"scripts\": {\n    \"start\": \"curl -f http://x && node server.js\"\n  }\n}\n";
    let stage = of(file("app/server.js", "require('http')\n"), &["node", "server.js"]);
    assert!(!stage.contains("curl"), "{stage}");
    let stage = of(file("app/package.json", package), &["npm", "start"]);
    assert!(stage.contains("curl"), "{stage}");
    let stage =
        of(file("app/start.sh", "set -e\ncurl -f http://x\nexec node server.js\n"), &["sh", "start.sh"]);
    assert!(stage.contains("curl"), "{stage}");
}

#[test]
fn a_base_that_other_stages_begin_from_stays() {
    let scene = node_image("20")
        .workdir("/app", "/app")
        .copy("server.js .", vec![file("app/server.js", "require('http')\n")])
        .cmd(&["node", "server.js"]);
    let rest = "WORKDIR /app\nCOPY server.js .\nCMD [\"node\",\"server.js\"]\n";
    let shared = format!(
        "FROM node:20 AS base\n\nFROM base AS build\nRUN npm ci && npm run build\n\nFROM base\n{rest}"
    );
    let has_slim = |one: &Proposal| one.dockerfile.contains("node:20-slim");
    assert!(scene.propose().list.iter().any(has_slim));
    let list = scene.propose_of(&shared).list;
    assert!(!list.iter().any(has_slim), "{list:#?}");
}
