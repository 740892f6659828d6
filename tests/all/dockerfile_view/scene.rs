//! Proposals made by hand, so that no rule of the rewriting changes them.

use cutaway::findings::Category;
use cutaway::formats::dockerfile::parse;
use cutaway::gui::models::dockerfile::Proposer;
use cutaway::rewrite::{
    Applicability, Closure, Given, Hint, Origin, Predicted, Proposal, Proposals, Reason, Recipe, Removed,
    RewriteError, StageSize,
};
use std::sync::Arc;

pub(crate) const ORIGINAL: &str = r#"FROM nvidia/cuda:13.0.1-devel-ubuntu24.04

ENV PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
RUN apt-get update
RUN apt-get install -y python3.12 python3-pip build-essential
WORKDIR /srv
COPY requirements.txt .
RUN pip install -r requirements.txt
COPY kernels/ kernels/
RUN nvcc -O3 -arch=sm_90 --shared -Xcompiler -fPIC -o libfused.so kernels/fused_attention.cu kernels/rope.cu -lcublas
COPY . .
RUN apt-get install -y curl vim
EXPOSE 8000
CMD ["python3", "-m", "server", "--port", "8000"]
"#;

pub(crate) const MINIMAL: &str = r#"FROM nvidia/cuda:13.0.1-devel-ubuntu24.04 AS build

ENV PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3.12 python3-pip build-essential \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /srv
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY kernels/ kernels/
RUN nvcc -O3 -arch=sm_90 --shared -Xcompiler -fPIC -o libfused.so kernels/fused_attention.cu kernels/rope.cu -lcublas
COPY . .

FROM nvidia/cuda:13.0.1-base-ubuntu24.04
ENV PYTHONUNBUFFERED=1
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3.12 libcublas-13-0 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /srv
COPY --from=build /usr/local/lib/python3.12/dist-packages /usr/local/lib/python3.12/dist-packages
COPY --from=build /srv /srv
EXPOSE 8000
CMD ["python3", "-m", "server", "--port", "8000"]
"#;

const TIDY: &str = r#"FROM nvidia/cuda:13.0.1-devel-ubuntu24.04

ENV PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3.12 python3-pip build-essential \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /srv
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY kernels/ kernels/
RUN nvcc -O3 -arch=sm_90 --shared -Xcompiler -fPIC -o libfused.so kernels/fused_attention.cu kernels/rope.cu -lcublas
COPY . .
EXPOSE 8000
CMD ["python3", "-m", "server", "--port", "8000"]
"#;

pub(crate) fn reason(line: u32, lines: u32, text: &str, bytes: Option<u64>) -> Reason {
    Reason { line, lines, text: text.into(), applicability: Applicability::Safe, bytes }
}

pub(crate) fn recipe(text: &str, origin: Origin) -> Recipe {
    let file = parse(text.as_bytes()).unwrap();
    Recipe { file, origin, ties: Vec::new(), base_layers: Some(5), unknown: Vec::new() }
}

/// A proposal with some of everything.
pub(crate) fn proposal(id: &str, title: &str, dockerfile: &str, reasons: Vec<Reason>) -> Proposal {
    let diff = format!("--- Dockerfile\n+++ Dockerfile\n@@ -1 +1 @@ {id}\n");
    Proposal {
        id: id.into(),
        title: title.into(),
        applicability: Applicability::Review,
        base_image: Some("nvidia/cuda:13.0.1-base-ubuntu24.04".into()),
        dockerfile: dockerfile.into(),
        diff,
        reasons,
        predicted: Predicted {
            merged_bytes: 9 << 20,
            content_bytes: 10 << 20,
            saved_bytes: 14 << 20,
            stages: Vec::new(),
        },
        kept: Vec::new(),
        removed: Vec::new(),
        closure: Closure {
            resolved: true,
            dlopen_known: true,
            objects: 214,
            links: 1_902,
            ..Closure::default()
        },
        hints: Vec::new(),
    }
}

fn minimal() -> Proposal {
    let reasons = vec![
        reason(1, 1, "Names the build stage: the final stage copies from it", None),
        reason(5, 3, "Package lists are deleted in the layer that fetches them", Some(48 << 20)),
        Reason {
            applicability: Applicability::Review,
            ..reason(10, 1, "pip download cache disabled; only installations read it", Some(2 << 20))
        },
        reason(13, 0, "curl and vim are unused at run time", Some(63 << 20)),
        Reason {
            applicability: Applicability::Review,
            ..reason(
                14,
                10,
                "The service needs neither compiler nor headers: the final stage starts from the base image and \
                 installs the libraries that are loaded",
                Some(6 << 30),
            )
        },
        reason(19, 1, "libcublas is loaded by torch and libfused.so: its package is reinstalled", None),
        Reason {
            applicability: Applicability::Review,
            ..reason(21, 1, "Python packages are copied from the build stage", None)
        },
    ];
    let category = |name: &str| Category::ALL.iter().copied().find(|one| one.as_str() == name);
    let file = |path: String, bytes, category| Removed { path, bytes, category };
    let lib = "/usr/local/cuda-13.0/targets/x86_64-linux/lib";
    let mut removed = vec![
        file(format!("{lib}/libcublas_static.a"), 6 << 20, category("static-libraries")),
        file("/usr/local/cuda-13.0/bin/nvcc".into(), 3 << 20, None),
    ];
    let headers = (0..1_200).rev().map(|number| {
        let path = format!("/usr/local/cuda-13.0/include/header_{number:04}.h");
        file(path, 1_000 + number, category("headers"))
    });
    removed.extend(headers);
    let stage = |name: &str, base: &str, merged_bytes| StageSize {
        name: name.into(),
        base: base.into(),
        merged_bytes,
    };
    let mut minimal =
        proposal("minimal", "Multi-stage: run on nvidia/cuda:13.0.1-base-ubuntu24.04", MINIMAL, reasons);
    minimal.predicted.stages = vec![
        stage("build", "nvidia/cuda:13.0.1-devel-ubuntu24.04", Some(24 << 20)),
        stage("", "nvidia/cuda:13.0.1-base-ubuntu24.04", Some(9 << 20)),
    ];
    minimal.kept = vec!["libcublas.so.13: torch 2.9.1 loads it".into()];
    minimal.removed = removed;
    minimal.closure.unproven = vec![
        "pip installs the same versions again: requirements.txt pins none".into(),
        "/srv/app.py was searched for library names; all of them are present".into(),
    ];
    minimal.hints = vec![Hint {
        file: ".dockerignore".into(),
        lines: vec![".git".into(), "**/__pycache__".into(), "tests/".into()],
        reason: "COPY . . adds the git history and Python caches to the image".into(),
        bytes: Some(31 << 20),
    }];
    minimal
}

fn tidy() -> Proposal {
    let reasons = vec![
        reason(5, 3, "Package lists are deleted in the layer that fetches them", Some(48 << 20)),
        reason(10, 1, "pip download cache disabled", Some(2 << 20)),
        reason(13, 0, "curl and vim are unused at run time", Some(63 << 20)),
    ];
    let mut tidy = proposal("tidy", "Clean up instructions, keep the stages", TIDY, reasons);
    tidy.applicability = Applicability::Safe;
    tidy.base_image = Some("nvidia/cuda:13.0.1-devel-ubuntu24.04".into());
    tidy.predicted.merged_bytes = 22 << 20;
    tidy.predicted.saved_bytes = 2 << 20;
    tidy.predicted.stages = vec![StageSize {
        name: String::new(),
        base: "nvidia/cuda:13.0.1-devel-ubuntu24.04".into(),
        merged_bytes: Some(22 << 20),
    }];
    tidy
}

/// Two proposals for a file called `name`, or for one reconstructed from the image history.
pub(crate) fn proposals(name: Option<&str>) -> Proposals {
    let origin = name.map_or(Origin::Reconstructed, |name| Origin::Given(name.into()));
    let mut recipe = recipe(ORIGINAL, origin);
    recipe.unknown =
        vec![(12, "The source of COPY is not recorded: the history has only its checksum".into())];
    Proposals { recipe, list: vec![minimal(), tidy()], reason: None, notes: Vec::new() }
}

/// Nothing to propose, for a text.
pub(crate) fn none(text: &str) -> Proposals {
    Proposals {
        recipe: recipe(text, Origin::Reconstructed),
        list: Vec::new(),
        reason: Some("the image is already on the smallest suitable base".into()),
        notes: vec!["The base image of the final stage is unknown.".into()],
    }
}

/// Proposals as the real ones come: a file that is no Dockerfile, or not the image's, is an error.
pub(crate) fn proposer() -> Proposer {
    Arc::new(|_, _, given| {
        Some(match given {
            None => Ok(proposals(None)),
            Some(Given { name, text }) => match parse(text) {
                Err(source) => Err(RewriteError::Syntax { name: name.into(), source }),
                Ok(_) if text.starts_with(b"FROM scratch") => {
                    let why = "it copies no file of the image".into();
                    Err(RewriteError::Foreign { name: name.into(), why })
                }
                Ok(_) => Ok(proposals(Some(name))),
            },
        })
    })
}
