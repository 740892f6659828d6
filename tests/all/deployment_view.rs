//! The deployment view: a platform, its machines, and the lines that are copied and saved.

use std::fs;

use cutaway::deploy::snippets::SnippetFormat;
use cutaway::gui::views::{Action, Command, View};
use egui::accesskit::Role;
use egui_kittest::Harness;

use crate::findings_view::scene::analysis;
use crate::support::Place;
use crate::view_stage::{Stage, actions, click, settle, shows, until};

fn begin() -> Harness<'static, Stage> {
    let mut harness = Stage::new(analysis(), View::Deployment).show([1300.0, 900.0]);
    ready(&mut harness);
    harness
}

fn ready(harness: &mut Harness<'_, Stage>) {
    until(harness, "deployment", |stage| !stage.views.is_busy(View::Deployment));
    settle(harness);
}

#[test]
fn a_platform_brings_its_machines_and_lines() {
    let mut harness = begin();
    assert_eq!(harness.state().views.deployment.profile(), "kubernetes");
    assert!(shows(&harness, "NVIDIA-L4"), "the machines of the platform");
    click(&mut harness, Role::RadioButton, "Azure Machine Learning");
    ready(&mut harness);
    let view = &harness.state().views.deployment;
    assert_eq!((view.profile(), view.format()), ("azureml", SnippetFormat::AzureMl));
    assert!(shows(&harness, "Standard_NC4as_T4_v3"));
    click(&mut harness, Role::RadioButton, "Compose file");
    ready(&mut harness);
    click(&mut harness, Role::Button, "Copy");
    let copied = actions(&mut harness).into_iter().find_map(|action| match action {
        Action::CopyText(text) => Some(text),
        _ => None,
    });
    assert!(copied.is_some_and(|text| text.contains("services:\n")), "the lines are copied");
}

#[test]
fn lines_are_saved_and_nothing_is_replaced_unasked() {
    let place = Place::new();
    let mut harness = begin();
    let path = place.path("pod.yml");
    for (times, wanted) in [(1, "Lines saved to "), (2, "File already exists")] {
        click(&mut harness, Role::Button, "Save…");
        settle(&mut harness);
        harness.state_mut().views.deployment.type_path(&path);
        settle(&mut harness);
        click(&mut harness, Role::Button, "Save");
        ready(&mut harness);
        assert!(shows(&harness, wanted), "{times}");
    }
    assert!(fs::read_to_string(&path).unwrap().contains("kind: Pod"));
}

#[test]
fn a_platforms_file_is_checked_against_the_image() {
    let place = Place::new();
    let pod = |images: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nspec:\n  nodeSelector:\n    kubernetes.io/arch: riscv64\n  containers: [{images}]\n"
        )
    };
    let one = place.put("pod.yaml", &pod("{name: a, image: 'app:1'}"));
    let mut harness = begin();
    click(&mut harness, Role::RadioButton, "Azure Machine Learning");
    ready(&mut harness);
    click(&mut harness, Role::Button, "Open file…");
    assert!(actions(&mut harness).contains(&Action::Run(Command::OpenPlatformFile)));
    harness.state_mut().views.deployment.ask_for_file();
    settle(&mut harness);
    harness.state_mut().views.deployment.type_path(&one);
    settle(&mut harness);
    click(&mut harness, Role::Button, "Open");
    ready(&mut harness);
    assert_eq!(harness.state().views.deployment.profile(), "kubernetes", "the platform of the file");
    assert!(shows(&harness, "Line 5, spec.nodeSelector.kubernetes.io/arch: high"));
    assert!(shows(&harness, "NVIDIA-L4"), "the machines stay");

    let two = place.put("two.yaml", &pod("{name: a, image: 'app:1'}, {name: b, image: 'proxy:2'}"));
    harness.state_mut().views.deployment.open(two.into());
    ready(&mut harness);
    assert!(shows(&harness, "None of its images is the one in front: they are judged by name."));

    let broken = place.put("cerebrium.toml", "[cerebrium.deployment]\nname = \n");
    harness.state_mut().views.deployment.open(broken.into());
    ready(&mut harness);
    assert!(shows(&harness, "Cannot read cerebrium.toml"));
    assert!(shows(&harness, "NVIDIA-L4"), "the image is judged all the same");
    click(&mut harness, Role::Button, "Close");
    ready(&mut harness);
    assert!(!shows(&harness, "Cannot read cerebrium.toml"));
}
