//! What Dockerfiles of public projects do.

use super::parts::{TRIPLE, built, devel, library, program, text, tools};
use super::python::{gcc, python_image};
use super::scene::{deb, has_lines, has_none, last_stage, one};
use crate::fixtures::tarball::file;

#[test]
fn what_a_repeated_installation_depends_on_stays() {
    // Of the full image only.
    let mailer = || deb("cron-mailer", "zlib1g-dev", vec![program("usr/bin/cron-mailer", &["libc.so.6"])]);
    let cron = || deb("cron", "libc6", vec![program("usr/sbin/cron", &["libc.so.6"])]);
    let scene = python_image()
        .apt("gcc", gcc())
        .install("apt-get update && apt-get install -y cron", vec![cron(), mailer()], Vec::new())
        .cmd(&["cron", "-f"])
        .from("python:3.11");
    let proposals = scene.propose();
    let best = one(&proposals, "distribution");
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert!(
        !best.closure.unproven.iter().any(|text| text.contains("is left out, but")),
        "{:#?}",
        best.closure
    );
}

#[test]
fn a_folder_is_copied_for_results_among_sources() {
    let catalog = |language: &str, name: &str, bytes| {
        text(&format!("app/shop/locale/{language}/LC_MESSAGES/shop.{name}"), bytes)
    };
    let scene = devel()
        .apt("cmake git", tools())
        .workdir("/app", "/app")
        .copy(
            "shop shop",
            vec![
                text("app/shop/main.py", 4_000),
                text("app/shop/static/logo.png", 90_000),
                catalog("de", "po", 900),
                catalog("fr", "po", 900),
            ],
        )
        .run("make -C /app/shop catalogs", vec![catalog("de", "mo", 700), catalog("fr", "mo", 700)])
        .copy("Makefile /src/", vec![text("src/Makefile", 300)])
        .run("make -C /src install", vec![program("usr/local/bin/serve", &["libc.so.6"])])
        .cmd(&["/usr/local/bin/serve", "/app/shop"]);
    // With the next language its catalog comes.
    let proposals = scene.propose();
    let best = one(&proposals, "stages");
    has_lines(best, &["COPY --from=build /app/shop/locale /app/shop/locale"]);
    has_none(best, &["shop.mo"]);
}

#[test]
fn sources_stay_where_the_command_builds() {
    let scene = |script: &str| {
        devel()
            .apt("cmake git", tools())
            .workdir("/app", "/app")
            .copy(
                ". /app",
                vec![
                    text("app/Makefile", 900),
                    text("app/vendor/kernel.c", 60_000),
                    file("app/run.sh", script).mode(0o755),
                ],
            )
            .run("make install", vec![program("usr/local/bin/serve", &["libc.so.6"])])
            .cmd(&["/bin/sh", "/app/run.sh"])
    };
    let proposals = scene("#!/bin/sh\nexec serve\n").propose();
    let best = one(&proposals, "stages");
    assert!(best.removed.iter().any(|one| one.path == "/app/vendor/kernel.c"), "{}", best.dockerfile);
    for proposal in &scene("#!/bin/sh\nmake build\nexec serve\n").propose().list {
        let left: Vec<_> = proposal.removed.iter().filter(|one| one.path.starts_with("/app/")).collect();
        assert!(left.is_empty(), "{left:#?}\n{}", proposal.dockerfile);
    }
}

#[test]
fn a_source_that_a_compiler_is_given_stays_in_the_build_stage() {
    let scene = devel()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .apt("cmake git", tools())
        .copy("tool.c /build/tool.c", vec![text("build/tool.c", 900)])
        .run("gcc -o /usr/local/bin/tool /build/tool.c", vec![program("usr/local/bin/tool", &["libc.so.6"])])
        .workdir("/app", "/app")
        .copy("app.txt .", vec![text("app/app.txt", 900)])
        .cmd(&["/usr/local/bin/tool"]);
    let proposals = scene.propose();
    let best = one(&proposals, "stages");
    assert!(!last_stage(&best.dockerfile).contains("tool.c"), "{}", best.dockerfile);
}

#[test]
fn libraries_that_files_need_are_named_beside_packages_that_perhaps_nothing_opens() {
    let packages = "opt/venv/lib/python3.10/site-packages/db";
    let debs = vec![
        deb("libpq5", "libc6", library(TRIPLE, "libpq.so.5", ".15", &["libc.so.6"])),
        deb("libecpg6", "libpq5", library(TRIPLE, "libecpg.so.6", ".15", &["libc.so.6", "libpq.so.5"])),
        deb("libpq-dev", "libpq5", vec![text("usr/include/libpq-fe.h", 900)]),
        deb("libecpg-dev", "libecpg6, libpq-dev", vec![text("usr/include/ecpglib.h", 900)]),
    ];
    let scene =
        built(devel().apt("cmake git libpq-dev libecpg-dev", [tools(), debs].concat()), &["libc.so.6"])
            .run(
                "pip install --no-binary :all: --prefix /opt/venv db",
                [
                    library(packages, "_db.so", "", &["libc.so.6", "libpq.so.5"]),
                    vec![
                        text(&format!("{packages}/__init__.py"), 900),
                        file(
                            "opt/venv/lib/python3.10/site-packages/db-1.0.dist-info/METADATA",
                            "Metadata-Version: 2.1\nName: db\nVersion: 1.0\n",
                        ),
                    ],
                ]
                .concat(),
            )
            .cmd(&["/usr/local/bin/serve"]);
    let proposals = scene.propose();
    let best = &proposals.list[0];
    assert!(last_stage(&best.dockerfile).contains("libpq5"), "{}", best.dockerfile);
}
