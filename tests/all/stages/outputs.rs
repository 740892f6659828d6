//! What cargo, Maven and phpize leave in their folders beside what they built.

use cutaway::findings::Plan;

use super::parts::{devel, library, program, text, tools};
use super::scene::{Scene, gone, has_lines, has_none};
use crate::fixtures::filler;
use crate::fixtures::tarball::{Member, file, hardlink, symlink};

fn base() -> Scene {
    devel().apt("cmake git", tools())
}

fn large(path: &str) -> Member {
    file(path, filler::code(path, 300_000))
}

#[test]
fn of_cargo_only_what_it_built_is_copied() {
    let target = |name: &str| format!("srv/target/release/{name}");
    let scene = |workdir: &str, more: Vec<Member>| {
        let mut made = vec![
            file("srv/target/.rustc_info.json", "{}"),
            // What build scripts and other tools put there.
            text("srv/target/site/app.js", 4_000),
            text(&target("assets/index.html"), 4_000),
            text("srv/target/CACHEDIR.TAG", 177),
            program(&target("serve"), &["libcurand.so.10"]),
            text(&target("serve.d"), 200),
            large(&target("deps/libtokio-2c3d.rlib")),
            large(&target("deps/libtokio-2c3d.rmeta")),
            program(&target("build/ring-4e5f/build-script-build"), &[]),
            text(&target("build/ring-4e5f/out/tables.rs"), 3_000),
            text(&target(".fingerprint/serve-0a1b/bin-serve"), 16),
        ];
        made.extend(library("srv/target/release", "libplugin.so", "", &["libcurand.so.10"]));
        made.extend(more);
        base()
            .workdir(workdir, workdir)
            .copy(
                ". .",
                vec![
                    text("srv/Cargo.toml", 300),
                    text("srv/Cargo.lock", 9_000),
                    text("srv/src/main.rs", 2_000),
                ],
            )
            .run("cargo build --release", made)
            .cmd(&["/srv/target/release/serve"])
    };
    let proposals = scene("/srv", Vec::new()).propose();
    let best = &proposals.list[0];
    has_none(best, &["/deps", "/build/", "COPY Cargo", ".rustc_info.json", "rm -rf /srv"]);
    assert!(gone(best).contains(&"/srv/target/release/deps/libtokio-2c3d.rlib"), "{best:#?}");
    assert!(gone(best).contains(&"/srv/target/release/build/ring-4e5f/out/tables.rs"), "{best:#?}");
    for kept in [
        "/srv/target/release/serve",
        "/srv/target/release/libplugin.so",
        "/srv/target/release/assets",
        "/srv/target/site",
    ] {
        assert!(best.dockerfile.contains(kept) && !gone(best).contains(&kept), "{kept}: {}", best.dockerfile);
    }
    // Cargo links programs out of the folder, which comes first in an archive.
    let linked = vec![
        program(&target("deps/more-0a1b"), &["libcurand.so.10"]),
        hardlink(target("more"), target("deps/more-0a1b")),
    ];
    let scene_of_two = scene("/srv", linked);
    let analysis = scene_of_two.cmd(&["/srv/target/release/more"]).analysis();
    let plan = Plan::of_safe(analysis.findings.as_ref().unwrap());
    let proposals = analysis.propose(&plan, None).expect("findings").expect("proposals");
    let written = &proposals.list[0].dockerfile;
    assert!(written.contains("/srv/target/release/more") && !written.contains("/deps"), "{written}");
    // A program that is only there, and a link to it.
    let only = vec![
        program(&target("deps/tool-0a1b"), &["libcurand.so.10"]),
        symlink("usr/local/bin/tool", format!("/{}", target("deps/tool-0a1b"))),
    ];
    let proposals = scene("/srv", only).propose();
    assert!(!gone(&proposals.list[0]).contains(&"/srv/target/release/deps/tool-0a1b"));
    // What a script names.
    let script = file("srv/start.sh", "#!/bin/sh\ncat target/release/build/*/out/table.bin\n").mode(0o755);
    let table = text(&target("build/ring-4e5f/out/table.bin"), 3_000);
    let proposals = scene("/srv", vec![script, table.clone()]).propose();
    assert!(!gone(&proposals.list[0]).contains(&"/srv/target/release/build/ring-4e5f/out/table.bin"));
    let proposals = scene("/srv", vec![table]).propose();
    assert!(gone(&proposals.list[0]).contains(&"/srv/target/release/build/ring-4e5f/out/table.bin"));
}

#[test]
fn of_maven_only_what_it_packaged_is_copied() {
    let scene = |command: &[&str], archive: &str, resource: &str| {
        base()
            .workdir("/srv", "/srv")
            .copy("pom.xml .", vec![text("srv/pom.xml", 900)])
            .copy(
                "src src",
                vec![
                    text("srv/src/main/java/a/Main.java", 4_000),
                    text(&format!("srv/src/main/resources/{resource}"), 5_000),
                    text("srv/src/test/java/a/MainTest.java", 4_000),
                ],
            )
            .run(
                "mvn package && make install",
                vec![
                    text("srv/target/classes/a/Main.class", 3_000),
                    text("srv/target/classes/words.txt", 5_000),
                    text("srv/target/test-classes/a/MainTest.class", 3_000),
                    text("srv/target/maven-status/list", 300),
                    text("srv/target/lib/log.jar", 40_000),
                    large(archive),
                    large("srv/target/serve-sources.jar"),
                    program("usr/local/bin/serve", &["libcurand.so.10"]),
                ],
            )
            .cmd(command)
    };
    let names = |scene: Scene| -> Vec<String> {
        let proposals = scene.propose();
        let left = gone(&proposals.list[0]);
        left.into_iter().filter(|path| path.starts_with("/srv")).map(str::to_owned).collect()
    };
    let java = ["/usr/local/bin/serve", "-jar", "/srv/target/serve.jar"];
    let left = names(scene(&java, "srv/target/serve.jar", "words.txt"));
    for path in [
        "/srv/src/main/java/a/Main.java",
        "/srv/src/main/resources/words.txt",
        "/srv/src/test/java/a/MainTest.java",
        "/srv/target/classes/words.txt",
        "/srv/target/maven-status/list",
        "/srv/target/serve-sources.jar",
    ] {
        assert!(left.iter().any(|one| one == path), "{path}: {left:?}");
    }
    for path in ["/srv/target/lib/log.jar", "/srv/target/serve.jar"] {
        assert!(!left.iter().any(|one| one == path), "{path}: {left:?}");
    }
    // A resource that is not in the archive is copied with its folder.
    let left = names(scene(&java, "srv/target/serve.jar", "local.txt"));
    assert!(!left.iter().any(|path| path.starts_with("/srv/src")), "{left:?}");
    // What the command names, in a list too.
    let classes = ["/usr/local/bin/serve", "-cp", "/srv/target/classes:/srv/target/lib/*", "a.Main"];
    let left = names(scene(&classes, "srv/target/serve.jar", "words.txt"));
    assert!(!left.iter().any(|path| path.starts_with("/srv/target/classes")), "{left:?}");
    // A resource that the command names, and a command that names no archive: a script may run the classes.
    let config =
        ["/usr/local/bin/serve", "-jar", "target/serve.jar", "--at=file:src/main/resources/words.txt"];
    let left = names(scene(&config, "srv/target/serve.jar", "words.txt"));
    assert!(!left.iter().any(|path| path.ends_with("resources/words.txt")), "{left:?}");
    let left = names(scene(&["/usr/local/bin/serve"], "srv/target/serve.jar", "words.txt"));
    assert!(!left.iter().any(|path| path.starts_with("/srv/target/classes")), "{left:?}");
}

#[test]
fn of_an_extension_only_the_installed_library_is_copied() {
    let built = |folder: &str| library(folder, "slug.so", "", &[]);
    let mut made =
        [built("usr/src/slug/modules"), built("usr/src/slug/.libs"), built("usr/lib/php/20220829")].concat();
    made.push(program("usr/local/bin/serve", &["libcurand.so.10"]));
    made.extend([text("usr/src/slug/Makefile", 900), text("usr/src/slug/slug.lo", 300)]);
    let scene = base()
        .copy("ext /usr/src/slug", vec![text("usr/src/slug/slug.c", 900)])
        .run("cd /usr/src/slug && phpize && ./configure && make && make install", made)
        .run(
            "echo extension=slug.so > /etc/php/8.2/conf.d/slug.ini",
            vec![file("etc/php/8.2/conf.d/slug.ini", "extension=slug.so\n")],
        )
        .cmd(&["/usr/local/bin/serve"]);
    let proposals = scene.propose();
    let best = &proposals.list[0];
    has_none(best, &["COPY --from=build /usr/src"]);
    has_lines(best, &["COPY --from=build /usr/lib/php /usr/lib/php"]);
}
