//! Images of Python as docker-library builds them: the full one, and the slim one below it.

use serde_json::json;

use super::parts::{TRIPLE, libc, library, program, static_library, text};
use super::scene::{Deb, Scene, deb, gone, last_stage, one};
use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, symlink};

#[test]
fn python_of_docker_hub_ends_on_its_slim_variant() {
    let scene = python_image()
        .apt(
            "gcc",
            vec![deb(
                "gcc",
                "libc6",
                vec![program("usr/bin/gcc", &[]), program("usr/lib/gcc/x86_64-linux-gnu/12/cc1", &[])],
            )],
        )
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

/// python:3.11 as docker-library builds it: Debian, what builds, and Python below `/usr/local`.
fn python_image() -> Scene {
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
        text("usr/local/lib/python3.11/os.py", 3_000),
        text("usr/local/include/python3.11/Python.h", 1_000),
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
                    deb("tzdata", "", vec![text("usr/share/zoneinfo/UTC", 100)]),
                    deb("netbase", "", vec![text("etc/protocols", 100)]),
                ],
            ),
            (Vec::new(), vec![deb("zlib1g", "libc6", zlib), deb("zlib1g-dev", "zlib1g", headers)]),
            (python, Vec::new()),
            (links, Vec::new()),
        ],
    )
}
