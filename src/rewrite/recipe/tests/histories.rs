//! Histories as builders wrote them.

use super::Entry;

/// Made by buildah 1.28.2 with `--layers`; the Dockerfile is [`BUILDAH_FILE`].
pub(super) const BUILDAH: &[Entry<'static>] = &[
    (
        "/bin/sh -c #(nop) ADD file:17c0e9fbc364911f4459bebd01f4ab2f9740f70b4c87119295f54f94f2c1f204 in /bin/sh ",
        true,
        "",
    ),
    ("/bin/sh -c #(nop) ENV PATH=/usr/bin:/bin NVARCH=x86_64", false, "FROM 6e867b45c208"),
    ("/bin/sh -c #(nop) CMD [\"/bin/bash\"]", false, "FROM a0bc35f440c7"),
    ("/bin/sh -c #(nop) ARG VERSION", false, "FROM localhost/base:latest"),
    ("/bin/sh -c #(nop) ARG TOKEN VERSION", false, "FROM 5a3d0583b6b5"),
    ("/bin/sh -c #(nop) LABEL a=\"b c\" d=e", false, "FROM 854f0f55f5d3"),
    ("/bin/sh -c #(nop) ENV NAME=\"some value\" OTHER=x\\ y PATH=/opt/bin:$PATH", false, "FROM ed55aa89bc13"),
    ("/bin/sh -c #(nop) ENV OLD form here", false, "FROM 00d38b7f9578"),
    ("/bin/sh -c #(nop) SHELL [\"/bin/sh\", \"-e\", \"-c\"]", false, "FROM 9d1420101aeb"),
    ("/bin/sh -c #(nop) WORKDIR /srv/app", false, "FROM b7b5b248b3d2"),
    (
        "|2 TOKEN=abc VERSION=1.2 /bin/sh -c --mount=type=tmpfs,target=/mnt echo one &&     echo \"two   three\" &&     echo $VERSION",
        true,
        "FROM 951c8dd738b3",
    ),
    (
        "|2 TOKEN=abc VERSION=1.2 /bin/sh -c [\"/bin/sh\", \"-c\", \"echo exec form\"]",
        true,
        "FROM f900bc9274c3",
    ),
    (
        "/bin/sh -c #(nop) COPY multi:2cd2c19ebfa56335e4c2030e2ec773cee708fce4f5dd02530cbadbadc9f489ae in /srv/app/ ",
        true,
        "FROM 939795c5ec51",
    ),
    (
        "/bin/sh -c #(nop) COPY file:405e96dc6a12275ed17714d0aa0a305452d730e09be5c43342af842ad6aac2e1 in ./tool ",
        true,
        "FROM fd6b5ca9bf07",
    ),
    (
        "/bin/sh -c #(nop) COPY dir:b6db2b868f7770f1e6444d8f3697f913c9e824d5705e9aae133f4d527df8ee9f in . ",
        true,
        "FROM ab44e82acafd",
    ),
    ("/bin/sh -c #(nop) EXPOSE 80 443/tcp", false, "FROM 5432ae0d1d2d"),
    ("/bin/sh -c #(nop) VOLUME [\"/data\"]", false, "FROM 3d18f1cfe616"),
    ("/bin/sh -c #(nop) USER nobody", false, "FROM 136bb7e81e7b"),
    ("/bin/sh -c #(nop) STOPSIGNAL SIGINT", false, "FROM a636cb613c9c"),
    ("/bin/sh -c #(nop) HEALTHCHECK --interval=5s CMD /bin/sh -c true", false, "FROM 75e85aca90cb"),
    ("/bin/sh -c #(nop) ONBUILD RUN echo later", false, "FROM ffa6498bfda0"),
    ("/bin/sh -c #(nop) ENTRYPOINT [\"/bin/sh\"]", false, "FROM db0d78e4bf08"),
    ("/bin/sh -c #(nop) CMD run it", false, "FROM ab03038a2ad9"),
];

/// What [`BUILDAH`] was made from.
pub(super) const BUILDAH_FILE: &str = r#"# syntax=docker/dockerfile:1
ARG TAG=latest
FROM localhost/base:${TAG} AS build
RUN echo builder
FROM localhost/base:${TAG}
ARG VERSION=1.2
ARG TOKEN
LABEL a="b c" d=e
ENV NAME="some value" OTHER=x\ y PATH=/opt/bin:$PATH
ENV OLD form here
SHELL ["/bin/sh", "-e", "-c"]
WORKDIR /srv/app
RUN --mount=type=tmpfs,target=/mnt echo one && \
    # a comment
    echo "two   three" && \
    echo $VERSION
RUN ["/bin/sh", "-c", "echo exec form"]
COPY a b /srv/app/
COPY --from=build /bin/sh ./tool
COPY . .
EXPOSE 80 443/tcp
VOLUME ["/data"]
USER nobody
STOPSIGNAL SIGINT
HEALTHCHECK --interval=5s CMD /bin/sh -c true
ONBUILD RUN echo later
ENTRYPOINT ["/bin/sh"]
CMD run it
"#;

/// As docker's old builder wrote them.
pub(super) const CLASSIC: &[Entry<'static>] = &[
    ("/bin/sh -c #(nop) ADD file:6089c6bede9eca8e in / ", true, ""),
    ("/bin/sh -c #(nop)  CMD [\"/bin/bash\"]", false, ""),
    ("/bin/sh -c #(nop)  LABEL maintainer=Some Body <some@example.org> stage=last", false, ""),
    ("/bin/sh -c #(nop)  ARG VERSION=1", false, ""),
    ("/bin/sh -c #(nop)  ARG API_TOKEN", false, ""),
    ("/bin/sh -c #(nop)  ENV GREETING=hello \"you\" PRICE=5$ EMPTY= BACK=a\\b", false, ""),
    ("|2 API_TOKEN=hunter2 VERSION=2 /bin/sh -c apt-get update && apt-get install -y curl", true, ""),
    ("/bin/sh -c #(nop)  SHELL [/bin/bash -o pipefail -c]", false, ""),
    ("|2 API_TOKEN=hunter2 VERSION=2 /bin/bash -o pipefail -c curl x | tee y", true, ""),
    ("/bin/sh -c #(nop) COPY dir:0a1b in /srv ", true, ""),
    ("/bin/sh -c #(nop) WORKDIR /srv/app", true, ""),
    ("|2 API_TOKEN=hunter2 VERSION=2 touch marker", true, ""),
    ("/bin/sh -c #(nop)  EXPOSE 80 9000/udp", false, ""),
    ("/bin/sh -c #(nop)  VOLUME [/data /more]", false, ""),
    ("/bin/sh -c #(nop)  USER app", false, ""),
    ("/bin/sh -c #(nop)  STOPSIGNAL SIGINT", false, ""),
    (
        "/bin/sh -c #(nop)  HEALTHCHECK &{[\"CMD-SHELL\" \"curl -f http://localhost/ || exit 1\"] \"30s\" \"5s\" \"0s\" '\\x03'}",
        false,
        "",
    ),
    ("/bin/sh -c #(nop)  ENTRYPOINT [\"/srv/start\" \"--name\" \"a \\\"b\\\"\"]", false, ""),
    ("/bin/sh -c #(nop)  CMD [\"/bin/sh\" \"-c\" \"serve $PORT\"]", false, ""),
];

/// What [`CLASSIC`] was made from.
pub(super) const CLASSIC_FILE: &str = r#"FROM ubuntu:22.04
LABEL maintainer="Some Body <some@example.org>" stage=last
ARG VERSION=1
ARG API_TOKEN
ENV GREETING="hello \"you\"" PRICE='5$' EMPTY= BACK='a\b'
RUN apt-get update \
 && apt-get install -y curl
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN curl x | tee y
COPY src lib /srv
WORKDIR /srv/app
RUN ["touch", "marker"]
EXPOSE 80 9000/udp
VOLUME /data /more
USER app
STOPSIGNAL SIGINT
HEALTHCHECK --interval=30s --timeout=5s --retries=3 CMD curl -f http://localhost/ || exit 1
ENTRYPOINT ["/srv/start", "--name", "a \"b\""]
CMD ["/bin/sh", "-c", "serve $PORT"]
"#;

/// As `BuildKit` wrote them, on one of nvidia/cuda's devel images, shortened.
pub(super) const BUILDKIT: &[Entry<'static>] = &[
    ("/bin/sh -c #(nop) ADD file:6089c6bede9eca8e in / ", true, ""),
    ("/bin/sh -c #(nop)  CMD [\"/bin/bash\"]", false, ""),
    ("ENV NVARCH=x86_64", false, "buildkit.dockerfile.v0"),
    ("ARG TARGETARCH", false, "buildkit.dockerfile.v0"),
    (
        "RUN |1 TARGETARCH=amd64 /bin/sh -c apt-get install -y cuda-cudart-12-9 # buildkit",
        true,
        "buildkit.dockerfile.v0",
    ),
    ("ENTRYPOINT [\"/opt/nvidia/nvidia_entrypoint.sh\"]", false, "buildkit.dockerfile.v0"),
    (
        "RUN |1 TARGETARCH=amd64 /bin/sh -c apt-mark hold ${NV_LIBCUBLAS_DEV_PACKAGE_NAME} # buildkit",
        true,
        "buildkit.dockerfile.v0",
    ),
    ("ENV LIBRARY_PATH=/usr/local/cuda/lib64/stubs", false, "buildkit.dockerfile.v0"),
    ("ARG DEBIAN_FRONTEND=noninteractive", false, "buildkit.dockerfile.v0"),
    ("ENV PATH=/opt/bin:/usr/bin MODE=a b", false, "buildkit.dockerfile.v0"),
    ("WORKDIR /app", true, "buildkit.dockerfile.v0"),
    ("COPY requirements.txt . # buildkit", true, "buildkit.dockerfile.v0"),
    (
        "RUN |1 DEBIAN_FRONTEND=noninteractive /bin/sh -c apt-get update &&     apt-get install -y --no-install-recommends python3 &&     pip install -r requirements.txt # buildkit",
        true,
        "buildkit.dockerfile.v0",
    ),
    (
        "RUN |1 DEBIAN_FRONTEND=noninteractive /bin/sh -c set -e\ncat > /etc/motd <<END\nhello\nEND\n # buildkit",
        true,
        "buildkit.dockerfile.v0",
    ),
    ("COPY --chown=app:app /build/out /app/out # buildkit", true, "buildkit.dockerfile.v0"),
    ("EXPOSE map[8000/tcp:{}]", false, "buildkit.dockerfile.v0"),
    (
        "HEALTHCHECK &{[\"CMD\" \"true\"] \"10s\" \"0s\" \"0s\" \"0s\" '\\x00'}",
        false,
        "buildkit.dockerfile.v0",
    ),
    ("CMD [\"python3\" \"-m\" \"app\"]", false, "buildkit.dockerfile.v0"),
];

/// What [`BUILDKIT`] was made from.
pub(super) const BUILDKIT_FILE: &str = r#"ARG CUDA=12.9.1
FROM rust:1 AS builder
RUN cargo build
FROM nvidia/cuda:${CUDA}-devel-ubuntu22.04 AS common
ARG DEBIAN_FRONTEND=noninteractive
ENV PATH=/opt/bin:$PATH MODE="a b"
WORKDIR /app
FROM common
COPY requirements.txt .
RUN --mount=type=cache,target=/root/.cache apt-get update && \
    # python for the service
    apt-get install -y --no-install-recommends python3 && \
    pip install -r requirements.txt
RUN <<EOF
set -e
cat > /etc/motd <<END
hello
END
EOF
COPY --from=builder --chown=app:app /build/out /app/out
EXPOSE 8000
HEALTHCHECK --interval=10s CMD ["true"]
CMD ["python3", "-m", "app"]
"#;
