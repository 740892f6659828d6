//! Targets as the command line takes them.

use super::service;
use crate::fixtures::layout::Layout;
use crate::support::Place;

#[test]
fn targets_that_cannot_be_used_are_refused_with_a_hint() {
    let place = Place::new();
    let image = format!("oci:{}", place.put_layout("image", &Layout::of(&service(vec![], &[], &[]), "t")));
    for (target, said) in
        [("gpu:a100-8", "gpu:a100-80"), ("cc=8", "compute capability"), ("cc=8.6,class=fast", "geforce")]
    {
        let message = place.failure(&["report", &image, "--format", "json", "--target", target]);
        assert!(message.contains(said) && message.contains("hint:"), "{target}: {message}");
    }
    for target in ["gpu:l4", "azure:Standard_NC24ads_A100_v4", "cc=8.6,driver=535.104,class=geforce"] {
        place.report_with(&image, &["--target", target]);
    }
}
