//! Where no stage is proposed, and why.

use cutaway::findings::Plan;
use cutaway::rewrite::{Applicability, Given};

use super::parts::{built, devel, program, static_library};
use super::scene::analysis;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::tar;

#[test]
fn without_a_known_base_no_stage_is_proposed_and_it_is_said() {
    let image = Image::new(Packing::Gzip)
        .layer("RUN make # buildkit", &tar([static_library("usr/lib/libx.a", 90_000), program("app", &[])]));
    let layout = Layout::of(&image, "t");
    let known = analysis(&layout);
    let plan = Plan::of_safe(known.findings.as_ref().unwrap());
    let proposals = known.propose(&plan, None).unwrap().unwrap();
    assert!(proposals.list.iter().all(|one| one.id == "tidy"), "{proposals:#?}");
    let said = proposals.notes.iter().find(|note| note.starts_with("No smaller base image proposed: "));
    assert!(said.is_some_and(|note| note.contains("base image")), "{:?}", proposals.notes);
}

#[test]
fn of_an_image_that_is_not_all_there_no_stage_is_proposed() {
    let scene = built(devel(), &["libcurand.so.10"]).cmd(&["/usr/local/bin/serve"]);
    let mut layout = scene.layout();
    layout.remove_blob(&scene.image.layers[5].digest);
    let known = analysis(&layout);
    let plan = Plan::of_safe(known.findings.as_ref().unwrap());
    let text = scene.dockerfile();
    let given = Given { name: "Dockerfile", text: text.as_bytes() };
    let proposals = known.propose(&plan, Some(given)).unwrap().unwrap();
    assert!(proposals.list.iter().all(|one| one.id == "tidy"), "{proposals:#?}");
    let said = proposals.notes.iter().find(|note| note.starts_with("No smaller base image proposed: "));
    assert!(said.is_some_and(|note| note.contains("could not be read")), "{:?}", proposals.notes);
    assert!(proposals.list.iter().all(|one| one.applicability != Applicability::Safe));
}
