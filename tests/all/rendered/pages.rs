//! Pages made by hand: with one of everything, with too much of it, and with what nobody wants to see.

use cutaway::report::page::{Block, Chart, Column, Line, Page, Part, Row, Section, Slice, Table, Tone};

pub(super) const TONES: [Tone; 9] = [
    Tone::Plain,
    Tone::Strong,
    Tone::Weak,
    Tone::Good,
    Tone::Unsure,
    Tone::Bad,
    Tone::Added,
    Tone::Removed,
    Tone::Changed,
];
pub(super) const COLOURS: [&str; 7] =
    ["system", "cuda-runtime", "cuda-devel", "framework", "weights", "application", "wasted"];

pub(super) fn section(part: Part, note: &str, blocks: Vec<Block>) -> Section {
    Section { part, note: note.to_owned(), blocks }
}

/// A table; titles that begin with `#` are columns of numbers.
pub(super) fn table(titles: &[&str], rows: Vec<Row>, more: u64, noun: &'static str) -> Block {
    let column = |title: &&str| Column {
        title: title.strip_prefix('#').unwrap_or(title).to_owned(),
        number: title.starts_with('#'),
    };
    Block::Table(Table { columns: titles.iter().map(column).collect(), rows, more, noun })
}

pub(super) fn row(cells: Vec<Line>) -> Row {
    Row { cells, details: Vec::new() }
}

fn line(text: &str) -> Block {
    Block::Line(Line::plain(text))
}

fn slice(name: &str, mib: u64, colour: &'static str) -> Slice {
    Slice { name: name.to_owned(), bytes: mib << 20, colour }
}

/// What a report of a large image may look like: every block, every tone, every colour.
pub(super) fn every() -> Page {
    Page {
        title: "registry.example.org/team/inference-server:2025.11-cuda12.6-devel".to_owned(),
        generator: "Cutaway report, version 0.1.0".to_owned(),
        facts: ["docker-archive", "linux/amd64", "26 layers", "sha256:4f1c9a0b77de", "22 November 2025"]
            .map(str::to_owned)
            .to_vec(),
        lead: vec![
            Line::plain(
                "8.94 GiB to pull, 17.2 GiB in the container, 1.31 GiB wasted. What is safe to take away \
                 makes it 4.71 GiB to pull.",
            ),
            Line::plain("It fails on 1 of 5 GPUs: gpu:a10g needs code for sm_86.").tone(Tone::Bad),
        ],
        sections: vec![sizes(), findings(), plan(), compatibility(), layers(), files(), settings(), tones()],
    }
}

fn sizes() -> Section {
    let parts = vec![
        slice("system", 412, "system"),
        slice("CUDA at run time", 4310, "cuda-runtime"),
        slice("CUDA for building", 3120, "cuda-devel"),
        slice("frameworks", 5820, "framework"),
        slice("weights", 2210, "weights"),
        slice("application", 31, "application"),
        slice("wasted", 1341, "wasted"),
    ];
    let facts = [
        ("To pull", "8.94 GiB in 26 layers"),
        ("Content", "18.5 GiB in 214,022 files"),
        ("In the container", "17.2 GiB"),
        ("Wasted", "1.31 GiB, hidden by later layers; efficiency 92.9%"),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), Line::plain(value))).to_vec();
    let chart = Chart { title: "Content by what it is for".to_owned(), parts };
    section(Part::Sizes, "8.94 GiB to pull", vec![Block::Facts(facts), Block::Chart(chart)])
}

fn findings() -> Section {
    let finding = |verdict: &str, tone: Tone, rule: &str, what: &str, saves: &str| Row {
        cells: vec![Line::plain(verdict).tone(tone), Line::code(rule), Line::plain(what), Line::plain(saves)],
        details: vec![
            line(
                "Nothing in the container needs them: no library, no program, no Python package that is loaded.",
            ),
            Block::Facts(vec![
                ("Layer".to_owned(), Line::plain("7, RUN apt-get install -y cuda-toolkit-12-6")),
                ("Fix".to_owned(), Line::code("FROM nvidia/cuda:12.6.2-runtime-ubuntu22.04")),
            ]),
            table(
                &["Path", "#Bytes"],
                (1..=4)
                    .map(|at| {
                        let path =
                            format!("/usr/local/cuda-12.6/targets/x86_64-linux/lib/libcublas_static_{at}.a");
                        row(vec![Line::code(path), Line::plain(format!("{at}12 MiB"))])
                    })
                    .collect(),
                38,
                "files",
            ),
        ],
    };
    let rows = vec![
        finding("safe", Tone::Good, "cuda.static-libraries", "Static libraries of the toolkit", "2.41 GiB"),
        finding("safe", Tone::Good, "waste.hidden-files", "Files that a later layer hides", "1.31 GiB"),
        finding(
            "unsure",
            Tone::Unsure,
            "cuda.duplicate-libraries",
            "Libraries that are there twice, once in the wheel and once in the toolkit, of which the loader takes the wheel's",
            "1.02 GiB",
        ),
        finding("keep", Tone::Bad, "cuda.gpu-code", "GPU code for GPUs that are no target", "611 MiB"),
    ];
    let mut rows = rows;
    rows.push(row(vec![
        Line::plain("safe").tone(Tone::Good),
        Line::code("pip.cache"),
        Line::plain("Cache of pip"),
        Line::plain("12.0 MiB"),
    ]));
    let titles = ["Verdict", "Rule", "What", "#Saves, content"];
    let fold = Block::Fold(
        "What the verdicts mean".to_owned(),
        vec![
            line("safe: nothing needs it, and that is proven."),
            Block::Heading("How it is proven".to_owned()),
            line(
                "Every program, library and Python package of the container is followed from the entry point.",
            ),
        ],
    );
    section(Part::Findings, "5 findings, 5.36 GiB", vec![table(&titles, rows, 0, "findings"), fold])
}

fn plan() -> Section {
    let diff = "--- Dockerfile\n+++ Dockerfile\n@@ -1,4 +1,5 @@\n-FROM nvidia/cuda:12.6.2-cudnn-devel-ubuntu22.04\n\
                +FROM nvidia/cuda:12.6.2-cudnn-devel-ubuntu22.04 AS build\n+FROM nvidia/cuda:12.6.2-runtime-ubuntu22.04\n \
                RUN apt-get update && apt-get install -y --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/* && pip install torch==2.5.1\n \
                WORKDIR /app\n";
    let file = "FROM ubuntu:22.04\nRUN <<EOF\n\tset -e\n\tapt-get update\nEOF\n";
    section(
        Part::Plan,
        "4.71 GiB to pull",
        vec![
            line("Two stages: the toolkit builds, the runtime image runs."),
            Block::Code("diff", diff.to_owned()),
            Block::Heading("The Dockerfile, reconstructed from the image history".to_owned()),
            Block::Code("dockerfile", file.to_owned()),
        ],
    )
}

fn compatibility() -> Section {
    let verdict = |target: &str, verdict: &str, tone: Tone, why: &str| Row {
        cells: vec![Line::code(target), Line::plain(verdict).tone(tone), Line::plain(why)],
        details: vec![line("Driver 535.104 or newer, by libcudart 12.6.")],
    };
    let rows = vec![
        verdict("gpu:a100-80", "runs", Tone::Good, "Machine code for sm_80."),
        verdict("gpu:h200", "runs-with-jit", Tone::Unsure, "PTX of compute_80 is compiled when it starts."),
        verdict("gpu:a10g", "fails", Tone::Bad, "No code for sm_86, and no PTX that is older."),
    ];
    section(
        Part::Compatibility,
        "1 of 3 fails",
        vec![table(&["Target", "Verdict", "Why"], rows, 0, "targets")],
    )
}

fn layers() -> Section {
    let rows = (0..26)
        .map(|at| {
            row(vec![
                Line::plain(at.to_string()),
                Line::code("RUN /bin/sh -c apt-get update && apt-get install -y --no-install-recommends libcublas-12-6"),
                Line::plain(format!("{}.2 MiB", at * 37)),
                Line::plain(format!("{}.9 MiB", at * 77)),
                Line::plain(if at % 5 == 0 { "12.1 MiB" } else { "0 B" }),
                Line::plain(format!("{},022", at * 3)),
            ])
        })
        .collect();
    let titles = ["##", "Instruction", "#Compressed", "#Content", "#Wasted", "#Files"];
    section(Part::Layers, "26 layers", vec![table(&titles, rows, 0, "layers")])
}

fn files() -> Section {
    let rows = (1..=12)
        .map(|at| {
            let sign = [("+", Tone::Added), ("−", Tone::Removed), ("~", Tone::Changed)][at % 3];
            row(vec![
                Line::plain(format!("{} {at}0 MiB", sign.0)).tone(sign.1),
                Line::code(format!(
                    "/opt/conda/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn_engines_precompiled.so.{at}"
                )),
                Line::plain("wheel"),
            ])
        })
        .collect();
    section(Part::Files, "", vec![table(&["#Change", "Path", "Brought by"], rows, 1204, "files")])
}

fn settings() -> Section {
    let long = "/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let facts = vec![
        ("PATH".to_owned(), Line::code(long)),
        ("NVIDIA_REQUIRE_CUDA".to_owned(), Line::code("cuda>=12.6 brand=tesla,driver>=535,driver<536")),
        ("User".to_owned(), Line::plain("not set").tone(Tone::Weak)),
        ("Token".to_owned(), Line::code("<redacted>")),
    ];
    section(Part::Settings, "", vec![Block::Facts(facts)])
}

/// Every tone as a line, a value, a cell, plain and as code, short and long; every colour.
fn tones() -> Section {
    let long = "a text that is too long for a mark, and says what it means by its words";
    let mut rows = Vec::new();
    let mut blocks = Vec::new();
    for tone in TONES {
        let name = format!("{tone:?}");
        let cells = [Line::plain(&name), Line::code(&name), Line::plain(long), Line::plain("1,204")];
        rows.push(row(cells.map(|cell| cell.tone(tone)).to_vec()));
        blocks.push(Block::Line(Line::plain(format!("{name}: {long}")).tone(tone)));
        blocks.push(Block::Line(Line::code(format!("{name}: {long}")).tone(tone)));
    }
    let parts = COLOURS.into_iter().chain(["unheard-of"]).map(|colour| slice(colour, 100, colour)).collect();
    blocks.push(Block::Facts(
        TONES.map(|tone| (format!("{tone:?}"), Line::plain("value").tone(tone))).to_vec(),
    ));
    blocks.push(Block::Chart(Chart { title: "Every colour".to_owned(), parts }));
    blocks.push(table(&["Plain", "Code", "Long", "#Number"], rows, 1, "tones"));
    section(Part::Warnings, "every tone", blocks)
}

/// More than anybody looks at: rows with details, each with a table of its own.
pub(super) fn big(rows: usize) -> Page {
    let path =
        |at: usize| format!("/opt/conda/lib/python3.11/site-packages/package-{at}/module/file-{at}.so");
    let rows = (0..rows)
        .map(|at| Row {
            cells: vec![
                Line::code(path(at)),
                Line::plain(at.to_string()),
                Line::plain("safe").tone(Tone::Good),
            ],
            details: vec![table(&["Path"], vec![row(vec![Line::code(path(at))])], 0, "files")],
        })
        .collect();
    Page {
        title: "big".to_owned(),
        sections: vec![section(
            Part::Files,
            "",
            vec![table(&["Path", "#Bytes", "Verdict"], rows, 7, "files")],
        )],
        ..Page::default()
    }
}

/// Every text of the page is `text`.
pub(super) fn hostile(text: &str) -> Page {
    let line = || Line::plain(text);
    let all = TONES.iter().flat_map(|tone| [Line::plain(text).tone(*tone), Line::code(text).tone(*tone)]);
    let cells: Vec<Line> = all.collect();
    let columns = cells.iter().map(|_| Column { title: text.to_owned(), number: false }).collect();
    let blocks = vec![
        Block::Line(line()),
        Block::Heading(text.to_owned()),
        Block::Facts(vec![(text.to_owned(), line())]),
        Block::Chart(Chart {
            title: text.to_owned(),
            parts: vec![
                Slice { name: text.to_owned(), bytes: u64::MAX, colour: "wasted" },
                Slice { name: text.to_owned(), bytes: 1, colour: "system" },
            ],
        }),
        Block::Table(Table { columns, rows: vec![row(cells)], more: u64::MAX, noun: "rows" }),
        Block::Code("diff", format!("+{text}\n-{text}\n{text}")),
        Block::Code("dockerfile", text.to_owned()),
    ];
    let mut section = section(Part::Files, text, blocks.clone());
    section.blocks.push(Block::Fold(text.to_owned(), blocks.clone()));
    section.blocks.push(table(&["What"], vec![Row { cells: vec![line()], details: blocks }], 0, "rows"));
    Page {
        title: text.to_owned(),
        generator: text.to_owned(),
        facts: vec![text.to_owned()],
        lead: vec![line()],
        sections: vec![section.clone(), section],
    }
}
