//! How the text of the user is kept, and what of it is repeated.

use cutaway::formats::dockerfile::parse;
use cutaway::rewrite::Applicability;
use serde_json::json;

use super::parts::{BASE, DEVEL, built, devel, program, tools};
use super::scene::{Scene, has_lines, has_none, last_stage, one};

fn base() -> Scene {
    built(devel().apt("cmake git", tools()), &["libcurand.so.10"])
}

fn service() -> Scene {
    base().cmd(&["/usr/local/bin/serve"])
}

fn count(text: &str, word: &str) -> usize {
    text.matches(word).count()
}

#[test]
fn variables_of_from_are_kept() {
    let scene = service();
    for (before, from, after) in [
        (
            "ARG CUDA=12.4.1\nARG OS=ubuntu22.04\n",
            "nvidia/cuda:${CUDA}-devel-${OS}",
            "FROM nvidia/cuda:${CUDA}-base-${OS}",
        ),
        (
            "ARG REGISTRY=registry.example\nARG CUDA_VERSION=12.4.1\n",
            "$REGISTRY/nvidia/cuda:$CUDA_VERSION-devel-ubuntu22.04",
            "FROM $REGISTRY/nvidia/cuda:$CUDA_VERSION-base-ubuntu22.04",
        ),
        (
            "ARG CUDA=12.4.1\n",
            "nvidia/cuda:\"${CUDA}-devel-ubuntu22.04\"",
            "FROM nvidia/cuda:${CUDA}-base-ubuntu22.04",
        ),
        // The flavour itself is in a variable: nothing of that can be said again.
        ("ARG TAG=12.4.1-devel-ubuntu22.04\n", "nvidia/cuda:$TAG", &format!("FROM {BASE}")),
        ("ARG IMAGE=nvidia/cuda:12.4.1-devel-ubuntu22.04\n", "${IMAGE}", &format!("FROM {BASE}")),
    ] {
        let text = format!("{before}{}", scene.clone().from(from).dockerfile());
        let best = &scene.propose_of(&text).list[0];
        assert!(
            best.dockerfile.starts_with(&format!("{before}FROM {from} AS build\n")),
            "{}",
            best.dockerfile
        );
        has_lines(best, &[after]);
    }
}

#[test]
fn an_argument_without_a_default_is_no_name_of_a_base() {
    let scene = service();
    let text = format!("ARG IMAGE\n{}", scene.clone().from("${IMAGE}").dockerfile());
    for proposal in &scene.propose_of(&text).list {
        let stage = last_stage(&proposal.dockerfile);
        assert!(!stage.contains("::") && !stage.contains("FROM :"), "{stage}");
    }
}

#[test]
fn a_version_is_written_as_it_is_and_gets_no_argument() {
    let best = &service().propose().list[0];
    assert_eq!(count(&best.dockerfile, "12.4.1"), 2, "{}", best.dockerfile);
    assert_eq!(count(&best.dockerfile, "ARG "), 0, "{}", best.dockerfile);
    // An argument of this name that the user has for something else changes nothing.
    let scene = built(devel().arg("CUDA_VERSION", "none").apt("cmake git", tools()), &["libcurand.so.10"]);
    let best = &scene.cmd(&["/usr/local/bin/serve"]).propose().list[0];
    assert!(best.dockerfile.starts_with(&format!("FROM {DEVEL} AS build\n")), "{}", best.dockerfile);
    has_lines(best, &[&format!("FROM {BASE}")]);
}

#[test]
fn a_file_in_lower_case_stays_in_lower_case() {
    let scene = base().env("MODE", "fast").cmd(&["/usr/local/bin/serve"]);
    let keywords = ["FROM", "RUN", "COPY", "WORKDIR", "ENV", "CMD"];
    let lines = scene
        .dockerfile()
        .lines()
        .map(|line| {
            let (word, rest) = line.split_once(' ').unwrap();
            let word = if keywords.contains(&word) { word.to_lowercase() } else { word.to_owned() };
            format!("{word} {rest}\n")
        })
        .collect::<Vec<String>>()
        .concat();
    let best = &scene.propose_of(&lines).list[0];
    for line in best.dockerfile.lines() {
        assert!(
            !keywords.iter().chain(&["ARG"]).any(|word| line.starts_with(&format!("{word} "))),
            "{}",
            best.dockerfile
        );
    }
    assert!(best.dockerfile.contains(" as build\n"), "{}", best.dockerfile);
}

#[test]
fn carriage_returns_and_a_missing_last_line_end_are_kept() {
    let scene = base().env("MODE", "fast").cmd(&["/usr/local/bin/serve"]);
    let text = scene.dockerfile().replace('\n', "\r\n");
    let best = &scene.propose_of(&text).list[0];
    assert_eq!(count(&best.dockerfile, "\n"), count(&best.dockerfile, "\r\n"), "{:?}", best.dockerfile);
    assert_eq!(best.dockerfile.replace("\r\n", "\n"), scene.propose().list[0].dockerfile);
    let text = scene.dockerfile();
    let text = text.trim_end();
    let best = &scene.propose_of(text).list[0];
    assert_eq!(best.dockerfile, scene.propose().list[0].dockerfile.trim_end());
    // What ends the file is a line of the build stage: the new stage begins on a line of its own.
    let scene = base();
    let text = scene.dockerfile();
    let best = &scene.propose_of(text.trim_end()).list[0];
    assert!(best.dockerfile.contains("\nFROM nvidia/cuda:12.4.1-base"), "{}", best.dockerfile);
}

#[test]
fn another_escape_character_is_used_in_new_lines() {
    let scene = service().propose_of(&format!("# escape=`\n{}", service().dockerfile()));
    let best = &scene.list[0];
    assert!(best.dockerfile.starts_with("# escape=`\n"), "{}", best.dockerfile);
    assert!(!best.dockerfile.contains("\\\n"), "{}", best.dockerfile);
    has_lines(best, &["RUN apt-get update && apt-get install -y --no-install-recommends libcurand-12-4 `"]);
}

#[test]
fn comments_above_the_last_lines_go_with_them() {
    let scene = service();
    let text = scene.dockerfile().replace("CMD ", "# How it is started.\nCMD ");
    let best = &scene.propose_of(&text).list[0];
    assert!(
        last_stage(&best.dockerfile).ends_with("# How it is started.\nCMD [\"/usr/local/bin/serve\"]\n"),
        "{}",
        best.dockerfile
    );
}

#[test]
fn a_stage_named_build_is_not_taken_twice() {
    let scene = service();
    let text = scene.dockerfile();
    let other = format!("FROM alpine:3 AS build\nRUN make\nFROM alpine:3 AS builder\nRUN make\n{text}");
    for proposal in scene.propose_of(&other).list.iter().filter(|one| one.id != "tidy") {
        assert!(proposal.dockerfile.contains("ubuntu22.04 AS build-stage\n"), "{}", proposal.dockerfile);
        has_none(proposal, &["--from=build ", "--from=builder "]);
    }
}

#[test]
fn the_name_of_the_final_stage_stays_of_use() {
    let scene = service().from(&format!("{DEVEL} AS app"));
    let best = &scene.propose().list[0];
    let stages = parse(best.dockerfile.as_bytes()).unwrap().stages();
    let named: Vec<Option<&str>> = stages.iter().map(|stage| stage.name.as_deref()).collect();
    assert_eq!(named.iter().filter(|name| **name == Some("app")).count(), 1, "{}", best.dockerfile);
    // `docker build --target app` gave the image: it should not give the build stage afterwards, unless that is said.
    let said = best
        .closure
        .unproven
        .iter()
        .chain(&best.kept)
        .any(|line| line.contains("app") && line.contains("target"));
    assert!(named.last() == Some(&Some("app")) || said, "{}\n{:#?}", best.dockerfile, best.closure);
}

#[test]
fn a_final_stage_on_an_earlier_one_is_followed() {
    let scene = service();
    let text = scene.dockerfile();
    let text = text.replacen(&format!("FROM {DEVEL}\n"), &format!("FROM {DEVEL} AS tools\n"), 1);
    let text = text.replacen("WORKDIR /src\n", "FROM tools\nWORKDIR /src\n", 1);
    let best = one(&scene.propose_of(&text), "stages").clone();
    assert!(best.closure.resolved, "{:#?}", best.closure);
    assert_eq!(best.base_image.as_deref(), Some(BASE));
    assert!(best.dockerfile.contains("FROM tools AS build\n"), "{}", best.dockerfile);
    has_none(&best, &["cmake"]);
}

#[test]
fn an_image_that_has_stages_already_is_left_alone() {
    let mut scene = devel().from(DEVEL);
    // The base flavour, and one program on it.
    scene.image.layers.truncate(5);
    scene.layers.truncate(5);
    let last =
        scene.image.history.iter().position(|(text, _)| text.contains("NVIDIA_DRIVER_CAPABILITIES")).unwrap();
    scene.image.history.truncate(last + 1);
    let environment = [
        "NV_CUDA_CUDART_VERSION=0-1",
        "NVARCH=x86_64",
        "CUDA_VERSION=12.4.1",
        "NVIDIA_VISIBLE_DEVICES=all",
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        "PATH=/usr/bin:/bin",
    ];
    scene.image.config = json!({"Env": environment});
    let scene =
        scene.copy("--from=build /app /app", vec![program("app", &["libcudart.so.12"])]).cmd(&["/app"]);
    let text = format!("FROM {DEVEL} AS build\nRUN make\nFROM {BASE}\n{}", scene.body);
    let proposals = scene.propose_of(&text);
    assert!(proposals.list.iter().all(|one| one.id == "tidy"), "{:#?}", proposals.list);
    assert_eq!(proposals.list.is_empty(), proposals.reason.is_some());
    let safe = proposals.list.iter().all(|one| one.applicability != Applicability::Manual);
    assert!(safe, "{:#?}", proposals.list);
}
