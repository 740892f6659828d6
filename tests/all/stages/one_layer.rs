//! Images whose instructions share one layer, as buildah without `--layers` and kaniko with `--single-snapshot` make
//! them.

use std::collections::BTreeMap;

use cutaway::findings::Plan;
use cutaway::rewrite::{Given, Proposals};

use super::parts::{built, devel, program, text, tools};
use super::scene::{Scene, analysis, deb, has_lines, last_stage, one};
use crate::fixtures::image::Layer;
use crate::fixtures::layout::Layout;
use crate::fixtures::tarball::{Member, file, tar};

/// The proposals for an image of a scene whose own instructions have one layer, which the last of them made.
pub(super) fn propose(scene: &Scene, given: bool) -> Proposals {
    let base = scene.base_layers();
    let mut image = scene.image.clone();
    let members: BTreeMap<Vec<u8>, Member> =
        scene.layers[base..].iter().flatten().map(|member| (member.name.clone(), member.clone())).collect();
    image.layers.truncate(base);
    image.layers.push(Layer::new(&tar(members.into_values()), image.packing));
    let mut layers = 0;
    for (_, is_empty) in &mut image.history {
        layers += usize::from(!*is_empty);
        *is_empty |= layers > base;
    }
    image.history.last_mut().unwrap().1 = false;
    let known = analysis(&Layout::of(&image, "t"));
    let plan = Plan::of_safe(known.findings.as_ref().unwrap());
    let text = scene.dockerfile();
    let given = given.then_some(Given { name: "Dockerfile", text: text.as_bytes() });
    known.propose(&plan, given).unwrap().unwrap()
}

#[test]
fn what_was_built_is_copied() {
    let with_command = |scene: Scene| scene.cmd(&["/usr/local/bin/serve"]);
    let copied =
        |scene: Scene| scene.copy("serve.conf /etc/serve.conf", vec![file("etc/serve.conf", "a=1\n")]);
    let start = || built(devel().apt("build-essential cmake git", tools()), &["libcurand.so.10"]);
    for scene in [with_command(start()), with_command(copied(start())), copied(with_command(start()))] {
        for given in [true, false] {
            let proposals = propose(&scene, given);
            let best = one(&proposals, "stages");
            let stage = last_stage(&best.dockerfile);
            has_lines(best, &["COPY --from=build /usr/local/bin/serve /usr/local/bin/serve"]);
            assert!(stage.contains("libcurand-12-4"), "{stage}");
            assert!(!stage.contains("cmake"), "{stage}");
        }
    }
}

#[test]
fn what_was_only_copied_comes_from_the_context() {
    let scene = devel()
        .apt("build-essential cmake git", tools())
        .copy("serve /usr/local/bin/serve", vec![program("usr/local/bin/serve", &["libcurand.so.10"])])
        .cmd(&["/usr/local/bin/serve"]);
    let proposals = propose(&scene, true);
    let best = one(&proposals, "base");
    has_lines(best, &["COPY serve /usr/local/bin/serve"]);
}

#[test]
fn the_last_instruction_that_leaves_a_cache_removes_it() {
    let nginx = || deb("nginx", "libc6", vec![program("usr/sbin/nginx", &[])]);
    let lists = || vec![text("var/lib/apt/lists/example_Packages", 900_000)];
    let cache = || vec![text("root/.npm/_cacache/content-v2/sha512/aa/bb/cc", 700_000)];
    let scene = devel()
        .install("apt-get update && apt-get install -y --no-install-recommends nginx", vec![nginx()], lists())
        .copy("index.html /srv/", vec![file("srv/index.html", "<p>\n")])
        .run("apt-get update && apt-get upgrade -y && npm --version", [lists(), cache()].concat())
        .cmd(&["nginx"]);
    let proposals = propose(&scene, true);
    let best = one(&proposals, "tidy");
    let lines: Vec<&str> = best.dockerfile.lines().filter(|line| line.contains("lists")).collect();
    assert_eq!(lines.len(), 1, "{}", best.dockerfile);
    let last = best.dockerfile.find("apt-get upgrade").unwrap();
    assert!(
        best.dockerfile.find("rm -rf /var/lib/apt/lists/*").is_some_and(|at| at > last),
        "{}",
        best.dockerfile
    );
    assert!(best.dockerfile.contains("npm cache clean --force"), "{}", best.dockerfile);
    assert!(best.predicted.saved_bytes >= 1_600_000, "{:?}", best.predicted);
}

#[test]
fn what_is_copied_after_the_build_comes_from_the_context() {
    let scene = devel()
        .apt("build-essential cmake git", tools())
        .copy("mylib /root/mylib", Vec::new())
        .run("mkdir /root/mylib/build", Vec::new())
        .run(
            "cmake -B /root/mylib/build && make install",
            vec![program("usr/local/bin/serve", &["libcurand.so.10"])],
        )
        .run("rm -rf /root/mylib", Vec::new())
        .workdir("/srv", "/srv")
        .copy("app.py models ./", vec![text("srv/app.py", 400), text("srv/a.bin", 90_000)])
        .cmd(&["/usr/local/bin/serve", "/srv/app.py"]);
    let proposals = propose(&scene, true);
    let best = one(&proposals, "stages");
    has_lines(
        best,
        &["COPY app.py models ./", "COPY --from=build /usr/local/bin/serve /usr/local/bin/serve"],
    );
    let stage = last_stage(&best.dockerfile);
    assert!(!stage.contains("mkdir"), "{stage}");
    // The build may have made files in the folder, too: no file of the recipe tells.
    assert!(stage.contains("COPY --from=build /srv/a.bin /srv/a.bin"), "{stage}");
    let told = "remove the COPY of files from the build stage that come with line 8";
    assert!(format!("{:?} {:?}", best.closure, best.hints).contains(told), "{best:#?}");
}
