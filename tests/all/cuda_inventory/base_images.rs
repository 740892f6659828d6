//! The base image, told from settings and history.

use serde_json::{Value, json};

use super::{image, report_of};
use crate::fixtures::image::Image;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::CudaBase;
use crate::fixtures::tarball::{Member, file, tar};
use crate::support::Report;

/// Tag, version, flavour, cuDNN, distribution with its name in tags, and layers.
struct Case {
    tag: &'static str,
    base: CudaBase<'static>,
    distribution: &'static str,
    layers: usize,
}

fn cases() -> Vec<Case> {
    let distributions = [
        ("12.4.1", ("ubuntu", "22.04"), "ubuntu22.04", "9.1.0.70-1", [5, 9, 11]),
        ("13.0.2", ("ubuntu", "24.04"), "ubuntu24.04", "9.14.0.64-1", [5, 9, 11]),
        ("12.4.1", ("rocky", "9.3"), "rockylinux9", "9.1.0.70-1", [6, 9, 10]),
        ("13.0.2", ("rocky", "9.6"), "rockylinux9", "9.14.0.64-1", [6, 9, 10]),
    ];
    let mut cases = Vec::new();
    for (version, distribution, name, cudnn, layers) in distributions {
        for (flavor, layers) in ["base", "runtime", "devel"].into_iter().zip(layers) {
            let plain = CudaBase { version, flavor, cudnn: None, distribution };
            let with = CudaBase { cudnn: Some(cudnn), ..plain };
            let tag = |middle: &str| -> &'static str { format!("{version}-{middle}{flavor}-{name}").leak() };
            cases.push(Case { tag: tag(""), base: plain, distribution: name, layers });
            if flavor != "base" {
                cases.push(Case { tag: tag("cudnn-"), base: with, distribution: name, layers: layers + 1 });
            }
        }
    }
    cases
}

fn check(report: &Report, case: &Case) {
    let base = &report.json["image"]["base"];
    let tag = case.tag;
    assert_eq!(base["reference"], format!("nvidia/cuda:{tag}"), "{base:#}");
    assert_eq!(base["flavor"], case.base.flavor, "{tag}");
    assert_eq!(base["cuda_version"], case.base.version, "{tag}");
    let cudnn = case.base.cudnn.map(|version| version.trim_end_matches("-1"));
    assert_eq!(base["cudnn_version"], json!(cudnn), "{tag}");
    assert_eq!(base["distribution"], case.distribution, "{tag}");
    assert_eq!(base["layers"], case.layers, "{tag}: {base:#}");
    assert!(!base["evidence"].as_array().unwrap().is_empty());
    for (number, layer) in report.layers().iter().enumerate() {
        assert_eq!(layer["is_base"], number < case.layers, "{tag}, layer {number}");
    }
}

#[test]
fn every_flavour_of_nvidias_images_is_recognised() {
    for case in cases() {
        check(&report_of(&case.base.image()), &case);
    }
}

#[test]
fn what_is_built_on_top_is_no_part_of_the_base() {
    let added = |image: Image| {
        let mut image = image
            .step("ENV HF_HOME=/models")
            .layer("WORKDIR /app", &tar([file("app/.keep", "")]))
            .layer(
                "RUN /bin/sh -c echo NVIDIA_DRIVER_CAPABILITIES=all >> /etc/environment # buildkit",
                &tar([file("etc/environment", "x")]),
            )
            .layer("COPY . /app # buildkit", &tar([file("app/main.py", "x = 1")]));
        image.config["Env"].as_array_mut().unwrap().push(json!("HF_HOME=/models"));
        image.config["Entrypoint"] = json!(["python3", "main.py"]);
        image
    };
    for case in cases() {
        let report = report_of(&added(case.base.image()));
        assert_eq!(report.layers().len(), case.layers + 3);
        check(&report, &case);
    }
}

#[test]
fn the_history_of_the_classic_builder_says_the_same() {
    for case in cases() {
        let mut image = case.base.image();
        for (created_by, empty) in &mut image.history {
            let plain = created_by.trim_end_matches(" # buildkit");
            *created_by = match plain.strip_prefix("RUN ") {
                Some(command) => command.to_owned(),
                None if *empty => format!("/bin/sh -c #(nop)  {plain}"),
                None => plain.to_owned(),
            };
        }
        check(&report_of(&image), &case);
    }
}

#[test]
fn without_history_the_usual_number_of_layers_is_taken() {
    for case in cases().into_iter().filter(|case| case.distribution.starts_with("ubuntu")) {
        let mut image = case.base.image().layer("COPY . /app # buildkit", &tar([file("app/main.py", "x")]));
        image.history.clear();
        check(&report_of(&image), &case);
    }
}

#[test]
fn images_of_frameworks_are_told_by_their_settings() {
    let cases = [
        (vec!["NVIDIA_PYTORCH_VERSION=24.05", "CUDA_VERSION=12.4.1"], "nvcr.io/nvidia/pytorch:24.05-py3"),
        (vec!["NVIDIA_TRITON_SERVER_VERSION=25.10"], "nvcr.io/nvidia/tritonserver:25.10-py3"),
        (vec!["NODE_VERSION=22.1.0", "YARN_VERSION=1.22"], "node:22.1.0"),
    ];
    for (environment, reference) in cases {
        let mut image =
            image(Packing::Gzip, &[vec![file("etc/os-release", "ID=ubuntu\nVERSION_ID=\"22.04\"\n")]]);
        image.config = json!({"Env": environment});
        let base = &report_of(&image).json["image"]["base"];
        assert_eq!((&base["reference"], &base["flavor"]), (&json!(reference), &json!("none")));
    }
}

#[test]
fn an_image_of_python_has_no_flavour_of_cuda() {
    let release = "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
    let mut python = Image::new(Packing::Gzip)
        .layer("# debian.sh --arch 'amd64' out/ 'bookworm'", &tar([file("etc/os-release", release)]))
        .step("ENV PYTHON_VERSION=3.12.8")
        .layer(
            "RUN /bin/sh -c set -eux; apt-get update # buildkit",
            &tar([file("usr/local/bin/python3.12", "x")]),
        );
    python.config = json!({"Env": [
        "PATH=/usr/local/bin:/usr/bin:/bin", "GPG_KEY=7169605F62C751356D054A26A821E680E5FA6305",
        "PYTHON_VERSION=3.12.8", "PYTHON_SHA256=c909157bb25ec114",
    ]});
    let report = report_of(&python);
    let base = &report.json["image"]["base"];
    assert_eq!(base["reference"], "python:3.12.8");
    assert_eq!((&base["flavor"], &base["cuda_version"]), (&json!("none"), &Value::Null));
    assert_eq!(base["cudnn_version"], Value::Null);
    assert!(!base.to_string().contains("nvidia"), "{base:#}");
}

#[test]
fn the_slim_variant_of_an_image_has_no_headers_of_the_c_library() {
    let list = |name: &str| file(format!("var/lib/dpkg/info/{name}.list"), "/.\n");
    let of = |id: &str, lists: Vec<Member>| {
        let release = file("etc/os-release", format!("ID={id}\nVERSION_ID=\"12\"\n"));
        let mut python = Image::new(Packing::Gzip)
            .layer("# debian.sh --arch 'amd64' out/ 'bookworm'", &tar([vec![release], lists].concat()))
            .layer("RUN make install # buildkit", &tar([file("usr/local/bin/python3.12", "x")]))
            .step("CMD [\"python3\"]")
            .layer("RUN apt-get install -y libc6-dev", &tar([list("libc6-dev:amd64")]));
        python.config = json!({"Env": ["GPG_KEY=7169605F62C7", "PYTHON_VERSION=3.12.8"], "Cmd": ["serve"]});
        report_of(&python).json["image"]["base"]["reference"].clone()
    };
    assert_eq!(of("debian", vec![list("libc6:amd64")]), "python:3.12.8-slim");
    assert_eq!(of("debian", vec![list("libc6:amd64"), list("libc6-dev:amd64")]), "python:3.12.8");
    // Not known.
    assert_eq!(of("debian", Vec::new()), "python:3.12.8");
    assert_eq!(of("alpine", Vec::new()), "python:3.12.8-alpine");
}

#[test]
fn images_of_languages_end_with_their_own_command() {
    let cases = [
        (vec!["GPG_KEY=7169605F62C7", "PYTHON_VERSION=3.12.8"], vec!["CMD [\"python3\"]"]),
        (
            vec!["NODE_VERSION=22.1.0", "YARN_VERSION=1.22"],
            vec!["ENTRYPOINT [\"docker-entrypoint.sh\"]", "CMD [\"node\"]"],
        ),
    ];
    for (environment, settings) in cases {
        for prefix in ["", "/bin/sh -c #(nop)  "] {
            let step = |image: Image, text: &str| image.step(&format!("{prefix}{text}"));
            let release = file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
            let image = Image::new(Packing::Gzip).layer("# debian.sh", &tar([release]));
            let image = step(image, "CMD [\"bash\"]")
                .layer("RUN make install # buildkit", &tar([file("usr/local/bin/x", "x")]));
            let image = settings.iter().fold(image, |image, text| step(image, text));
            let image = image.layer("RUN pip install flask # buildkit", &tar([file("srv/y", "y")]));
            let mut image = step(image, "CMD [\"serve\"]");
            image.config = json!({"Env": environment, "Cmd": ["serve"]});
            let report = report_of(&image);
            let is_base: Vec<&Value> = report.layers().iter().map(|layer| &layer["is_base"]).collect();
            assert_eq!(is_base, [&json!(true), &json!(true), &json!(false)], "{environment:?}");
        }
    }
}

#[test]
fn a_distribution_alone_is_its_own_image() {
    let release = "ID=debian\nVERSION_ID=\"12\"\n";
    let report =
        report_of(&image(Packing::Gzip, &[vec![file("etc/os-release", release)], vec![file("app/x", "x")]]));
    let base = &report.json["image"]["base"];
    assert_eq!((&base["reference"], &base["flavor"]), (&json!("debian:12"), &json!("none")));
    let is_base: Vec<&Value> = report.layers().iter().map(|layer| &layer["is_base"]).collect();
    assert_eq!(is_base, [&json!(true), &json!(false)]);
}

#[test]
fn an_image_that_says_nothing_has_no_base() {
    let report = report_of(&image(Packing::Gzip, &[vec![file("app/x", "x")], vec![file("app/y", "y")]]));
    assert_eq!(report.json["image"]["base"], Value::Null);
    assert!(report.layers().iter().all(|layer| layer["is_base"] == Value::Null));
}
