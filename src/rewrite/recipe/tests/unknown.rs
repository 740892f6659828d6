use super::{Flavor, Sample};

#[test]
fn what_cannot_be_known_is_said() {
    let recipe = Sample::new(&[
        ("bazel build //image", true, ""),
        ("", true, ""),
        ("RUN /bin/sh -c <<EOF (set -e...) # buildkit", true, ""),
        ("COPY <<EOF /etc/x # buildkit", true, ""),
        ("RUN /bin/sh -c \u{1b}[31mecho # buildkit", true, ""),
        ("ENV A=1", false, "buildkit.dockerfile.v0"),
    ])
    .layers(1)
    .rebuilt();
    assert_eq!(
        recipe.texts()[..4],
        ["FROM unknown-base", "RUN <unknown>", "COPY <unknown> /etc/x", "RUN \\x1b[31mecho"]
    );
    let notes = recipe.notes();
    for wanted in [
        "bazel build",
        "is empty",
        "The command is not recorded",
        "content of this file",
        "has 5 layers, the image 1",
    ] {
        assert!(notes.contains(wanted), "{wanted}: {notes}");
    }
    assert!(recipe.ties.iter().all(|tie| tie.layers.is_empty()));
}

#[test]
fn where_the_base_ends_is_told_by_its_own_last_step() {
    let history = [
        ("/bin/sh -c #(nop) ADD file:1 in / ", true, ""),
        ("CMD [\"bash\"]", false, "buildkit.dockerfile.v0"),
        ("ENV PYTHON_VERSION=3.11.9", false, "buildkit.dockerfile.v0"),
        ("RUN /bin/sh -c make python # buildkit", true, "buildkit.dockerfile.v0"),
        ("CMD [\"python3\"]", false, "buildkit.dockerfile.v0"),
        ("ENV A=1", false, "buildkit.dockerfile.v0"),
        ("RUN /bin/sh -c pip install flask # buildkit", true, "buildkit.dockerfile.v0"),
    ];
    let recipe = Sample::new(&history)
        .on(Some("python:3.11.9"), Flavor::None, 0)
        .config(|config| {
            config
                .env(vec!["A=1".to_owned(), "PYTHON_VERSION=3.11.9".to_owned()])
                .cmd(vec!["python3".to_owned()])
        })
        .rebuilt();
    assert_eq!(recipe.texts(), ["FROM python:3.11.9", "ENV A=1", "RUN pip install flask"]);
    assert_eq!(recipe.base_layers, Some(2));
    // For other images the end is unknown: the image below is used.
    let recipe =
        Sample::new(&history).on(Some("pytorch/pytorch:2"), Flavor::None, 0).below("debian:12", 1).rebuilt();
    assert_eq!(recipe.texts()[..3], ["FROM debian:12", "ENV PYTHON_VERSION=3.11.9", "RUN make python"]);
    assert!(recipe.notes().contains("seems to be built on pytorch/pytorch:2"), "{}", recipe.notes());
}

#[test]
fn what_the_instructions_set_is_not_said_twice() {
    let recipe = Sample::new(&[
        ("/bin/sh -c #(nop) ADD file:1 in / ", true, ""),
        ("/bin/sh -c #(nop) ARG VERSION=3", false, "FROM docker.io/library/ubuntu:22.04"),
        ("/bin/sh -c #(nop) ENV PATH /opt/bin:${PATH}", false, "FROM 0b77f650bdc3"),
        ("/bin/sh -c #(nop) ENV V=$VERSION W=${NONE:-w}", false, "FROM 0b77f650bdc3"),
        ("/bin/sh -c #(nop) WORKDIR sub", true, "FROM 0b77f650bdc3"),
    ])
    .on(Some("ubuntu:22.04"), Flavor::None, 1)
    .config(|config| {
        let path = "PATH=/opt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        config.env([path, "V=3", "W=w", "LATE=1"].map(str::to_owned).to_vec()).working_dir("/sub/")
    })
    .rebuilt();
    assert_eq!(
        recipe.texts(),
        [
            "FROM ubuntu:22.04",
            "ARG VERSION=3",
            "ENV PATH /opt/bin:${PATH}",
            "ENV V=$VERSION W=${NONE:-w}",
            "WORKDIR sub",
            "ENV LATE=1"
        ]
    );
}

#[test]
fn long_histories_cost_little() {
    let text = "RUN |1 A=b /bin/sh -c echo one && echo two # buildkit";
    let many: Vec<_> = (0..20_000).map(|_| (text, true, "")).collect();
    let recipe = Sample::new(&many).rebuilt();
    assert!(recipe.file.text().len() > 20_000);
    let open = format!("/bin/sh -c #(nop) ENV A={}", "${A".repeat(100_000));
    assert_eq!(Sample::new(&[(&open, false, "")]).rebuilt().ties.len(), 2);
    let doubled: Vec<_> =
        (0..1000).map(|_| ("/bin/sh -c #(nop) ENV A=x$A$A$A$A$A$A$A$A$A$A", false, "")).collect();
    assert_eq!(Sample::new(&doubled).rebuilt().ties.len(), 1001);
}

/// Deterministic pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

#[test]
fn whatever_the_history_says_the_file_parses() {
    let parts = [
        "RUN ",
        "|1 A=b ",
        "|2 A= ",
        "/bin/sh -c ",
        "/bin/sh -c #(nop) ",
        " ",
        "ENV ",
        "A=b c",
        "=",
        "COPY ",
        "file:0 in /x ",
        " in ",
        "\\",
        "\n",
        "\"",
        "'",
        "<<EOF",
        "EOF",
        "[",
        "]",
        "[\"a\" \"b\"]",
        "--mount=x ",
        "$",
        "${A",
        "CMD ",
        "FROM a",
        "ONBUILD ",
        "LABEL ",
        "HEALTHCHECK ",
        "{",
        "&{[\"CMD\"",
        "# buildkit",
        "#",
        "\u{1b}",
        "\u{202e}",
        "\t",
        "\r",
        "é",
        "ARG ",
        "SHELL ",
        "WORKDIR ",
        "&&",
        " && echo long enough to be broken into lines, if that were understood && ",
        "`",
        "map[80/tcp:{}]",
        "<unknown>",
        "\n\n",
        "ENTRYPOINT ",
        "USER ",
        "EXPOSE ",
        "VOLUME ",
        "STOPSIGNAL ",
        "ADD ",
        "MAINTAINER ",
        "-c ",
        "/bin/bash ",
    ];
    let comments = ["", "buildkit.dockerfile.v0", "FROM a b", "FROM 0b77f650bdc3", "FROM x:1"];
    let mut dice = Dice(7);
    for _ in 0..3000 {
        let texts: Vec<String> = (0..=dice.below(4))
            .map(|_| (0..=dice.below(9)).map(|_| parts[dice.below(parts.len())]).collect())
            .collect();
        let entries: Vec<_> = texts
            .iter()
            .map(|text| (text.as_str(), dice.below(2) == 0, comments[dice.below(comments.len())]))
            .collect();
        let mut sample = Sample::new(&entries);
        if dice.below(2) == 0 {
            sample = sample.on(Some("ubuntu:22.04"), Flavor::None, dice.below(3));
        }
        let recipe = sample.rebuilt();
        let text = recipe.file.text();
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\r']), "{text:?}");
        assert_eq!(recipe.file.stages().len(), 1, "{texts:?}: {text}");
        match sample.given(text) {
            Ok(given) => assert_eq!(given.ties.len(), recipe.ties.len()),
            Err(error) => assert!(error.to_string().contains("does not belong"), "{error}"),
        }
    }
}

#[test]
fn an_image_in_between_that_has_a_tag_is_not_the_base() {
    let entries = [
        ("/bin/sh", true, ""),
        ("/bin/sh -c #(nop) ENV PYTHON_VERSION 3.11.7", false, "FROM localhost/debian:bookworm"),
        ("/bin/sh -c #(nop) CMD [\"python3\"]", false, "FROM 60b84e6faf74"),
        ("/bin/sh -c pip install uv", true, "FROM localhost/python:3.11-slim"),
        ("/bin/sh -c #(nop) COPY dir:5a41 in .", true, "FROM localhost/b:deps"),
        ("/bin/sh -c uv sync --frozen", true, "FROM 63ec718c0cd1"),
    ];
    let sample = Sample::new(&entries).on(Some("python:3.11.7"), Flavor::None, 0);
    let texts = sample.rebuilt().texts();
    assert_eq!(texts[..2], ["FROM python:3.11.7", "RUN pip install uv"], "{texts:?}");
    assert!(texts.contains(&"RUN uv sync --frozen".to_owned()), "{texts:?}");

    // Where nothing else tells the end of the image that the content names, what buildah records is the base.
    let sample = Sample::new(&entries).on(Some("node:20"), Flavor::None, 0);
    assert_eq!(sample.rebuilt().texts()[0], "FROM localhost/b:deps");
}

#[test]
fn the_last_settings_of_a_known_base_are_not_repeated() {
    let recipe = Sample::new(&[
        ("# debian.sh", true, ""),
        ("RUN /bin/sh -c install node # buildkit", true, ""),
        ("ENTRYPOINT [\"docker-entrypoint.sh\"]", false, ""),
        ("CMD [\"node\"]", false, ""),
        ("RUN /bin/sh -c npm ci # buildkit", true, ""),
    ])
    .on(Some("node:22.1.0"), Flavor::None, 2)
    .config(|config| config.entrypoint(vec!["docker-entrypoint.sh".to_owned()]).cmd(vec!["node".to_owned()]))
    .rebuilt();
    assert_eq!(recipe.texts(), ["FROM node:22.1.0", "RUN npm ci"]);
}
