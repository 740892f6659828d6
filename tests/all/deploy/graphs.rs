//! CUDA Graphs: versions, switches, features, gains.

use cutaway::cuda::catalog::Catalog;
use cutaway::cuda::compat::CudaVersion;
use cutaway::deploy::graphs::{CaptureState, ConfigFile, CudaGraphs, Origin, Settings, StepGain, judge};

fn judged(frameworks: &[(&str, Option<&str>)], settings: &Settings<'_>) -> CudaGraphs {
    judge(Catalog::builtin(), frameworks, Vec::new(), CudaVersion::parse("12.4"), settings)
}

fn state(graphs: &CudaGraphs, name: &str) -> CaptureState {
    graphs.captures.iter().find(|one| one.name == name).unwrap().state
}

#[test]
fn versions_decide_and_unknown_stays_unknown() {
    let none = Settings::default();
    let of = |version| judged(&[("torch", version)], &none);
    assert_eq!(state(&of(Some("2.9.1+cu128")), "torch.cuda.graph"), CaptureState::Available);
    assert_eq!(state(&of(Some("1.13.1")), "torch.compile"), CaptureState::TooOld);
    assert_eq!(state(&of(Some("1.9.0")), "torch.cuda.graph"), CaptureState::TooOld);
    assert_eq!(state(&of(Some("1.10")), "torch.cuda.graph"), CaptureState::Available);
    assert_eq!(state(&of(None), "torch.cuda.graph"), CaptureState::Unknown);
    let vllm = judged(&[("vllm", Some("0.11.0"))], &none);
    assert_eq!(state(&vllm, "decode steps"), CaptureState::Automatic);
    // No source states the first version.
    let tensorrt = judged(&[("tensorrt", Some("10.3.0"))], &none);
    assert_eq!(state(&tensorrt, "stream capture"), CaptureState::Unknown);
    assert_eq!(vllm.files_searched, None);
}

#[test]
fn switches_are_found_in_environment_command_and_files() {
    let files = [
        ConfigFile {
            path: "/app/config.yaml".into(),
            text: "# enforce-eager: true\nmodel: x\nenforce-eager: true\n".into(),
        },
        ConfigFile {
            path: "/start.sh".into(),
            text: "export CUDA_LAUNCH_BLOCKING=1\nexec vllm serve -O.cudagraph_mode=NONE\n".into(),
        },
    ];
    let settings = Settings {
        environment: vec![("TORCH_COMPILE_DISABLE", "1"), ("XLA_FLAGS", "--xla_gpu_enable_command_buffer=")],
        command: vec!["vllm", "serve", "m", "--compilation-config", r#"{"cudagraph_mode": "NONE"}"#],
        files: Some(&files),
    };
    let graphs = judged(&[("torch", Some("2.9.1")), ("vllm", Some("0.11.0"))], &settings);
    let found: Vec<(&str, String)> =
        graphs.switches.iter().map(|one| (one.id.as_str(), one.origin.to_string())).collect();
    // XLA is not in the image.
    let wanted = [
        ("torch-compile-disable", "environment"),
        ("vllm-compilation-config", "command"),
        ("vllm-enforce-eager", "/app/config.yaml:3"),
        ("cuda-launch-blocking", "/start.sh:1"),
        ("vllm-cudagraph-mode", "/start.sh:2"),
    ];
    let found: Vec<(&str, &str)> = found.iter().map(|(id, origin)| (*id, origin.as_str())).collect();
    assert_eq!(found, wanted);
    assert_eq!(state(&graphs, "torch.compile"), CaptureState::Off);
    assert_eq!(state(&graphs, "decode steps"), CaptureState::Off);
    // What a capture does with CUDA_LAUNCH_BLOCKING is not documented.
    assert_eq!(state(&graphs, "torch.cuda.graph"), CaptureState::Unknown);
    assert_eq!(graphs.files_searched, Some(2));
}

#[test]
fn what_is_set_to_off_turns_nothing_off() {
    for (environment, command) in [
        (
            vec![("CUDA_LAUNCH_BLOCKING", "0"), ("TORCH_COMPILE_DISABLE", "0")],
            vec!["vllm", "--enforce-eager=False"],
        ),
        (vec![("CUDA_LAUNCH_BLOCKING", "")], vec!["vllm", "--enforce-eager", "false"]),
        (vec![], vec!["sh", "-c", "vllm serve --no-enforce-eager"]),
    ] {
        let settings = Settings { environment, command, files: Some(&[]) };
        let graphs = judged(&[("torch", Some("2.9.1")), ("vllm", Some("0.11.0"))], &settings);
        assert_eq!(graphs.switches, []);
    }
    let shell = Settings {
        command: vec!["sh", "-c", "CUDA_LAUNCH_BLOCKING=1 vllm serve --enforce-eager"],
        ..Settings::default()
    };
    let graphs = judged(&[("vllm", Some("0.11.0"))], &shell);
    let found: Vec<&str> = graphs.switches.iter().map(|one| one.setting.as_str()).collect();
    assert_eq!(found, ["CUDA_LAUNCH_BLOCKING=1", "--enforce-eager"]);
    assert!(graphs.switches.iter().all(|one| one.origin == Origin::Command));
}

#[test]
fn features_need_toolkit_and_driver() {
    let graphs = judged(&[("torch", Some("2.9.1"))], &Settings::default());
    let of = |id: &str| {
        let one = graphs.features.iter().find(|one| one.id == id).unwrap();
        (one.cuda.as_deref(), one.driver, one.in_image)
    };
    assert_eq!(of("capture"), (Some("10.0"), Some(410), Some(true)));
    assert_eq!(of("device-launch"), (Some("12.0"), Some(525), Some(true)));
    assert_eq!(of("conditional-nodes"), (Some("12.4"), Some(550), Some(true)));
    assert_eq!(of("else-switch"), (Some("12.8"), Some(570), Some(false)));
    let unknown = judge(Catalog::builtin(), &[], Vec::new(), CudaVersion::parse("12"), &Settings::default());
    assert!(unknown.features.iter().any(|one| one.id == "else-switch" && one.in_image.is_none()));
}

#[test]
fn a_step_gains_what_its_launches_cost() {
    let gain = StepGain::of(500, 2.5, 1.0);
    assert_eq!((gain.stream_us, gain.graph_us, gain.saved_us()), (1_250.0, 500.0, 750.0));
    assert!(StepGain::of(10, 1.0, 2.0).saved_us() < 0.0);
}
