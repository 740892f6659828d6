//! What does not fit in platform files, with lines; broken and hostile files.

use std::fmt::Write as _;

use cutaway::base::Platform;
use cutaway::cuda::catalog::Catalog;
use cutaway::cuda::compat::Needs;
use cutaway::deploy::files::{
    FILE_BYTES, FileError, FileFinding, FileKind, FileRule, JudgedImage, judge, read,
};
use cutaway::findings::Severity;

fn findings(text: &str) -> Vec<FileFinding> {
    judge(&read(text.as_bytes()).unwrap(), None, Catalog::builtin())
}

/// Rules with their severities and lines.
fn brief(text: &str) -> Vec<(FileRule, Severity, usize)> {
    findings(text).iter().map(|one| (one.rule, one.severity, one.at.line)).collect()
}

const CEREBRIUM: &str = r#"[cerebrium.deployment]
name = "app"
docker_base_image_url = "BASE"
something_new = 1

[cerebrium.hardware]
compute = "COMPUTE"
gpu_count = 1

[cerebrium.dependencies.pip]
PIP
"#;

fn cerebrium(base: &str, compute: &str, pip: &str) -> String {
    CEREBRIUM.replace("BASE", base).replace("COMPUTE", compute).replace("PIP", pip)
}

const DEVEL: &str = "nvidia/cuda:12.1.1-devel-ubuntu22.04";
const RUNTIME: &str = "nvidia/cuda:12.1.1-runtime-ubuntu22.04";
const SLIM: &str = "debian:bookworm-slim";

#[test]
fn torch_from_pip_has_cuda_twice_on_a_cuda_base() {
    let devel = findings(&cerebrium(DEVEL, "AMPERE_A10", "torch = \"latest\""));
    assert_eq!(devel.len(), 1, "{devel:?}");
    let one = &devel[0];
    assert_eq!((one.rule, one.severity, one.at.line), (FileRule::CudaTwice, Severity::High, 3));
    assert_eq!(one.key, "cerebrium.deployment.docker_base_image_url");
    assert_eq!(one.fix.as_deref(), Some("docker_base_image_url = \"debian:bookworm-slim\" would do."));
    assert!(one.text.contains("torch") && one.text.contains(DEVEL), "{}", one.text);
    assert!(one.evidence[0].contains("wheels torch 2.9.1"), "{:?}", one.evidence);
    let runtime = brief(&cerebrium(RUNTIME, "AMPERE_A10", "torch = \"latest\""));
    assert_eq!(runtime, [(FileRule::CudaTwice, Severity::Medium, 3)]);
    assert_eq!(brief(&cerebrium(SLIM, "AMPERE_A10", "torch = \"latest\"")), []);
    // The build for the CPU has no CUDA: then nothing is known to need the base's.
    let cpu = brief(&cerebrium(DEVEL, "AMPERE_A10", "torch = \"2.9.1+cpu\""));
    assert_eq!(cpu, [(FileRule::DevelBase, Severity::Medium, 3)]);
}

#[test]
fn packages_beyond_four_are_counted() {
    let of = |names: &[&str]| {
        let pip: Vec<String> = names.iter().map(|name| format!("{name} = \"latest\"")).collect();
        findings(&cerebrium(DEVEL, "AMPERE_A10", &pip.join("\n")))[0].text.clone()
    };
    let all = ["torch", "torchvision", "torchaudio", "xformers", "bitsandbytes", "triton"];
    let six = of(&all);
    assert!(
        six.starts_with(
            "CUDA comes in the wheels of torch, torchvision, torchaudio, xformers and 2 more, and"
        ),
        "{six}"
    );
    let four = of(&all[..4]);
    assert!(
        four.starts_with("CUDA comes in the wheels of torch, torchvision, torchaudio, xformers, and"),
        "{four}"
    );
}

#[test]
fn what_calls_nvcc_decides_about_devel() {
    let pip = "torch = \"2.6.0\"\nflash_attn = \"2.7.4\"";
    let kept = findings(&cerebrium(DEVEL, "HOPPER_H100", pip));
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!((kept[0].rule, kept[0].severity), (FileRule::DevelBase, Severity::Info));
    assert!(
        kept[0].text.starts_with("nvcc compiles flash-attn 2.7.4 during installation"),
        "{}",
        kept[0].text
    );
    let missing = brief(&cerebrium(SLIM, "HOPPER_H100", pip));
    assert_eq!(missing, [(FileRule::NvccMissing, Severity::High, 3)]);
    // A wheel by URL builds nothing.
    let url = "flash_attn = \"https://example.com/flash_attn-2.7.4-cp312.whl\"";
    assert_eq!(brief(&cerebrium(SLIM, "HOPPER_H100", url)), []);
    let at_run = brief(&cerebrium(RUNTIME, "HOPPER_H100", "deepspeed = \"latest\""));
    assert_eq!(at_run, [(FileRule::NvccMissing, Severity::Medium, 3)]);
    let dockerfile = cerebrium(DEVEL, "HOPPER_H100", "torch = \"latest\"")
        + "[cerebrium.runtime.custom]\nport = 80\ndockerfile_path = \"./Dockerfile\"\n";
    assert_eq!(brief(&dockerfile), [(FileRule::NotChecked, Severity::Info, 14)]);
}

#[test]
fn libraries_of_the_system_need_a_base_with_them() {
    let missing = brief(&cerebrium(SLIM, "ADA_L4", "onnxruntime-gpu = \"1.20.0\""));
    assert_eq!(missing, [(FileRule::CudaMissing, Severity::High, 3)]);
    assert_eq!(brief(&cerebrium(SLIM, "ADA_L4", "\"onnxruntime-gpu[cuda,cudnn]\" = \"1.20.0\"")), []);
    assert_eq!(brief(&cerebrium(RUNTIME, "ADA_L4", "onnxruntime-gpu = \"1.20.0\"")), []);
    let smaller = findings(&cerebrium(DEVEL, "ADA_L4", "onnxruntime-gpu = \"1.20.0\""));
    assert_eq!(smaller[0].fix.as_deref(), Some(&*format!("{RUNTIME} would do.")));
    let apt = cerebrium(
        SLIM,
        "ADA_L4",
        "torch = \"latest\"\n[cerebrium.dependencies.apt]\nlibcudnn9-cuda-12 = \"latest\"",
    );
    assert_eq!(brief(&apt), [(FileRule::CudaTwice, Severity::Medium, 13)]);
}

#[test]
fn compute_that_torch_or_the_base_has_no_code_for() {
    let torch = findings(&cerebrium(SLIM, "BLACKWELL_B200", "torch = \"==2.6.0\""));
    assert_eq!(torch.len(), 1, "{torch:?}");
    assert_eq!(
        (torch[0].rule, torch[0].severity, torch[0].at.line),
        (FileRule::GpuNotSupported, Severity::High, 7)
    );
    assert_eq!(torch[0].key, "cerebrium.hardware.compute");
    assert_eq!(brief(&cerebrium(SLIM, "BLACKWELL_B200", "torch = \"==2.9.1\"")), []);
    // Unknown versions prove nothing.
    assert_eq!(brief(&cerebrium(SLIM, "BLACKWELL_B200", "torch = \">=2.0\"")), []);
    let old = "nvidia/cuda:11.4.3-runtime-ubuntu20.04";
    assert_eq!(brief(&cerebrium(old, "HOPPER_H100", "")), [(FileRule::GpuNotSupported, Severity::Medium, 7)]);
    assert_eq!(brief(&cerebrium(SLIM, "AMPERE_X9", "")), [(FileRule::UnknownMachine, Severity::Info, 7)]);
    assert_eq!(brief(&cerebrium(RUNTIME, "CPU", "")), [(FileRule::NoGpu, Severity::Medium, 7)]);
}

#[test]
fn azure_environments_keep_their_schema() {
    let text = "$schema: https://azuremlschemas.azureedge.net/latest/environment.schema.json
image: nvidia/cuda:12.1.1-devel-ubuntu22.04
build: {dockerfile_path: x}
unknown_key: 1
conda_file:
  dependencies:
    - python=3.10
    - cudatoolkit=11.8
    - pip:
        - torch==2.9.1
inference_config:
  scoring_route: {path: /score, port: 80}
  liveness_route: {path: /}
";
    assert_eq!(read(text.as_bytes()).unwrap().kind, FileKind::AzureEnvironment);
    let found = brief(text);
    let wanted = [
        (FileRule::MissingKey, Severity::High, 1),
        (FileRule::CudaTwice, Severity::High, 2),
        (FileRule::MissingKey, Severity::High, 3),
        (FileRule::KeyConflict, Severity::High, 3),
        (FileRule::CudaTwice, Severity::Medium, 8),
        (FileRule::MissingKey, Severity::High, 12),
        (FileRule::MissingKey, Severity::High, 13),
    ];
    for one in wanted {
        assert!(found.contains(&one), "{one:?} is not in {found:?}");
    }
    let lone = brief("$schema: https://x/environment.schema.json\nname: a\nconda_file: conda.yml\n");
    assert_eq!(lone, [(FileRule::MissingKey, Severity::High, 3)]);
}

/// An image for CUDA 12.1 that is for arm64 or not.
fn needs(architecture: &str) -> Needs {
    let platform = Platform { os: "linux".into(), architecture: architecture.into(), variant: None };
    let environment = vec![("NVIDIA_REQUIRE_CUDA".to_owned(), "cuda>=99.0".to_owned())];
    Needs { platform: Some(platform), uses_cuda: true, environment, ..Needs::default() }
}

fn judged(text: &str, needs: &Needs, environment: &[(String, String)]) -> Vec<FileFinding> {
    let image = JudgedImage { reference: None, needs, environment };
    judge(&read(text.as_bytes()).unwrap(), Some(&image), Catalog::builtin())
}

#[test]
fn retired_gpus_are_reported_without_an_image() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  nodeSelector:\n    \
                cloud.google.com/gke-accelerator: GPU\n  containers:\n  - name: a\n    image: example.com/app:1\n";
    let of = |gpu: &str| {
        let file = read(text.replace("GPU", gpu).as_bytes()).unwrap();
        judge(&file, None, Catalog::builtin()).iter().map(|one| (one.rule, one.at.line)).collect::<Vec<_>>()
    };
    assert!(of("nvidia-tesla-k80").contains(&(FileRule::RetiredMachine, 7)));
    assert!(of("nvidia-l4").iter().all(|(rule, _)| *rule != FileRule::RetiredMachine));
}

#[test]
fn names_of_node_labels_are_checked_whichever_image_was_read() {
    let text = "apiVersion: v1
kind: Pod
spec:
  nodeSelector:
    cloud.google.com/gke-accelerator: nvidia-tesla-k80
    nvidia.com/gpu.product: NVIDIA-Z9
  containers:
    - {name: a, image: app}
    - {name: b, image: app}
";
    let file = read(text.as_bytes()).unwrap();
    let of = |image: Option<&JudgedImage<'_>>| {
        let found = judge(&file, image, Catalog::builtin()).into_iter();
        let names = [FileRule::RetiredMachine, FileRule::UnknownMachine];
        found.filter(|one| names.contains(&one.rule)).map(|one| (one.rule, one.at.line)).collect::<Vec<_>>()
    };
    let wanted = [(FileRule::RetiredMachine, 5), (FileRule::UnknownMachine, 6)];
    assert_eq!(of(None), wanted);
    let needs = needs("amd64");
    for reference in [None, Some("app"), Some("other")] {
        let image = JudgedImage { reference, needs: &needs, environment: &[] };
        assert_eq!(of(Some(&image)), wanted, "{reference:?}");
    }
}

#[test]
fn instance_types_are_judged_by_the_image() {
    let text =
        "name: blue\nendpoint_name: e\nenvironment:\n  image: example.com/app:1\ninstance_type: SIZE\n";
    let of = |size: &str| {
        let found = judged(&text.replace("SIZE", size), &needs("amd64"), &[]);
        found.iter().map(|one| (one.rule, one.severity, one.at.line)).collect::<Vec<_>>()
    };
    let gpu = of("Standard_NC24ads_A100_v4");
    assert_eq!(gpu, [(FileRule::GpuNotSupported, Severity::High, 5)], "the driver is below CUDA 99");
    let retired = of("standard_nc6s_v3");
    assert!(retired.contains(&(FileRule::RetiredMachine, Severity::Medium, 5)), "{retired:?}");
    assert!(gpu.iter().all(|(rule, ..)| *rule != FileRule::RetiredMachine));
    assert_eq!(of("Standard_DS3_v2"), [(FileRule::NoGpu, Severity::High, 5)]);
    assert_eq!(of("Standard_ND96isr_MI300X_v5"), [(FileRule::NoGpu, Severity::High, 5)]);
    assert_eq!(of("Standard_NC999_X_v9"), [(FileRule::UnknownMachine, Severity::Info, 5)]);
}

const PODS: &str = "apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector:
    cloud.google.com/gke-accelerator: nvidia-l4
    kubernetes.io/arch: arm64
  containers:
    - name: main
      image: nvidia/cuda:12.4.1-base-ubuntu22.04
      env:
        - {name: LD_LIBRARY_PATH, value: /opt/lib}
---
apiVersion: batch/v1
kind: CronJob
spec:
  jobTemplate:
    spec:
      template:
        spec:
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                  - matchExpressions:
                      - key: nvidia.com/gpu.product
                        operator: In
                        values: [NVIDIA-L4, NVIDIA-Z9]
          containers:
            - name: b
              image: example.com/app
              resources:
                limits: {nvidia.com/gpu: 0.5}
                requests: {nvidia.com/gpu: 1}
              env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
";

#[test]
fn manifests_are_judged_by_name() {
    let found = brief(PODS);
    let wanted = [
        (FileRule::NoGpu, Severity::Medium, 10),
        (FileRule::DriverPath, Severity::High, 12),
        (FileRule::UnknownMachine, Severity::Info, 28),
        (FileRule::GpuQuantity, Severity::High, 33),
        (FileRule::GpuQuantity, Severity::High, 34),
        (FileRule::VisibleDevices, Severity::Medium, 35),
    ];
    for one in wanted {
        assert!(found.contains(&one), "{one:?} is not in {found:?}");
    }
    let file = read(PODS.as_bytes()).unwrap();
    let images: Vec<&str> = file.images.iter().map(|image| image.reference.as_str()).collect();
    assert_eq!(images, ["nvidia/cuda:12.4.1-base-ubuntu22.04", "example.com/app"]);
}

#[test]
fn manifests_are_judged_by_the_image() {
    let environment = [("LD_LIBRARY_PATH".to_owned(), "/usr/local/nvidia/lib64:/opt/x".to_owned())];
    let found = judged(PODS, &needs("amd64"), &environment);
    let has = |rule, line| found.iter().any(|one| one.rule == rule && one.at.line == line);
    assert!(has(FileRule::Architecture, 7), "{found:?}");
    assert!(has(FileRule::GpuNotSupported, 6) && has(FileRule::GpuNotSupported, 28), "{found:?}");
    assert!(has(FileRule::NoGpu, 10) && has(FileRule::DriverPath, 12), "{found:?}");
    // Without the variable, the image's own is in force.
    let own = PODS.replace("{name: LD_LIBRARY_PATH, value: /opt/lib}", "{name: A, value: b}");
    let found = judged(&own, &needs("arm64"), &environment);
    assert!(
        !found.iter().any(|one| matches!(one.rule, FileRule::DriverPath | FileRule::Architecture)),
        "{found:?}"
    );
    let found = judged(&own, &needs("arm64"), &[]);
    let path: Vec<&FileFinding> = found.iter().filter(|one| one.rule == FileRule::DriverPath).collect();
    assert_eq!((path.len(), path[0].at.line), (1, 10));
}

#[test]
fn aliases_and_merge_keys_are_resolved() {
    let text = "x: &gpu {limits: {nvidia.com/gpu: 1}}
y: &base
  image: nvidia/cuda:12.4.1-base-ubuntu22.04
  resources: *gpu
apiVersion: v1
kind: Pod
spec:
  tolerations: [{operator: Exists}]
  containers:
    - <<: *base
      name: a
";
    assert_eq!(brief(text), []);
    let without = text.replace("  resources: *gpu\n", "");
    assert_eq!(brief(&without), [(FileRule::NoGpu, Severity::Medium, 3)]);
}

#[test]
fn pods_are_found_behind_a_thousand_other_items_of_a_list() {
    let mut text = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
    for number in 0..1_500 {
        writeln!(text, "  - {{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{number}}}}}").unwrap();
    }
    text.push_str(
        "  - {apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: \"nvidia/cuda:12.4.1-base-ubuntu22.04\"}]}}\n",
    );
    assert_eq!(brief(&text), [(FileRule::NoGpu, Severity::Medium, 1_504)]);
}

#[test]
fn findings_beyond_a_thousand_are_counted() {
    let pods = |count: usize| {
        let items = (0..count).map(|number| {
            format!(
                "  - {{kind: Pod, spec: {{containers: [{{image: \"nvidia/cuda:12.4.{number}-base\"}}]}}}}\n"
            )
        });
        format!("apiVersion: v1\nkind: List\nitems:\n{}", items.collect::<String>())
    };
    let all = findings(&pods(1_000));
    assert!(all.len() == 1_000 && all.iter().all(|one| one.rule == FileRule::NoGpu), "{}", all.len());
    let more = findings(&pods(2_234));
    assert_eq!(more.len(), 1_001);
    assert_eq!(more[..1_000], all[..]);
    let last = &more[1_000];
    assert_eq!(last.text, "1,234 more findings are not shown.");
    let place = (last.rule, last.severity, last.at.line);
    assert_eq!(place, (FileRule::NotChecked, Severity::Medium, 1_004), "as severe as the worst of them");
    assert_eq!(findings(&pods(1_001))[1_000].text, "1 more finding is not shown.");
}

#[test]
fn broken_files_are_errors_with_line_and_column() {
    let at = |text: &str| read(text.as_bytes()).unwrap_err().position().map(|at| (at.line, at.column));
    assert_eq!(at("[cerebrium.deployment]\nname = \n"), Some((2, 8)));
    let (line, column) = at("apiVersion: v1\nkind: Pod\nspec: [1, }\n").unwrap();
    assert!(line == 3 && column > 6, "{line}:{column}");
    assert_eq!(read(b"a: 1\n").unwrap_err(), FileError::Unknown);
    assert_eq!(read(b"").unwrap_err(), FileError::Unknown);
    assert_eq!(read(b"a: 1\nb: \xff\n").unwrap_err(), FileError::NotText { line: 2 });
    let large = vec![b'#'; FILE_BYTES + 1];
    assert_eq!(read(&large).unwrap_err(), FileError::TooLarge { limit: FILE_BYTES });
}

#[test]
fn hostile_files_stay_within_their_bounds() {
    let deep = format!("a: {}1{}", "[".repeat(100), "]".repeat(100));
    assert!(matches!(read(deep.as_bytes()), Err(FileError::TooDeep { .. } | FileError::Syntax { .. })));
    let toml = format!("[cerebrium]\na = {}1{}", "[".repeat(100), "]".repeat(100));
    assert!(matches!(read(toml.as_bytes()), Err(FileError::TooDeep { .. } | FileError::Syntax { .. })));
    let mut laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        writeln!(laughs, "a{level}: &a{level} [{}]", [before.as_str(); 9].join(", ")).unwrap();
    }
    assert!(matches!(read(laughs.as_bytes()), Err(FileError::Expanded { .. })));
    let text = "x".repeat(100_000);
    let copies = format!("a: &a {text}\nb: [{}]\n", vec!["*a"; 2_000].join(", "));
    assert!(matches!(read(copies.as_bytes()), Err(FileError::Expanded { .. })));
    assert!(matches!(read(b"a: &a [*a]\n"), Err(FileError::Syntax { .. })));
    let nested = (1..80).fold("a0: &a0 [1]\n".to_owned(), |text, level| {
        format!("{text}a{level}: &a{level} [*a{}]\n", level - 1)
    });
    assert!(matches!(read(nested.as_bytes()), Err(FileError::TooDeep { .. })));
    let many = "---\na: 1\n".repeat(2_000);
    assert!(matches!(read(many.as_bytes()), Err(FileError::TooManyDocuments { .. })));
}

#[test]
fn other_files_and_commands_leave_open_what_is_installed() {
    let pip = "torch = \"latest\"\n[cerebrium.dependencies.paths]\npip = \"requirements.txt\"";
    let listed = findings(&cerebrium(DEVEL, "AMPERE_A10", pip));
    let text = &listed[0].text;
    assert!(text.ends_with("Unknown: what cerebrium.dependencies.paths.pip needs."), "{text}");
    let with = |base: &str, command: &str| {
        let file = cerebrium(base, "AMPERE_A10", "torch = \"latest\"");
        findings(&file.replace("something_new = 1", &format!("shell_commands = [{command:?}]")))
    };
    let other = with(DEVEL, "apt-get install -y ffmpeg");
    assert!(other[0].text.contains("cerebrium.deployment.shell_commands"), "{other:?}");
    let of = |found: &[FileFinding]| {
        found.iter().map(|one| (one.rule, one.severity, one.at.line)).collect::<Vec<_>>()
    };
    let compiles = "cd ops && /usr/local/cuda/bin/nvcc -shared -o ops.so ops.cu";
    assert_eq!(of(&with(DEVEL, compiles)), [(FileRule::DevelBase, Severity::Info, 3)]);
    assert_eq!(of(&with(SLIM, compiles)), [(FileRule::NvccMissing, Severity::High, 3)]);
    assert_eq!(of(&with(DEVEL, "bash -c 'nvcc -o a a.cu'")), [(FileRule::DevelBase, Severity::Info, 3)]);
    assert_eq!(of(&with(SLIM, "which nvcc || true")), []);
    let file = cerebrium(DEVEL, "AMPERE_A10", "torch = \"latest\"");
    let scalar = findings(&file.replace("something_new = 1", "shell_commands = \"nvcc a.cu\""));
    assert_eq!(of(&scalar), [(FileRule::DevelBase, Severity::Info, 3)]);
    let both = "shell_commands = [\"nvcc a.cu\", \"sh setup.sh\"]";
    let both = findings(&file.replace("something_new = 1", both));
    assert!(both[0].evidence.iter().any(|line| line.contains("shell_commands")), "{both:?}");
    let conda = "$schema: https://x/environment.schema.json
name: a
image: nvidia/cuda:12.1.1-devel-ubuntu22.04
conda_file: {dependencies: [{pip: [torch, -r requirements.txt]}]}
";
    let text = &findings(conda)[0].text;
    assert!(text.ends_with("Unknown: what conda_file.dependencies.pip needs."), "{text}");
    let azure = "mcr.microsoft.com/azureml/openmpi4.1.0-cuda11.8-cudnn8-ubuntu22.04";
    let of_azure = conda.replace("nvidia/cuda:12.1.1-devel-ubuntu22.04", azure);
    assert_eq!(of(&findings(&of_azure)), [(FileRule::CudaTwice, Severity::Medium, 3)]);
    let of_source = of_azure.replace("torch,", "flash-attn,");
    assert_eq!(of(&findings(&of_source)), [(FileRule::NotChecked, Severity::Info, 3)]);
}

#[test]
fn cuda_wheels_of_the_list_serve_what_has_none() {
    let runtime_alone = "onnxruntime-gpu = \"1.20.0\"\nnvidia-cuda-runtime-cu12 = \"12.4.127\"";
    assert_eq!(
        brief(&cerebrium(SLIM, "ADA_L4", runtime_alone)),
        [(FileRule::CudaMissing, Severity::High, 3)],
        "it has no cuBLAS"
    );
    for wheel in ["nvidia-cublas-cu12", "nvidia-cudnn-cu12"] {
        let pip = format!("onnxruntime-gpu = \"1.20.0\"\n{wheel} = \"12.4.5.8\"");
        assert_eq!(brief(&cerebrium(SLIM, "ADA_L4", &pip)), [], "{wheel}");
        assert_eq!(brief(&cerebrium(RUNTIME, "ADA_L4", &pip)), [(FileRule::CudaTwice, Severity::Medium, 3)]);
    }
}

#[test]
fn labels_of_nodes_name_the_platform() {
    let pod =
        "apiVersion: v1\nkind: Pod\nspec:\n  nodeSelector: {LABEL: x}\n  containers: [{name: a, image: b}]\n";
    for (label, profile) in [
        ("cloud.google.com/gke-accelerator", "gke"),
        ("cloud.google.com/gke-nodepool", "gke"),
        ("eks.amazonaws.com/nodegroup", "eks"),
        ("karpenter.k8s.aws/instance-gpu-name", "eks"),
        ("nvidia.com/gpu.product", "kubernetes"),
    ] {
        assert_eq!(read(pod.replace("LABEL", label).as_bytes()).unwrap().profile(), profile, "{label}");
    }
    assert_eq!(read(cerebrium(SLIM, "CPU", "").as_bytes()).unwrap().profile(), "cerebrium");
}

#[test]
fn what_is_not_judged_is_said() {
    let service = brief("apiVersion: v1\nkind: Service\nspec: {ports: [{port: 80}]}\n");
    assert_eq!(service, [(FileRule::NotChecked, Severity::Info, 2)]);
    let both = brief(&format!("apiVersion: v1\nkind: Service\n---\n{PODS}"));
    assert!(both.iter().all(|one| one.0 != FileRule::NotChecked), "{both:?}");
    let kserve = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nspec:\n  predictor:\n    containers:\n      - {name: a, image: 'nvidia/cuda:12.4.1-base-ubuntu22.04'}\n";
    assert_eq!(brief(kserve), [(FileRule::NoGpu, Severity::Medium, 6)]);
    let registered = "name: blue\nendpoint_name: e\nenvironment: azureml:env@latest\ninstance_type: Standard_NC24ads_A100_v4\n";
    assert_eq!(brief(registered), [(FileRule::NotChecked, Severity::Info, 3)]);
    let found = judged(registered, &needs("amd64"), &[]);
    assert_eq!(found.iter().map(|one| one.rule).collect::<Vec<_>>(), [FileRule::GpuNotSupported]);
}
