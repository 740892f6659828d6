use super::histories::{BUILDAH, BUILDKIT, CLASSIC};
use super::{Flavor, Sample};

const DEVEL: &str = "nvidia/cuda:12.9.1-devel-ubuntu22.04";

#[test]
fn buildkit_on_a_cuda_image() {
    let recipe = Sample::new(BUILDKIT)
        .on(Some(DEVEL), Flavor::Devel, 3)
        .config(|config| {
            config
                .env(
                    [
                        "NVARCH=x86_64",
                        "LIBRARY_PATH=/usr/local/cuda/lib64/stubs",
                        "PATH=/opt/bin:/usr/bin",
                        "MODE=a b",
                    ]
                    .map(str::to_owned)
                    .to_vec(),
                )
                .working_dir("/app")
                .exposed_ports(vec!["8000/tcp".to_owned()])
                .entrypoint(vec!["/opt/nvidia/nvidia_entrypoint.sh".to_owned()])
                .cmd(["python3", "-m", "app"].map(str::to_owned).to_vec())
        })
        .rebuilt();
    let run = "RUN apt-get update \\\n    && apt-get install -y --no-install-recommends python3 \\\n    && pip install -r requirements.txt";
    let lines: Vec<(String, Vec<u16>)> = [
        ("FROM nvidia/cuda:12.9.1-devel-ubuntu22.04", vec![]),
        ("ARG DEBIAN_FRONTEND=noninteractive", vec![]),
        ("ENV PATH=/opt/bin:/usr/bin MODE=\"a b\"", vec![]),
        ("WORKDIR /app", vec![3]),
        ("COPY requirements.txt .", vec![4]),
        (run, vec![5]),
        ("RUN <<EOF\nset -e\ncat > /etc/motd <<END\nhello\nEND\nEOF", vec![6]),
        ("COPY --chown=app:app /build/out /app/out", vec![7]),
        ("EXPOSE 8000/tcp", vec![]),
        ("HEALTHCHECK --interval=10s CMD [\"true\"]", vec![]),
        ("CMD [\"python3\", \"-m\", \"app\"]", vec![]),
    ]
    .map(|(text, layers)| (text.to_owned(), layers))
    .to_vec();
    assert_eq!(recipe.lines(), lines);
    assert_eq!(recipe.base_layers, Some(3));
    assert_eq!(recipe.ties[5].history, [12]);
    assert_eq!(recipe.ties[5].content_bytes, Some(60));
    assert_eq!(recipe.unknown.len(), 1, "{}", recipe.notes());
    assert!(recipe.notes().contains("--mount"), "{}", recipe.notes());
    assert!(recipe.file.text().starts_with("# Reconstructed from the image history"));
}

#[test]
fn the_old_builder_with_values_that_need_quotes() {
    let recipe = Sample::new(CLASSIC)
        .on(Some("ubuntu:22.04"), Flavor::None, 1)
        .config(|config| {
            config
                .env(
                    [
                        "GREETING=hello \"you\"",
                        "PRICE=5$",
                        "EMPTY=",
                        "BACK=a\\b",
                        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                    ]
                    .map(str::to_owned)
                    .to_vec(),
                )
                .labels(std::collections::HashMap::from([
                    ("maintainer".to_owned(), "Some Body <some@example.org>".to_owned()),
                    ("stage".to_owned(), "last".to_owned()),
                ]))
                .working_dir("/srv/app")
                .exposed_ports(["80/tcp", "9000/udp"].map(str::to_owned).to_vec())
                .volumes(["/data", "/more"].map(str::to_owned).to_vec())
                .user("app")
                .stop_signal("SIGINT")
                .entrypoint(["/srv/start", "--name", "a \"b\""].map(str::to_owned).to_vec())
                .cmd(["/bin/sh", "-c", "serve $PORT"].map(str::to_owned).to_vec())
        })
        .rebuilt();
    let texts = [
        "FROM ubuntu:22.04",
        "LABEL maintainer=\"Some Body <some@example.org>\" stage=last",
        "ARG VERSION=2",
        "ARG API_TOKEN=\"<redacted>\"",
        "ENV GREETING=\"hello \\\"you\\\"\" PRICE=\"5\\$\" EMPTY=\"\" BACK=\"a\\\\b\"",
        "RUN apt-get update && apt-get install -y curl",
        "SHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]",
        "RUN curl x | tee y",
        "COPY <unknown> /srv",
        "WORKDIR /srv/app",
        "RUN [\"touch\", \"marker\"]",
        "EXPOSE 80 9000/udp",
        "VOLUME [\"/data\", \"/more\"]",
        "USER app",
        "STOPSIGNAL SIGINT",
        "HEALTHCHECK --interval=30s --timeout=5s --retries=3 CMD curl -f http://localhost/ || exit 1",
        "ENTRYPOINT [\"/srv/start\", \"--name\", \"a \\\"b\\\"\"]",
        "CMD [\"/bin/sh\", \"-c\", \"serve $PORT\"]",
    ];
    assert_eq!(recipe.texts(), texts);
    let words: Vec<&str> = recipe.file.instructions[4].words.iter().map(|word| word.text.as_str()).collect();
    assert_eq!(words, ["GREETING=hello \"you\"", "PRICE=5$", "EMPTY=", "BACK=a\\b"]);
    assert!(!recipe.file.text().contains("hunter2"));
    assert!(!recipe.notes().contains("hunter2"));
    assert_eq!(recipe.base_layers, Some(1));
    let copy = &recipe.file.instructions[8];
    assert!(
        recipe.unknown.contains(&(copy.line, "The folder copied to /srv is not recorded.".to_owned())),
        "{}",
        recipe.notes()
    );
    assert!(recipe.file.text().contains("# The folder copied to /srv is not recorded.\nCOPY"));
}

#[test]
fn buildah_keeps_the_text_of_the_dockerfile() {
    let config = |sample: Sample| {
        sample.config(|config| {
            config
                .env(
                    [
                        "NVARCH=x86_64",
                        "NAME=some value",
                        "OTHER=x y",
                        "PATH=/opt/bin:/usr/bin:/bin",
                        "OLD=form here",
                    ]
                    .map(str::to_owned)
                    .to_vec(),
                )
                .labels(std::collections::HashMap::from(
                    [("a", "b c"), ("d", "e"), ("io.buildah.version", "1.28.2")]
                        .map(|(name, value)| (name.to_owned(), value.to_owned())),
                ))
                .working_dir("/srv/app")
                .exposed_ports(["80/tcp", "443/tcp"].map(str::to_owned).to_vec())
                .volumes(vec!["/data".to_owned()])
                .user("nobody")
                .stop_signal("SIGINT")
                .entrypoint(vec!["/bin/sh".to_owned()])
                .cmd(["/bin/sh", "-c", "run it"].map(str::to_owned).to_vec())
        })
    };
    let texts = [
        "FROM localhost/base:latest",
        "ARG VERSION=1.2",
        "ARG TOKEN=\"<redacted>\"",
        "LABEL a=\"b c\" d=e",
        "ENV NAME=\"some value\" OTHER=x\\ y PATH=/opt/bin:$PATH",
        "ENV OLD form here",
        "SHELL [\"/bin/sh\", \"-e\", \"-c\"]",
        "WORKDIR /srv/app",
        "RUN --mount=type=tmpfs,target=/mnt echo one \\\n    && echo \"two   three\" \\\n    && echo $VERSION",
        "RUN [\"/bin/sh\", \"-c\", \"echo exec form\"]",
        "COPY <unknown> /srv/app/",
        "COPY <unknown> ./tool",
        "COPY <unknown> .",
        "EXPOSE 80 443/tcp",
        "VOLUME [\"/data\"]",
        "USER nobody",
        "STOPSIGNAL SIGINT",
        "HEALTHCHECK --interval=5s CMD /bin/sh -c true",
        "ONBUILD RUN echo later",
        "ENTRYPOINT [\"/bin/sh\"]",
        "CMD run it",
    ];
    let recipe = config(Sample::new(BUILDAH)).rebuilt();
    assert_eq!(recipe.texts(), texts);
    assert_eq!(recipe.base_layers, Some(1));
    // Without --layers only the last entry has a layer and a comment.
    let squashed: Vec<_> = BUILDAH
        .iter()
        .enumerate()
        .map(|(place, (text, _, _))| match place {
            2 => (*text, true, ""),
            22 => (*text, true, "FROM localhost/base:latest"),
            _ => (*text, false, ""),
        })
        .collect();
    let recipe = config(Sample::new(&squashed)).rebuilt();
    assert_eq!(recipe.texts(), texts);
    assert_eq!(recipe.lines().last().unwrap().1, [1]);
}

#[test]
fn kaniko_writes_the_line_of_the_dockerfile() {
    let recipe = Sample::new(&[
        ("ENV A=\"x y\"", false, ""),
        ("ENV B=$A", false, ""),
        ("RUN --mount=type=cache,target=/x make && make install", true, ""),
        ("RUN [\"touch\", \"a b\"]", true, ""),
        ("COPY --from=builder a /b", true, ""),
        ("CMD serve", false, ""),
    ])
    .by("kaniko")
    .config(|config| {
        config
            .env(vec!["A=x y".to_owned(), "B=x y".to_owned()])
            .cmd(["/bin/sh", "-c", "serve"].map(str::to_owned).to_vec())
    })
    .rebuilt();
    assert_eq!(
        recipe.texts(),
        [
            "FROM unknown-base",
            "ENV A=\"x y\"",
            "ENV B=$A",
            "RUN --mount=type=cache,target=/x make && make install",
            "RUN [\"touch\", \"a b\"]",
            "COPY --from=builder a /b",
            "CMD serve",
        ]
    );
    assert!(recipe.notes().contains("base image is unknown"), "{}", recipe.notes());
}

#[test]
fn without_history_the_configuration_stands() {
    let recipe = Sample::new(&[])
        .on(Some("ubuntu:22.04"), Flavor::None, 1)
        .layers(2)
        .config(|config| {
            config
                .env(vec!["MODE=a b".to_owned(), "API_KEY=x".to_owned()])
                .user("app")
                .working_dir("/srv")
                .entrypoint(vec!["/srv/start".to_owned()])
        })
        .rebuilt();
    assert_eq!(
        recipe.texts(),
        [
            "FROM ubuntu:22.04",
            "ENV API_KEY=\"<redacted>\"",
            "ENV MODE=\"a b\"",
            "WORKDIR /srv",
            "USER app",
            "ENTRYPOINT [\"/srv/start\"]"
        ]
    );
    assert!(recipe.notes().contains("no history"), "{}", recipe.notes());
}
