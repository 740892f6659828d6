use super::histories::{BUILDAH, BUILDAH_FILE, BUILDKIT, BUILDKIT_FILE, CLASSIC, CLASSIC_FILE};
use super::{Flavor, Keyword, Sample};

const DEVEL: &str = "nvidia/cuda:12.9.1-devel-ubuntu22.04";

fn buildkit() -> Sample {
    Sample::new(BUILDKIT).on(Some(DEVEL), Flavor::Devel, 3)
}

fn classic() -> Sample {
    Sample::new(CLASSIC).on(Some("ubuntu:22.04"), Flavor::None, 1)
}

#[test]
fn the_file_of_a_buildkit_image() {
    let recipe = buildkit().given(BUILDKIT_FILE).unwrap();
    assert_eq!(recipe.notes(), "");
    let expected: Vec<(Keyword, Vec<usize>)> = vec![
        (Keyword::Arg, vec![]),
        (Keyword::From, vec![]),
        (Keyword::Run, vec![]),
        (Keyword::From, vec![]),
        (Keyword::Arg, vec![8]),
        (Keyword::Env, vec![9]),
        (Keyword::WorkDir, vec![10]),
        (Keyword::From, vec![]),
        (Keyword::Copy, vec![11]),
        (Keyword::Run, vec![12]),
        (Keyword::Run, vec![13]),
        (Keyword::Copy, vec![14]),
        (Keyword::Expose, vec![15]),
        (Keyword::Healthcheck, vec![16]),
        (Keyword::Cmd, vec![17]),
    ];
    assert_eq!(recipe.entries(), expected);
    assert_eq!(recipe.ties[9].layers, [5]);
    assert_eq!(recipe.ties[9].content_bytes, Some(60));
    assert_eq!(recipe.base_layers, Some(3));
}

#[test]
fn the_file_of_the_old_builder() {
    let recipe = classic().given(CLASSIC_FILE).unwrap();
    assert_eq!(recipe.notes(), "");
    let entries: Vec<usize> = recipe.ties.iter().flat_map(|tie| tie.history.clone()).collect();
    assert_eq!(entries, (2..19).collect::<Vec<usize>>());
    assert_eq!(recipe.base_layers, Some(1));
}

#[test]
fn the_file_of_buildah() {
    let recipe = Sample::new(BUILDAH).given(BUILDAH_FILE).unwrap();
    assert_eq!(recipe.notes(), "");
    let entries: Vec<usize> = recipe.ties.iter().flat_map(|tie| tie.history.clone()).collect();
    // The base image has instructions of its own.
    assert_eq!(entries, (3..23).collect::<Vec<usize>>());
    assert_eq!(recipe.ties[11].layers, [1]);
    assert_eq!(recipe.base_layers, Some(1));
}

#[test]
fn instructions_may_be_merged_or_parted() {
    let sample = Sample::new(&[
        ("RUN /bin/sh -c base # buildkit", true, ""),
        ("ENV A=1", false, ""),
        ("ENV B=2 C=3", false, ""),
        ("LABEL io.buildah.version=1", false, ""),
        ("EXPOSE map[80/tcp:{}]", false, ""),
        ("EXPOSE map[443/tcp:{}]", false, ""),
        ("RUN /bin/sh -c echo ${A} # buildkit", true, ""),
    ])
    .on(Some("ubuntu:22.04"), Flavor::None, 1);
    let recipe =
        sample.given("FROM ubuntu:22.04\nENV A=1 B=2\nENV C=3\nEXPOSE 80 443\nRUN echo ${A}\n").unwrap();
    let entries: Vec<Vec<usize>> = recipe.ties.iter().map(|tie| tie.history.clone()).collect();
    assert_eq!(entries, [vec![], vec![1, 2], vec![2], vec![4, 5], vec![6]]);
    assert_eq!(recipe.notes(), "");
}

#[test]
fn a_line_that_was_changed_is_told() {
    let changed = BUILDKIT_FILE
        .replace("pip install -r requirements.txt", "pip install -r requirements.txt --no-cache-dir");
    let recipe = buildkit().given(&changed).unwrap();
    assert_eq!(recipe.ties[9].history, [12]);
    let notes = recipe.notes();
    assert!(notes.starts_with("10: `RUN apt-get update"), "{notes}");
    assert!(notes.contains("changed since the image was built"), "{notes}");
    // One added, and one removed.
    let added = BUILDKIT_FILE.replace("EXPOSE 8000\n", "RUN pip install flask\n");
    let notes = buildkit().given(&added).unwrap().notes();
    assert!(notes.contains("`RUN pip install flask` is not in the image's history"), "{notes}");
    let gone = BUILDKIT_FILE.replace("COPY requirements.txt .\n", "");
    let notes = buildkit().given(&gone).unwrap().notes();
    assert!(
        notes.contains("The image's history has `COPY requirements.txt .`, which is not in this file"),
        "{notes}"
    );
}

#[test]
fn a_file_of_another_image_is_noticed() {
    let other = "FROM nvidia/cuda:12.9.1-devel-ubuntu22.04\nWORKDIR /app\nRUN apt-get install -y ffmpeg\nCOPY main.py .\nRUN pip install flask\nEXPOSE 8000\nCMD [\"python3\", \"main.py\"]\n";
    let why = buildkit().foreign(other);
    assert!(why.contains("2 of its 6 instructions that leave a trace are in the image's history"), "{why}");
    assert!(why.contains("`RUN apt-get install -y ffmpeg` (line 3) is not"), "{why}");
    // Another base image, and few matches.
    let elsewhere =
        BUILDKIT_FILE.replace("CUDA=12.9.1", "CUDA=12.4.1").replace("EXPOSE 8000", "RUN make world");
    let why = buildkit().foreign(&elsewhere);
    assert!(why.contains("it starts from nvidia/cuda:12.4.1-devel-ubuntu22.04"), "{why}");
    // The same, and everything else matches: the base was changed.
    let notes = buildkit().given(&BUILDKIT_FILE.replace("CUDA=12.9.1", "CUDA=12.4.1")).unwrap().notes();
    assert!(notes.contains("built on another base image"), "{notes}");
    // The file of the image that this one was built on.
    let below = "FROM ubuntu:22.04\nRUN apt-get install -y cuda-cudart-12-9\nRUN apt-mark hold ${NV_LIBCUBLAS_DEV_PACKAGE_NAME}\nENV LIBRARY_PATH=/usr/local/cuda/lib64/stubs\n";
    let why = buildkit().foreign(below);
    assert!(why.contains("are not in it, such as") || why.contains("0 of its 3"), "{why}");
}

#[test]
fn another_stage_may_be_the_one() {
    let more = format!("{BUILDKIT_FILE}FROM ubuntu:22.04\nRUN make test\nCOPY results /r\n")
        .replace("FROM common\n", "FROM common AS service\n");
    let why = buildkit().foreign(&more);
    assert!(why.contains("its stage service matches"), "{why}");
}

#[test]
fn first_lines_that_are_gone_are_told() {
    let gone = "FROM nvidia/cuda:12.9.1-devel-ubuntu22.04\nRUN <<EOF\nset -e\ncat > /etc/motd <<END\nhello\nEND\nEOF\nCOPY /build/out /app/out\nEXPOSE 8000\nHEALTHCHECK CMD true\nCMD [\"python3\", \"-m\", \"app\"]\n";
    let recipe = buildkit().given(gone).unwrap();
    assert_eq!(recipe.base_layers, Some(3));
    assert!(
        recipe.notes().contains("`COPY requirements.txt .`, which is not in this file"),
        "{}",
        recipe.notes()
    );
}

#[test]
fn bases_that_cannot_be_are_told() {
    let sample =
        |from: &str| buildkit().given(&BUILDKIT_FILE.replace("nvidia/cuda:${CUDA}-devel-ubuntu22.04", from));
    for fits in [
        "nvidia/cuda:12.9.1-devel-ubuntu22.04",
        "registry.example.org:5000/mirror/nvidia/cuda:12.9-devel-ubuntu22.04",
        "nvidia/cuda:12.9.1-devel-ubuntu22.04@sha256:0000",
        "docker.io/nvidia/cuda",
        "ubuntu:22.04",
        "example/own:latest",
        "$BASE",
    ] {
        assert_eq!(sample(fits).unwrap().notes(), "", "{fits}");
    }
    for other in [
        "nvidia/cuda:12.9.0-devel-ubuntu22.04",
        "nvidia/cuda:12.9.1-runtime-ubuntu22.04",
        "nvidia/cuda:12.9.1-devel-ubuntu24.04",
        "ubuntu:20.04",
    ] {
        assert!(sample(other).unwrap().notes().contains("another base image"), "{other}");
    }
}

#[test]
fn without_history_nothing_is_tied() {
    let sample = Sample::new(&[]).on(Some(DEVEL), Flavor::Devel, 3).layers(5);
    let recipe = sample.given(BUILDKIT_FILE).unwrap();
    assert!(recipe.ties.iter().all(|tie| tie.history.is_empty()));
    assert_eq!(recipe.base_layers, Some(3));
    assert!(recipe.notes().contains("no history"), "{}", recipe.notes());
    assert!(sample.foreign("FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\n").contains("starts from"));
}

#[test]
fn long_files_and_histories_cost_little() {
    let texts: Vec<String> =
        (0..20_000).map(|number| format!("RUN /bin/sh -c {} # buildkit", number % 7)).collect();
    let many: Vec<_> = texts.iter().map(|text| (text.as_str(), true, "")).collect();
    let sample = Sample::new(&many);
    let same = (0..20_000).map(|number| format!("RUN {}\n", number % 7)).collect::<Vec<_>>().concat();
    let recipe = sample.given(&format!("FROM a\n{same}")).unwrap();
    assert_eq!(recipe.ties[1].history, [0]);
    assert_eq!(recipe.ties[20_000].history, [19_999]);
    let other = (0..20_000).map(|number| format!("RUN {}\n", number % 11 + 5)).collect::<Vec<_>>().concat();
    assert!(sample.given(&format!("FROM a\n{other}")).is_err());
}
