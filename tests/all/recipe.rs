//! Dockerfiles rebuilt from histories, and given ones held against them, on whole images.

use std::collections::BTreeMap;
use std::sync::Arc;

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::findings::Plan;
use cutaway::formats::dockerfile::parse;
use cutaway::jobs::{CancelToken, Progress};
use cutaway::rewrite::{Given, Origin, Recipe, RewriteError};
use cutaway::source::Reference;
use serde_json::{Value, json};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::service::CudaBase;
use crate::fixtures::tarball::{file, tar};
use crate::support::Place;

const DEVEL: &str = "nvidia/cuda:12.9.1-devel-ubuntu22.04";

/// One of nvidia/cuda's devel images, small.
fn devel() -> Image {
    CudaBase { version: "12.9.1", flavor: "devel", cudnn: None, distribution: ("ubuntu", "22.04") }.image()
}

/// What all builders build here; how each writes it down follows.
const FILE: &str = r#"# The service.
FROM nvidia/cuda:12.9.1-devel-ubuntu22.04 AS build
RUN make world

FROM nvidia/cuda:12.9.1-devel-ubuntu22.04
ARG API_TOKEN
ENV GREETING="hello \"you\"" \
    PRICE='5$'
WORKDIR /srv
RUN --mount=type=cache,target=/var/cache/apt apt-get update && \
    # a compiler
    apt-get install -y --no-install-recommends build-essential cmake
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN curl https://example.org/data | tar x
COPY --from=build /out /srv/out
EXPOSE 8080
USER app
CMD ["/srv/out/run", "--all"]
"#;

const BUILDKIT: &[(&str, bool)] = &[
    ("ARG API_TOKEN", false),
    ("ENV GREETING=hello \"you\" PRICE=5$", false),
    ("WORKDIR /srv", true),
    (
        "RUN |1 API_TOKEN=hunter2 /bin/sh -c apt-get update &&     apt-get install -y --no-install-recommends build-essential cmake # buildkit",
        true,
    ),
    ("SHELL [/bin/bash -o pipefail -c]", false),
    (
        "RUN |1 API_TOKEN=hunter2 /bin/bash -o pipefail -c curl https://example.org/data | tar x # buildkit",
        true,
    ),
    ("COPY /out /srv/out # buildkit", true),
    ("EXPOSE map[8080/tcp:{}]", false),
    ("USER app", false),
    ("CMD [\"/srv/out/run\" \"--all\"]", false),
];

const CLASSIC: &[(&str, bool)] = &[
    ("/bin/sh -c #(nop)  ARG API_TOKEN", false),
    ("/bin/sh -c #(nop)  ENV GREETING=hello \"you\" PRICE=5$", false),
    ("/bin/sh -c #(nop) WORKDIR /srv", true),
    (
        "|1 API_TOKEN=hunter2 /bin/sh -c apt-get update &&     apt-get install -y --no-install-recommends build-essential cmake",
        true,
    ),
    ("/bin/sh -c #(nop)  SHELL [/bin/bash -o pipefail -c]", false),
    ("|1 API_TOKEN=hunter2 /bin/bash -o pipefail -c curl https://example.org/data | tar x", true),
    ("/bin/sh -c #(nop) COPY dir:0a1b2c in /srv/out ", true),
    ("/bin/sh -c #(nop)  EXPOSE 8080", false),
    ("/bin/sh -c #(nop)  USER app", false),
    ("/bin/sh -c #(nop)  CMD [\"/srv/out/run\" \"--all\"]", false),
];

const BUILDAH: &[(&str, bool)] = &[
    ("/bin/sh -c #(nop) ARG API_TOKEN", false),
    ("/bin/sh -c #(nop) ENV GREETING=\"hello \\\"you\\\"\"     PRICE='5$'", false),
    ("/bin/sh -c #(nop) WORKDIR /srv", true),
    (
        "|1 API_TOKEN=hunter2 /bin/sh -c --mount=type=cache,target=/var/cache/apt apt-get update &&     apt-get install -y --no-install-recommends build-essential cmake",
        true,
    ),
    ("/bin/sh -c #(nop) SHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]", false),
    ("|1 API_TOKEN=hunter2 /bin/sh -c curl https://example.org/data | tar x", true),
    ("/bin/sh -c #(nop) COPY dir:0a1b2c in /srv/out ", true),
    ("/bin/sh -c #(nop) EXPOSE 8080", false),
    ("/bin/sh -c #(nop) USER app", false),
    ("/bin/sh -c #(nop) CMD [\"/srv/out/run\", \"--all\"]", false),
];

/// An image with these steps on the devel image.
fn built(steps: &[(&str, bool)]) -> Image {
    let mut image = devel();
    for (number, (text, layer)) in steps.iter().enumerate() {
        let body = vec![b'x'; 1000 + number];
        image = if *layer {
            image.layer(text, &tar([file(format!("srv/{number}"), body)]))
        } else {
            image.step(text)
        };
    }
    let environment = image.config["Env"].as_array_mut().unwrap();
    environment.extend(["GREETING=hello \"you\"", "PRICE=5$"].map(Value::from));
    image.config["WorkingDir"] = json!("/srv");
    image.config["User"] = json!("app");
    image.config["ExposedPorts"] = json!({"8080/tcp": {}});
    image.config["Cmd"] = json!(["/srv/out/run", "--all"]);
    image
}

fn analysis(image: &Image) -> Arc<Analysis> {
    let place = Place::new();
    let reference = format!("oci:{}", place.put_layout("image", &Layout::of(image, "t")));
    let reference = Reference::parse(&reference).unwrap();
    analyze(&reference, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| {}).unwrap()
}

fn proposed(image: &Image, text: Option<&str>) -> Result<Recipe, RewriteError> {
    let analysis = analysis(image);
    let plan = Plan::of_safe(analysis.findings.as_ref().unwrap());
    let given = text.map(|text| Given { name: "Dockerfile", text: text.as_bytes() });
    analysis.propose(&plan, given).expect("findings").map(|proposals| proposals.recipe)
}

/// Instructions that made layers: keyword, layers, bytes.
fn layers(recipe: &Recipe) -> Vec<(&'static str, Vec<u16>, Option<u64>)> {
    let all = recipe.file.instructions.iter().zip(&recipe.ties);
    all.filter(|(_, tie)| !tie.layers.is_empty())
        .map(|(one, tie)| (one.keyword.as_str(), tie.layers.clone(), tie.content_bytes))
        .collect()
}

/// Names and values that the file's `ENV` instructions set, quotes taken away.
fn environment(recipe: &Recipe) -> BTreeMap<String, String> {
    let words = recipe
        .file
        .instructions
        .iter()
        .filter(|one| one.keyword.as_str() == "ENV")
        .flat_map(|one| &one.words);
    words
        .filter_map(|word| word.text.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn histories_of_all_builders_give_a_dockerfile() {
    for (name, steps) in [("buildkit", BUILDKIT), ("classic", CLASSIC), ("buildah", BUILDAH)] {
        let recipe = proposed(&built(steps), None).unwrap();
        let text = recipe.file.text();
        assert_eq!(recipe.origin, Origin::Reconstructed);
        assert!(text.starts_with("# Reconstructed from the image history"), "{name}: {text}");
        let froms: Vec<&str> = text.lines().filter(|line| line.starts_with("FROM ")).collect();
        assert_eq!(froms, [format!("FROM {DEVEL}")], "{name}");
        assert_eq!(recipe.base_layers, Some(11), "{name}");
        let set = environment(&recipe);
        let pairs: Vec<(&str, &str)> =
            set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("GREETING", "hello \"you\""), ("PRICE", "5$")], "{name}: {text}");
        assert!(text.contains("ARG API_TOKEN=\"<redacted>\"\n"), "{name}: {text}");
        assert!(!text.contains("hunter2"), "{name}: {text}");
        assert!(
            text.contains("\nSHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]\nRUN curl "),
            "{name}: {text}"
        );
        assert!(text.contains(" apt-get update \\\n    && apt-get install "), "{name}: {text}");
        assert!(text.ends_with("CMD [\"/srv/out/run\", \"--all\"]\n"), "{name}: {text}");
        let made: Vec<_> = [("WORKDIR", 11, 1002), ("RUN", 12, 1003), ("RUN", 13, 1005), ("COPY", 14, 1006)]
            .map(|(keyword, layer, bytes)| (keyword, vec![layer], Some(bytes)))
            .to_vec();
        assert_eq!(layers(&recipe), made, "{name}: {text}");
        let copied = text.lines().find(|line| line.starts_with("COPY ")).unwrap();
        assert_eq!(copied, if name == "buildkit" { "COPY /out /srv/out" } else { "COPY <unknown> /srv/out" });
        for (line, sentence) in &recipe.unknown {
            assert!(*line >= 1 && *line as usize <= text.lines().count() && !sentence.is_empty());
        }
    }
}

#[test]
fn copied_files_that_only_their_layer_names_are_named() {
    let classic = |text: &str| format!("/bin/sh -c #(nop) {text} ");
    let files = |paths: &[&str]| tar(paths.iter().map(|path| file(*path, "words\n")).collect::<Vec<_>>());
    let image = devel()
        .layer(&classic("WORKDIR /srv"), &tar([]))
        .layer(&classic("COPY file:0a in ./"), &files(&["srv/package.json"]))
        .layer(&classic("COPY multi:1b in /srv/"), &files(&["srv/tsconfig.json", "srv/a.lock"]))
        .layer(&classic("COPY multi:2c in ."), &files(&["srv/b.toml", "srv/a.toml"]))
        .layer(&classic("COPY file:3d in /srv/start"), &files(&["srv/start"]))
        .layer(&classic("COPY file:3e in conf"), &files(&["srv/x/conf/a"]))
        .layer(&classic("COPY dir:4e in ."), &files(&["srv/index.js"]))
        .layer(&classic("ADD file:5f in /srv/"), &files(&["srv/of-an-archive"]));
    let text = proposed(&image, None).unwrap().file.text().to_owned();
    let lines: Vec<&str> =
        text.lines().filter(|line| line.starts_with("COPY ") || line.starts_with("ADD ")).collect();
    let wanted = [
        "COPY package.json ./",
        "COPY a.lock tsconfig.json /srv/",
        "COPY a.toml b.toml ./",
        "COPY <unknown> /srv/start",
        "COPY <unknown> conf",
        "COPY <unknown> .",
        "ADD <unknown> /srv/",
    ];
    assert_eq!(lines, wanted, "{text}");
    let note = "# File names are from the layer; their folder in the build context or in another stage is not recorded.\n";
    assert_eq!(text.matches(note).count(), 3, "{text}");
}

#[test]
fn the_users_file_is_tied_to_the_layers() {
    for (name, steps) in [("buildkit", BUILDKIT), ("classic", CLASSIC), ("buildah", BUILDAH)] {
        let recipe = proposed(&built(steps), Some(FILE)).unwrap();
        assert_eq!(recipe.origin, Origin::Given("Dockerfile".to_owned()));
        assert_eq!(recipe.file.text(), FILE);
        assert_eq!(recipe.unknown, [], "{name}");
        assert_eq!(recipe.base_layers, Some(11), "{name}");
        let made: Vec<_> = [("WORKDIR", 11, 1002), ("RUN", 12, 1003), ("RUN", 13, 1005), ("COPY", 14, 1006)]
            .map(|(keyword, layer, bytes)| (keyword, vec![layer], Some(bytes)))
            .to_vec();
        assert_eq!(layers(&recipe), made, "{name}");
        // The first stage and its base are not of this image.
        assert!(recipe.ties[..3].iter().all(|tie| tie.history.is_empty()), "{name}");
    }
}

#[test]
fn a_rebuilt_file_belongs_to_its_image() {
    for steps in [BUILDKIT, CLASSIC, BUILDAH] {
        let image = built(steps);
        let rebuilt = proposed(&image, None).unwrap();
        let again = proposed(&image, Some(rebuilt.file.text())).unwrap();
        assert_eq!(layers(&again), layers(&rebuilt));
        assert_eq!(again.base_layers, rebuilt.base_layers);
        assert_eq!(again.unknown, []);
    }
}

#[test]
fn a_file_that_made_another_image_is_refused() {
    let image = built(BUILDKIT);
    let refused = |text: &str| match proposed(&image, Some(text)) {
        Err(RewriteError::Foreign { name, why }) => {
            assert_eq!(name, "Dockerfile");
            why
        }
        other => panic!("{other:?}"),
    };
    let why = refused(&format!(
        "FROM {DEVEL}\nRUN pip install flask\nCOPY . /srv/app\nRUN make -C /srv\nUSER app\n"
    ));
    assert!(why.contains("1 of its 4 instructions that leave a trace"), "{why}");
    assert!(why.contains("`RUN pip install flask` (line 2) is not"), "{why}");
    let why =
        refused("FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nUSER app\nCMD [\"/srv/out/run\", \"--all\"]\n");
    assert!(why.contains("starts from nvidia/cuda:11.8.0-devel-ubuntu22.04"), "{why}");
    // The same with one line edited since.
    let edited = FILE.replace("build-essential cmake", "build-essential cmake ninja-build");
    let recipe = proposed(&image, Some(&edited)).unwrap();
    assert_eq!(layers(&recipe)[1], ("RUN", vec![12], Some(1003)));
    assert_eq!(recipe.unknown.len(), 1, "{:?}", recipe.unknown);
    assert!(recipe.unknown[0].1.contains("changed since the image was built"), "{:?}", recipe.unknown);
}

#[test]
fn files_that_are_none_are_refused() {
    let image = built(BUILDKIT);
    let Err(RewriteError::Syntax { source, .. }) = proposed(&image, Some("FROM a\nHELLO\n")) else {
        panic!()
    };
    assert_eq!(source.line, 2);
    let long = format!("FROM a\n{}", "# a comment\n".repeat(100_000));
    assert!(matches!(proposed(&image, Some(&long)), Err(RewriteError::TooLarge { .. })));
}

#[test]
fn what_the_history_does_not_tell_is_said() {
    // No history: only the configuration stands.
    let mut image = built(BUILDKIT);
    image.history.clear();
    let recipe = proposed(&image, None).unwrap();
    assert!(recipe.unknown.iter().any(|(_, text)| text.contains("no history")), "{:?}", recipe.unknown);
    assert_eq!(environment(&recipe)["GREETING"], "hello \"you\"");
    assert!(recipe.ties.iter().all(|tie| tie.history.is_empty() && tie.layers.is_empty()));
    parse(recipe.file.text().as_bytes()).unwrap();
    let recipe = proposed(&image, Some(FILE)).unwrap();
    assert!(recipe.unknown.iter().any(|(_, text)| text.contains("no history")), "{:?}", recipe.unknown);
    // Layers joined into one afterwards.
    let mut image = built(BUILDKIT);
    image.layers.truncate(1);
    let recipe = proposed(&image, None).unwrap();
    assert!(recipe.unknown.iter().any(|(_, text)| text.contains("the image 1:")), "{:?}", recipe.unknown);
    assert!(recipe.file.text().contains(&format!("FROM {DEVEL}\n")), "{}", recipe.file.text());
    assert_eq!(recipe.base_layers, None);
    assert!(layers(&recipe).is_empty());
}
