//! Images of engines on the start screen.

use std::sync::atomic::Ordering;

use cutaway::source::Access;
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::{ELSEWHERE, engines, local, tried, window_of};

#[test]
fn images_of_engines_are_listed_newest_first_and_open() {
    let images = vec![
        local("docker-daemon:old:1", &["old:1"], Some(3 << 20), Some(86_400)),
        local("podman:new:1", &["new:1", "new:latest"], Some(2 << 30), Some(1_767_323_045)),
        local("docker-daemon:sha256:4f53", &[], None, None),
    ];
    let (remote, asked) = engines(images, vec![tried("/run/docker.sock", "docker has 3 images")]);
    let mut window = window_of(remote, Access::default());
    window.sees("3 images");
    let rows: Vec<String> = window
        .harness
        .get_all_by_role(Role::Button)
        .filter_map(|node| node.accesskit_node().label())
        .filter(|label| label.contains(", created "))
        .collect();
    assert_eq!(
        rows,
        [
            "new:1, podman (rootless), created 2026-01-02 03:04:05 UTC, 2.00 GiB",
            "old:1, docker, created 1970-01-02 00:00:00 UTC, 3.00 MiB",
            "4f53cda18c2b, docker, created at an unknown time, size unknown",
        ]
    );
    assert!(!window.shows("/run/docker.sock"), "sockets are shown when asked for");
    window.click(Role::Button, "Engines");
    assert!(window.shows("/run/docker.sock: docker has 3 images"));
    window.click(Role::Link, "Refresh");
    window.until("second listing", |_| asked.load(Ordering::SeqCst) == 2);

    let row = window.harness.get_by_label_contains("old:1, docker");
    row.focus();
    window.harness.run_steps(2);
    window.press(Modifiers::NONE, Key::Enter);
    assert!(window.has_tab("old:1"), "Enter on a row opens it");
}

#[test]
fn no_engine_is_one_line_with_what_was_tried_behind_it() {
    let (remote, _) = engines(vec![], vec![tried("DOCKER_HOST", "tcp://nowhere is not used")]);
    let mut window = window_of(remote, Access::default());
    window.sees("No container engine responds on this machine");
    assert!(!window.shows("Local images"));
    window.click(Role::Button, "Engines");
    assert!(window.shows("DOCKER_HOST: tcp://nowhere is not used"));

    let (remote, _) = engines(vec![], vec![tried("/run/podman.sock", "podman (rootful) has 0 images")]);
    let mut window = window_of(remote, Access::default());
    window.sees("No images in the local container engines");
}

#[test]
fn a_long_list_of_images_scrolls_in_its_own_place() {
    let images = (0..40).map(|index| {
        let name = format!("image:{index}");
        local(&format!("docker-daemon:{name}"), &[&name], Some(1 << 20), Some(1_000_000 - index))
    });
    let (remote, _) = engines(images.collect(), vec![]);
    let mut window = window_of(remote, Access::default());
    window.sees("40 images");
    let samples = window.harness.get_by_label("Samples").rect();
    assert!(samples.bottom() < 720.0, "the samples stay in sight: {samples:?}");
    window.harness.get_by_label_contains("image:39, docker").focus();
    window.harness.run_steps(8);
    let row = window.harness.get_by_label_contains("image:39, docker").rect();
    assert!(row.bottom() < samples.top(), "the row that has the focus is scrolled to: {row:?}");
}

#[test]
fn a_local_image_of_the_same_name_is_offered_instead() {
    let image = local("docker-daemon:registry.invalid/team/tool:1", &[ELSEWHERE], Some(1), Some(1));
    let (remote, _) = engines(vec![image], vec![]);
    let mut window = window_of(remote, Access::default());
    window.sees("1 image");
    window.open(ELSEWHERE);
    window.sees("Connect to registry.invalid?");
    window.click(Role::Button, "Open from docker");
    assert!(!window.shows("Connect to registry.invalid?"));
    assert!(window.has_tab("tool:1"));
    assert_eq!(window.harness.state().settings().allowed, Vec::<String>::new());
}
