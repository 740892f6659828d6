use super::*;

#[test]
fn a_version_of_several_stages_stands_in_one_place() {
    let tidied = becomes(
        "# Two stages.\nFROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\nRUN b\nFROM docker.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04\nCMD c\n",
        &[],
        "# Two stages.\nARG CUDA_VERSION=12.4.1\nFROM nvidia/cuda:${CUDA_VERSION}-devel-ubuntu22.04 AS build\nRUN b\nFROM docker.io/nvidia/cuda:${CUDA_VERSION}-runtime-ubuntu22.04\nCMD c\n",
    );
    assert_eq!(told(&tidied.reasons), [(None, Applicability::Review); 3]);
    becomes(
        "arg CUDA_VERSION=13.0.2\nfrom nvidia/cuda:13.0.2-cudnn-devel-ubuntu24.04 as b\nfrom nvidia/cuda:13.0.2-base-ubuntu24.04\n",
        &[],
        "arg CUDA_VERSION=13.0.2\nfrom nvidia/cuda:${CUDA_VERSION}-cudnn-devel-ubuntu24.04 as b\nfrom nvidia/cuda:${CUDA_VERSION}-base-ubuntu24.04\n",
    );
    becomes(
        "from nvidia/cuda:13.0.2-devel-ubuntu24.04 as b\nfrom nvidia/cuda:13.0.2-base-ubuntu24.04\n",
        &[],
        "arg CUDA_VERSION=13.0.2\nfrom nvidia/cuda:${CUDA_VERSION}-devel-ubuntu24.04 as b\nfrom nvidia/cuda:${CUDA_VERSION}-base-ubuntu24.04\n",
    );
}

#[test]
fn versions_stay_where_they_are_not_the_same_or_pinned() {
    for (one, other) in [
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", "nvidia/cuda:12.6.3-base-ubuntu22.04"),
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", "ubuntu:22.04"),
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", "other/cuda:12.4.1-base-ubuntu22.04"),
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", "mynvidia/cuda:12.4.1-base-ubuntu22.04"),
        (
            "nvidia/cuda:12.4.1-devel-ubuntu22.04@sha256:1111111111111111111111111111111111111111111111111111111111111111",
            "nvidia/cuda:12.4.1-base-ubuntu22.04",
        ),
        ("nvidia/cuda:${V}-devel-ubuntu22.04", "nvidia/cuda:${V}-base-ubuntu22.04"),
        ("nvidia/cuda:latest", "nvidia/cuda:latest"),
    ] {
        stays(&format!("FROM {one} AS b\nFROM {other}\n"), &[]);
    }
    let two =
        "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS b\nARG X\nFROM nvidia/cuda:12.4.1-base-ubuntu22.04\n";
    stays(&format!("ARG CUDA_VERSION=12.6.3\n{two}"), &[]);
    stays(&format!("ARG CUDA_VERSION\n{two}"), &[]);
    stays(&format!("{two}ARG CUDA_VERSION\n"), &[]);
}

#[test]
fn the_planner_of_stages_asks_for_one() {
    let file = parse(b"FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN a\n").unwrap();
    assert!(version_argument(&file, 2).is_none());
    let argument = version_argument(&file, 1).unwrap();
    assert_eq!((argument.version.as_str(), argument.edits.len()), ("12.4.1", 2));
    let within = |reference: &str| argument.in_reference(reference);
    assert_eq!(
        within("nvcr.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04"),
        "nvcr.io/nvidia/cuda:${CUDA_VERSION}-runtime-ubuntu22.04"
    );
    assert_eq!(within("nvidia/cuda:12.4.0-runtime-ubuntu22.04"), "nvidia/cuda:12.4.0-runtime-ubuntu22.04");
    assert_eq!(within("ubuntu:22.04"), "ubuntu:22.04");
}
