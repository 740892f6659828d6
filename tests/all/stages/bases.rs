//! What the final stage starts from, and what of CUDA it has.

use super::parts::{BASE, DEVEL, LIB, RUNTIME, built, cuda, devel, lib, tools};
use super::scene::{Scene, gone, has_lines, has_none, last_stage, one};

const TOOLS: &str = "build-essential cmake git";

/// A service in C++ that needs what `needed` says, on NVIDIA's devel image.
fn service(scene: Scene, needed: &[&str]) -> Scene {
    built(scene.apt(TOOLS, tools()), needed).cmd(&["/usr/local/bin/serve"])
}

#[test]
fn a_program_on_a_devel_image_ends_on_the_base_flavour() {
    let scene = service(devel(), &["libcurand.so.10", "libcudart.so.12"]);
    let proposals = scene.propose();
    let best = &proposals.list[0];
    assert_eq!((best.id.as_str(), best.base_image.as_deref()), ("minimal", Some(BASE)));
    println!("{}", best.dockerfile);
    println!("{:#?}", best.closure);
    println!("{:#?}", best.kept);
    for p in &proposals.list { println!("{} {:?}", p.id, p.base_image); }
}
