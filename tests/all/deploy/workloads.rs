//! Manifests of training, serving and batch operators: where their pods are.

use std::fmt::Write as _;

use cutaway::base::Platform;
use cutaway::cuda::catalog::Catalog;
use cutaway::cuda::compat::Needs;
use cutaway::deploy::files::{FileFinding, FileRule, JudgedImage, judge, read};
use cutaway::findings::Severity;

fn findings(text: &str) -> Vec<FileFinding> {
    judge(&read(text.as_bytes()).unwrap(), None, Catalog::builtin())
}

/// Line, key and severity of the findings of a rule.
fn of(text: &str, rule: FileRule) -> Vec<(usize, String, Severity)> {
    let found = findings(text).into_iter().filter(|one| one.rule == rule);
    found.map(|one| (one.at.line, one.key, one.severity)).collect()
}

fn no_gpu(text: &str) -> Vec<(usize, String, Severity)> {
    of(text, FileRule::NoGpu)
}

fn at(line: usize, key: &str, severity: Severity) -> (usize, String, Severity) {
    (line, key.to_owned(), severity)
}

const PYTORCH_JOB: &str = "apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: pytorch-simple
  namespace: kubeflow
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          containers:
            - name: pytorch
              image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
              command: [python3, /opt/pytorch-mnist/mnist.py, --epochs=1]
    Worker:
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          containers:
            - name: pytorch
              image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
";

#[test]
fn every_role_of_a_kubeflow_job_has_a_pod() {
    let specs = "spec.pytorchReplicaSpecs";
    let wanted = [
        at(15, &format!("{specs}.Master.template.spec.containers[0].image"), Severity::Medium),
        at(24, &format!("{specs}.Worker.template.spec.containers[0].image"), Severity::Medium),
    ];
    assert_eq!(no_gpu(PYTORCH_JOB), wanted);
    for (kind, specs) in
        [("TFJob", "tfReplicaSpecs"), ("XGBoostJob", "xgbReplicaSpecs"), ("PaddleJob", "paddleReplicaSpecs")]
    {
        let job = PYTORCH_JOB.replace("PyTorchJob", kind).replace("pytorchReplicaSpecs", specs);
        assert_eq!(no_gpu(&job).len(), 2, "{kind}");
    }
    let images = read(PYTORCH_JOB.as_bytes()).unwrap().images;
    assert_eq!(images.len(), 1, "{images:?}");
}

const MPI_JOB: &str = "apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: tensorflow-benchmarks}
spec:
  slotsPerWorker: 1
  runPolicy: {cleanPodPolicy: Running}
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template:
        spec:
          containers:
          - image: nvidia/cuda:12.4.1-runtime-ubuntu22.04
            name: launcher
            command: [mpirun, --allow-run-as-root, -np, \"2\", python, bench.py]
    Worker:
      replicas: 2
      template:
        spec:
          tolerations: [{key: nvidia.com/gpu, operator: Exists}]
          containers:
          - image: nvidia/cuda:12.4.1-runtime-ubuntu22.04
            name: worker
            resources: {limits: {nvidia.com/gpu: 1}}
";

#[test]
fn a_launcher_beside_workers_with_gpus_is_a_note() {
    let key = "spec.mpiReplicaSpecs.Launcher.template.spec.containers[0].image";
    assert_eq!(no_gpu(MPI_JOB), [at(13, key, Severity::Info)]);
    let without = MPI_JOB.replace("nvidia.com/gpu: 1", "cpu: 1");
    assert!(no_gpu(&without).iter().all(|one| one.2 == Severity::Medium), "{:?}", no_gpu(&without));
}

#[test]
fn leader_and_workers_of_a_set_have_pods() {
    let set = "apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: vllm}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    restartPolicy: RecreateGroupOnPodRestart
    leaderTemplate:
      metadata: {labels: {role: leader}}
      spec:
        containers:
          - name: vllm-leader
            image: docker.io/vllm/vllm-openai:v0.8.5
            resources:
              limits: {nvidia.com/gpu: 0.5}
    workerTemplate:
      spec:
        containers:
          - name: vllm-worker
            image: docker.io/vllm/vllm-openai:v0.8.5
            resources:
              requests: {nvidia.com/gpu: 8}
";
    let template = "spec.leaderWorkerTemplate";
    let wanted = [
        at(
            16,
            &format!("{template}.leaderTemplate.spec.containers[0].resources.limits[\"nvidia.com/gpu\"]"),
            Severity::High,
        ),
        at(
            23,
            &format!("{template}.workerTemplate.spec.containers[0].resources.requests[\"nvidia.com/gpu\"]"),
            Severity::High,
        ),
    ];
    assert_eq!(of(set, FileRule::GpuQuantity), wanted);
}

#[test]
fn replicated_jobs_have_pods() {
    let set = "apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: pytorch}
spec:
  replicatedJobs:
    - name: driver
      template:
        spec:
          template:
            spec:
              containers: [{name: driver, image: busybox}]
    - name: workers
      template:
        spec:
          parallelism: 4
          completions: 4
          template:
            spec:
              containers:
              - name: pytorch
                image: nvidia/cuda:12.4.1-runtime-ubuntu22.04
";
    let key = "spec.replicatedJobs[1].template.spec.template.spec.containers[0].image";
    assert_eq!(no_gpu(set), [at(21, key, Severity::Medium)]);
}

const RAY_CLUSTER: &str = "rayVersion: 2.46.0
headGroupSpec:
  rayStartParams: {}
  template:
    spec:
      containers:
        - {name: ray-head, image: 'example.com/ray-ml:2.46.0-cuda12.4'}
workerGroupSpecs:
  - groupName: gpu-group
    replicas: 1
    template:
      spec:
        nodeSelector:
          cloud.google.com/gke-accelerator: nvidia-z9
        containers:
          - {name: ray-worker, image: 'example.com/ray-ml:2.46.0-cuda12.4'}
";

#[test]
fn head_and_worker_groups_of_ray_have_pods() {
    for (kind, parents) in [
        ("RayCluster", &["spec"][..]),
        ("RayJob", &["spec", "rayClusterSpec"]),
        ("RayService", &["spec", "rayClusterConfig"]),
    ] {
        let mut text = format!("apiVersion: ray.io/v1\nkind: {kind}\n");
        for (depth, parent) in parents.iter().enumerate() {
            writeln!(text, "{}{parent}:", "  ".repeat(depth)).unwrap();
        }
        let lines = text.lines().count();
        for line in RAY_CLUSTER.lines() {
            writeln!(text, "{}{line}", "  ".repeat(parents.len())).unwrap();
        }
        let parent = parents.join(".");
        let head = format!("{parent}.headGroupSpec.template.spec.containers[0].image");
        let worker = format!("{parent}.workerGroupSpecs[0].template.spec");
        let wanted = [
            at(lines + 7, &head, Severity::Medium),
            at(lines + 16, &format!("{worker}.containers[0].image"), Severity::Medium),
        ];
        assert_eq!(no_gpu(&text), wanted, "{text}");
        let label = format!("{worker}.nodeSelector.cloud.google.com/gke-accelerator");
        assert_eq!(of(&text, FileRule::UnknownMachine), [at(lines + 14, &label, Severity::Info)]);
        assert_eq!(read(text.as_bytes()).unwrap().profile(), "gke");
    }
}

#[test]
fn the_model_of_a_predictor_is_a_container() {
    let service = "apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: huggingface-llama3}
spec:
  predictor:
    nodeSelector:
      nvidia.com/gpu.product: NVIDIA-Z9
    model:
      modelFormat: {name: huggingface}
      args: [--model_name=llama3]
      storageUri: hf://meta-llama/meta-llama-3-8b-instruct
      env:
        - {name: NVIDIA_VISIBLE_DEVICES, value: all}
      resources:
        limits: {nvidia.com/gpu: 1}
        requests: {nvidia.com/gpu: 2}
  transformer:
    containers:
      - name: kserve-container
        image: nvidia/cuda:12.4.1-base-ubuntu22.04
";
    let model = "spec.predictor.model";
    let quantity = format!("{model}.resources.requests[\"nvidia.com/gpu\"]");
    assert_eq!(of(service, FileRule::GpuQuantity), [at(16, &quantity, Severity::High)]);
    let devices = format!("{model}.env.NVIDIA_VISIBLE_DEVICES");
    assert_eq!(of(service, FileRule::VisibleDevices), [at(13, &devices, Severity::Medium)]);
    let product = "spec.predictor.nodeSelector.nvidia.com/gpu.product";
    assert_eq!(of(service, FileRule::UnknownMachine), [at(7, product, Severity::Info)]);
    assert_eq!(of(service, FileRule::Toleration), [at(6, "spec.predictor.tolerations", Severity::Info)]);
    assert_eq!(no_gpu(service), [at(20, "spec.transformer.containers[0].image", Severity::Info)]);
    assert!(of(service, FileRule::NotChecked).is_empty());
    let old = "apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
spec:
  predictor:
    triton: {image: 'nvidia/cuda:12.4.1-base-ubuntu22.04', storageUri: 'gs://b/m'}
";
    assert_eq!(no_gpu(old), [at(5, "spec.predictor.triton.image", Severity::Medium)]);
}

#[test]
fn runtimes_get_their_gpus_from_what_uses_them() {
    let runtime = "apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: kserve-huggingfaceserver}
spec:
  supportedModelFormats: [{name: huggingface, version: \"1\"}]
  containers:
    - {name: kserve-container, image: 'nvidia/cuda:12.4.1-base-ubuntu22.04'}
";
    assert_eq!(no_gpu(runtime), [at(7, "spec.containers[0].image", Severity::Info)]);
}

#[test]
fn patterns_and_schemas_are_no_pods() {
    let policy = "apiVersion: kyverno.io/v1
kind: ClusterPolicy
spec:
  rules:
    - name: no-cuda
      validate:
        pattern:
          spec:
            containers: [{image: 'nvidia/cuda:12.4.1-base-ubuntu22.04'}]
";
    let found = findings(policy);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].rule, found[0].at.line), (FileRule::NotChecked, 2));
}

#[test]
fn kinds_without_pods_are_named() {
    let list = "apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Service}
  - apiVersion: v1
    kind: ConfigMap
  - {apiVersion: v1, kind: Service}
";
    let found = findings(list);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].rule, found[0].at.line), (FileRule::NotChecked, 4));
    assert_eq!(found[0].text, "No pod specification found in Service, ConfigMap: nothing is checked.");
    let text = |kinds: &[&str]| {
        let documents: Vec<String> =
            kinds.iter().map(|kind| format!("apiVersion: v1\nkind: {kind}\n")).collect();
        findings(&documents.join("---\n"))[0].text.clone()
    };
    assert_eq!(
        text(&["Service", "Secret", "Role", "ConfigMap", "Ingress", "Secret", "Namespace"]),
        "No pod specification found in Service, Secret, Role, ConfigMap and 2 more: nothing is checked."
    );
    assert_eq!(text(&["List"]), "No pod specification found in List: nothing is checked.");
}

#[test]
fn a_model_without_an_image_is_judged_by_the_one_that_is_passed() {
    let service = "apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
spec:
  predictor:
    nodeSelector: {kubernetes.io/arch: arm64}
    model: {modelFormat: {name: onnx}, storageUri: 'gs://b/m'}
";
    let platform = Platform { os: "linux".into(), architecture: "amd64".into(), variant: None };
    let needs = Needs { platform: Some(platform), ..Needs::default() };
    let judged = |reference| {
        let image = JudgedImage { reference, needs: &needs, environment: &[] };
        let found = judge(&read(service.as_bytes()).unwrap(), Some(&image), Catalog::builtin());
        found.iter().map(|one| (one.rule, one.at.line)).collect::<Vec<_>>()
    };
    assert_eq!(judged(None), [(FileRule::Architecture, 5)]);
    assert_eq!(judged(Some("app")), []);
}

#[test]
fn long_keys_make_no_long_paths() {
    let key = "k".repeat(400_000);
    let pod = "{template: {spec: {containers: [{image: 'nvidia/cuda:12.4.1-base-ubuntu22.04'}]}}}";
    let of = |key: &str| {
        let pods = vec![pod; 3_000].join(", ");
        no_gpu(&format!("apiVersion: v1\nkind: Odd\nspec: {{{key}: [{pods}]}}\n")).len()
    };
    assert_eq!(of("jobs"), 1_000);
    assert_eq!(of(&key), 0);
}
