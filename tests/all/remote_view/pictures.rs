//! How dialogs and lists about registries and engines look.

use cutaway::gui::Setup;
use cutaway::gui::models::remote::RemoteSetup;
use cutaway::gui::testing;
use egui::Theme;
use egui::accesskit::Role;

use super::{NOBODY, engines, local, refused, tried, type_into};
use crate::journeys::Window;
use crate::pictures::{can_paint, take};

fn window(theme: Theme, remote: RemoteSetup) -> Window {
    Window::painted(theme, [900.0, 640.0], Setup { remote, ..testing::setup() })
}

#[test]
fn images_of_engines() {
    if !can_paint() {
        return;
    }
    let day = |day: i64| Some(1_767_225_600 + day * 86_400);
    let server = "ghcr.io/team/inference-server:cuda-13.0-devel";
    let long = "registry.example/teams/vision/serving/model-server-with-everything:2026-01-nightly";
    let images = vec![
        local("docker-daemon:s", &[server, "ghcr.io/team/inference-server:latest"], Some(14 << 30), day(9)),
        local("podman:m", &[long], Some(3 << 30), day(8)),
        local("docker-daemon:4f53", &[], Some(812 << 20), day(4)),
        local("docker-daemon:d", &["debian:12"], Some(117 << 20), day(0)),
        local("docker-daemon:h", &["hello-world:latest"], Some(13_256), None),
    ];
    let (remote, _) = engines(images, vec![tried("/run/docker.sock", "docker has 5 images")]);
    let mut window = window(Theme::Light, remote);
    window.harness.state_mut().remember("ghcr.io/team/tool:1");
    take(&mut window, "start_engines_light");
}

#[test]
fn a_login() {
    if !can_paint() {
        return;
    }
    let mut window = window(Theme::Dark, testing::no_remote());
    window.harness.state_mut().open_failed(NOBODY, refused());
    window.harness.run_steps(2);
    window.click(Role::Button, "Log in…");
    window.harness.run_steps(4);
    type_into(&mut window, Role::TextInput, "User name", "me");
    take(&mut window, "login_dark");
}
