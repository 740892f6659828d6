//! Dockerfiles that are tidied, on whole images: what each edit takes away is what the image loses.

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::findings::Plan;
use cutaway::jobs::{CancelToken, Progress};
use cutaway::rewrite::{Applicability, Given, Proposal};
use cutaway::source::Reference;
use serde_json::json;
use std::sync::Arc;

use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::tarball::{Member, dir, file, symlink, tar, whiteout};
use crate::support::Place;

const LISTS: usize = 5000;
const ARCHIVE: usize = 2 << 20;
const WHEEL: usize = 70_000;
const DATA: usize = 90_000;
const PACK: usize = 4000;

const FILE: &str = r#"# The service.
FROM ubuntu:22.04
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip
RUN curl -o /model.tar https://example.org/model.tar \
  && tar xf /model.tar -C /srv
# The archive is of no use any more.
RUN rm /model.tar
RUN pip install numpy

WORKDIR /app
COPY . .
RUN chown -R 1000:1000 /app
CMD ["/srv/service"]
"#;

const TIDY: &str = r#"# The service.
FROM ubuntu:22.04
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip \
  && rm -rf /var/lib/apt/lists/*
RUN curl -o /model.tar https://example.org/model.tar \
  && tar xf /model.tar -C /srv \
  # The archive is of no use any more.
  && rm /model.tar
RUN pip install --no-cache-dir numpy

WORKDIR /app
COPY --chown=1000:1000 . .
RUN chown 1000:1000 /app
CMD ["/srv/service"]
"#;

fn bytes(count: usize, with: u8) -> Vec<u8> {
    (0..count).map(|at| u8::try_from(at % 251).unwrap() ^ with).collect()
}

/// The image that `FILE` gives, as `BuildKit` writes its history.
fn image() -> Image {
    let base: Vec<Member> = vec![
        file("etc/os-release", "ID=ubuntu\nVERSION_ID=\"22.04\"\n"),
        file("lib64/ld-linux-x86-64.so.2", Elf::library("ld-linux-x86-64.so.2").build()),
        file("usr/lib/x86_64-linux-gnu/libc.so.6", Elf::library("libc.so.6").build()),
    ];
    let app = |owner: u64| {
        vec![
            dir("app").owned_by(owner, owner),
            file("app/data.bin", bytes(DATA, 4)).owned_by(owner, owner),
            dir("app/.git").owned_by(owner, owner),
            file("app/.git/HEAD", "ref: refs/heads/main\n").owned_by(owner, owner),
            file("app/.git/pack", bytes(PACK, 5)).owned_by(owner, owner),
        ]
    };
    let mut image = Image::default()
        .layer("/bin/sh -c #(nop) ADD file:1234 in / ", &tar(base))
        .step("/bin/sh -c #(nop)  CMD [\"/bin/bash\"]")
        .layer(
            "RUN /bin/sh -c apt-get update && apt-get install -y --no-install-recommends python3-pip # buildkit",
            &tar([
                file("usr/bin/pip", "#!/bin/sh\n"),
                file("var/lib/apt/lists/archive_Packages", bytes(LISTS, 1)),
            ]),
        )
        .layer(
            "RUN /bin/sh -c curl -o /model.tar https://example.org/model.tar   && tar xf /model.tar -C /srv # buildkit",
            &tar([
                file("model.tar", bytes(ARCHIVE, 2)),
                file("srv/service", Elf::program("service").needing(&["libc.so.6"]).build()).mode(0o755),
            ]),
        )
        .layer("RUN /bin/sh -c rm /model.tar # buildkit", &tar([whiteout("model.tar")]))
        .layer(
            "RUN /bin/sh -c pip install numpy # buildkit",
            &tar([
                file("usr/lib/python3/dist-packages/numpy.py", "x = 1\n"),
                file("root/.cache/pip/http/a", bytes(WHEEL, 3)),
            ]),
        )
        .layer("WORKDIR /app", &tar([dir("app")]))
        .layer("COPY . . # buildkit", &tar(app(0)))
        .layer("RUN /bin/sh -c chown -R 1000:1000 /app # buildkit", &tar(app(1000)))
        .step("CMD [\"/srv/service\"]");
    image.config = json!({"Cmd": ["/srv/service"], "WorkingDir": "/app", "Env": ["PATH=/usr/bin:/bin"]});
    image
}

fn analysis(image: &Image) -> Arc<Analysis> {
    let place = Place::new();
    let reference = format!("oci:{}", place.put_layout("image", &Layout::of(image, "t")));
    let reference = Reference::parse(&reference).unwrap();
    analyze(&reference, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| {}).unwrap()
}

/// The proposal to tidy, when there is one.
fn tidy(analysis: &Analysis, plan: &Plan, text: Option<&str>) -> Option<Proposal> {
    let given = text.map(|text| Given { name: "Dockerfile", text: text.as_bytes() });
    let proposals = analysis.propose(plan, given).expect("findings").expect("proposals");
    proposals.list.into_iter().find(|one| one.id == "tidy")
}

fn safe(analysis: &Analysis) -> Plan {
    Plan::of_safe(analysis.findings.as_ref().unwrap())
}

/// Line, lines, bytes of each reason, and whether it is safe.
fn reasons(proposal: &Proposal) -> Vec<(u32, u32, Option<u64>, bool)> {
    let told = proposal.reasons.iter();
    told.map(|one| (one.line, one.lines, one.bytes, one.applicability == Applicability::Safe)).collect()
}

#[test]
fn a_file_is_tidied_in_its_own_style() {
    let analysis = analysis(&image());
    let proposal = tidy(&analysis, &safe(&analysis), Some(FILE)).expect("a proposal");
    assert_eq!(proposal.dockerfile, TIDY);
    let copied = (DATA + PACK + 21) as u64;
    assert_eq!(
        reasons(&proposal),
        [
            (3, 2, Some(LISTS as u64), true),
            (6, 3, Some(ARCHIVE as u64), false),
            (9, 1, Some(WHEEL as u64), true),
            (12, 1, Some(copied), false),
            (13, 1, None, false),
        ]
    );
    let saved = LISTS as u64 + ARCHIVE as u64 + WHEEL as u64 + copied;
    let totals = analysis.totals().unwrap();
    assert_eq!(proposal.predicted.saved_bytes, saved);
    assert_eq!(proposal.predicted.content_bytes, totals.content_bytes - saved);
    // What a container sees loses the lists and the cache only.
    assert_eq!(proposal.predicted.merged_bytes, totals.merged_bytes - LISTS as u64 - WHEEL as u64);
    assert!(proposal.closure.resolved, "{:?}", proposal.closure.faults);
    assert_eq!(proposal.base_image.as_deref(), Some("ubuntu:22.04"));
    let ignore = proposal.hints.iter().find(|hint| hint.file == ".dockerignore").expect("a hint");
    assert_eq!((ignore.lines.as_slice(), ignore.bytes), (&[".git".to_owned()][..], Some(PACK as u64 + 21)));
}

#[test]
fn only_what_the_plan_names_is_taken_away() {
    let analysis = analysis(&image());
    let findings = analysis.findings.as_ref().unwrap();
    let mut plan = safe(&analysis);
    for finding in &findings.list {
        if !finding.title.contains("pip") {
            plan.set(&finding.id, false);
        }
    }
    let proposal = tidy(&analysis, &plan, Some(FILE)).expect("a proposal");
    assert_eq!(proposal.dockerfile, FILE.replace("pip install", "pip install --no-cache-dir"));
    assert_eq!(proposal.predicted.saved_bytes, WHEEL as u64);
    assert_eq!(proposal.applicability, Applicability::Safe, "{:?}", proposal.closure);
    assert!(tidy(&analysis, &Plan::default(), Some(FILE)).is_none());
}

#[test]
fn a_file_with_carriage_returns_keeps_them() {
    let analysis = analysis(&image());
    let proposal = tidy(&analysis, &safe(&analysis), Some(&FILE.replace('\n', "\r\n"))).expect("a proposal");
    assert_eq!(proposal.dockerfile, TIDY.replace('\n', "\r\n"));
}

#[test]
fn a_file_that_is_rebuilt_is_tidied_too() {
    let analysis = analysis(&image());
    let proposal = tidy(&analysis, &safe(&analysis), None).expect("a proposal");
    for line in ["rm -rf /var/lib/apt/lists/*", "&& rm /model.tar", "pip install --no-cache-dir numpy"] {
        assert!(proposal.dockerfile.contains(line), "{line}: {}", proposal.dockerfile);
    }
    assert!(!proposal.dockerfile.contains("chown -R"), "{}", proposal.dockerfile);
}

#[test]
fn a_cache_that_environments_link_to_is_filled_as_before() {
    let install = |linked: bool| {
        let package = "root/.cache/uv/archive-v0/a/itsdangerous.py";
        let module = "opt/venv/lib/python3.11/site-packages/itsdangerous.py";
        let text = "x = 1\n".repeat(500);
        let installed =
            if linked { symlink(module, format!("/{package}")) } else { file(module, text.clone()) };
        let members =
            [file("root/.cache/uv/simple-v16/a.rkyv", bytes(PACK, 6)), file(package, text), installed];
        let command = "RUN /bin/sh -c uv pip install itsdangerous # buildkit";
        let mut image = image().layer(command, &tar(members));
        image.config["Cmd"] = json!(["/srv/service"]);
        let analysis = analysis(&image);
        tidy(&analysis, &safe(&analysis), None).expect("a proposal").dockerfile
    };
    assert!(install(false).contains("uv pip --no-cache install itsdangerous"), "{}", install(false));
    assert!(install(true).contains("uv pip install itsdangerous"), "{}", install(true));
}

#[test]
fn lists_that_a_later_update_replaces_are_removed_in_both() {
    let update = |image: Image, number: u8| {
        let members = [
            file("var/lib/apt/lists/lock", ""),
            file("var/lib/apt/lists/partial_Packages", bytes(LISTS, number)),
            file(format!("usr/bin/tool{number}"), "#!/bin/sh\n"),
        ];
        let command = format!("RUN /bin/sh -c apt-get update && apt-get install -y tool{number} # buildkit");
        image.layer(&command, &tar(members))
    };
    let image = update(update(image(), 7), 8);
    let analysis = analysis(&image);
    let proposal = tidy(&analysis, &safe(&analysis), None).expect("a proposal");
    let runs = proposal.dockerfile.matches("rm -rf /var/lib/apt/lists/*").count();
    assert_eq!(runs, 3, "{}", proposal.dockerfile);
}
