//! Lines to paste: valid for their platforms whatever the image says.

use cutaway::deploy::snippets::{MachineName, PLACEHOLDER, SnippetFormat, SnippetInput, snippet};
use serde::Deserialize;
use serde_json::{Value, json};

use super::yaml::documents;

/// A text that ends strings, lines and documents in every format.
const HOSTILE: &str = "\"'\\ $HOME $(id) `id` #: - {}[]\n---\n\t\u{85}\u{2028}\u{feff}\u{202e}\u{7}\u{1f600}";

fn machine(name: &str) -> MachineName {
    MachineName { name: name.to_owned(), gpu: "L4 (8.9)".to_owned() }
}

fn input(profile: &str) -> SnippetInput {
    SnippetInput {
        profile: profile.to_owned(),
        reference: Some("ghcr.io/me/app:1".to_owned()),
        name: "app".to_owned(),
        entrypoint: vec!["python".to_owned(), HOSTILE.to_owned()],
        command: vec![HOSTILE.to_owned()],
        user: Some((1000, Some(100))),
        ports: vec![(53, true), (8000, false)],
        uses_cuda: true,
        azure: vec![machine("Standard_NC4as_T4_v3"), machine("Standard_NC24ads_A100_v4")],
        cerebrium: vec![machine("ADA_L4"), machine("AMPERE_A10")],
        gke: vec![machine("nvidia-l4"), machine("nvidia-tesla-t4")],
        products: vec![machine("NVIDIA-L4"), machine("Tesla-T4")],
        python: Some("3.12".to_owned()),
        pip: vec![
            ("torch".to_owned(), "2.9.1+cu128".to_owned()),
            ("uvicorn".to_owned(), "0.38.0".to_owned()),
        ],
        ..SnippetInput::default()
    }
}

// A strict mirror of the fields of Kubernetes' API that are written. k8s-openapi has the types of the whole API, which
// take minutes to compile, and ignores unknown keys; these refuse them.

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Object {
    api_version: String,
    kind: String,
    metadata: Metadata,
    spec: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct JobSpec {
    backoff_limit: i32,
    template: Template,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Template {
    spec: PodSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PodSpec {
    restart_policy: Option<String>,
    containers: Vec<Container>,
    node_selector: Option<std::collections::BTreeMap<String, String>>,
    affinity: Option<Affinity>,
    tolerations: Vec<Toleration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Container {
    name: String,
    image: String,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    ports: Vec<Port>,
    #[serde(default)]
    env: Vec<Variable>,
    security_context: Option<SecurityContext>,
    resources: Resources,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Port {
    container_port: u16,
    protocol: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Variable {
    name: String,
    value: String,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SecurityContext {
    run_as_user: i64,
    run_as_group: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resources {
    /// Quantities.
    limits: std::collections::BTreeMap<String, u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Affinity {
    node_affinity: NodeAffinity,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct NodeAffinity {
    required_during_scheduling_ignored_during_execution: Terms,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Terms {
    node_selector_terms: Vec<Term>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Term {
    match_expressions: Vec<Expression>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expression {
    key: String,
    operator: String,
    values: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toleration {
    key: String,
    operator: String,
    effect: String,
}

/// The pod specifications of pod and job.
fn pods(text: &str) -> [PodSpec; 2] {
    let all = documents(text);
    assert_eq!(all.len(), 2, "{text}");
    let objects: Vec<Object> = all.into_iter().map(|one| serde_json::from_value(one).unwrap()).collect();
    let kinds: Vec<(&str, &str)> =
        objects.iter().map(|one| (one.api_version.as_str(), one.kind.as_str())).collect();
    assert_eq!(kinds, [("v1", "Pod"), ("batch/v1", "Job")]);
    assert!(objects.iter().all(|one| one.metadata.name == "app"));
    let [pod, job] = objects.try_into().ok().unwrap();
    let pod: PodSpec = serde_json::from_value(pod.spec).unwrap();
    let job: JobSpec = serde_json::from_value(job.spec).unwrap();
    assert_eq!((job.backoff_limit, job.template.spec.restart_policy.as_deref()), (1, Some("Never")));
    [pod, job.template.spec]
}

#[test]
fn pod_and_job_ask_for_a_gpu_on_nodes_that_run_the_image() {
    for pod in pods(&snippet(SnippetFormat::Kubernetes, &input("kubernetes"))) {
        let [container] = &pod.containers[..] else { panic!("one container") };
        assert_eq!((container.name.as_str(), container.image.as_str()), ("app", "ghcr.io/me/app:1"));
        // Kubernetes would expand $(id).
        let literal = HOSTILE.replace("$(", "$$(");
        assert_eq!(container.command, ["python", &literal]);
        assert_eq!(container.args, [literal]);
        let ports = [
            Port { container_port: 53, protocol: Some("UDP".into()) },
            Port { container_port: 8000, protocol: None },
        ];
        assert_eq!(container.ports, ports);
        assert_eq!(
            container.security_context,
            Some(SecurityContext { run_as_user: 1000, run_as_group: Some(100) })
        );
        assert_eq!(container.resources.limits.get("nvidia.com/gpu"), Some(&1));
        assert!(container.env.is_empty() && pod.node_selector.is_none());
        let terms = pod.affinity.unwrap().node_affinity.required_during_scheduling_ignored_during_execution;
        let expression = &terms.node_selector_terms[0].match_expressions[0];
        assert_eq!((expression.key.as_str(), expression.operator.as_str()), ("nvidia.com/gpu.product", "In"));
        assert_eq!(expression.values, ["NVIDIA-L4", "Tesla-T4"]);
        let toleration = &pod.tolerations[0];
        let told = (toleration.key.as_str(), toleration.operator.as_str(), toleration.effect.as_str());
        assert_eq!(told, ("nvidia.com/gpu", "Exists", "NoSchedule"));
    }
}

#[test]
fn gke_gets_its_node_selector_and_environment() {
    let input = SnippetInput {
        driver_folder: Some("/usr/local/nvidia/lib64".to_owned()),
        loader_path: Some("/opt/lib".to_owned()),
        path: Some("/usr/bin".to_owned()),
        ..input("gke")
    };
    for pod in pods(&snippet(SnippetFormat::Kubernetes, &input)) {
        let selector = pod.node_selector.unwrap();
        assert_eq!(selector.get("cloud.google.com/gke-accelerator").map(String::as_str), Some("nvidia-l4"));
        assert!(pod.affinity.is_none());
        let env: Vec<(&str, &str)> =
            pod.containers[0].env.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect();
        let wanted = [
            ("LD_LIBRARY_PATH", "/usr/local/nvidia/lib64:/opt/lib"),
            ("PATH", "/usr/bin:/usr/local/nvidia/bin"),
        ];
        assert_eq!(env, wanted);
    }
}

#[test]
fn cerebrium_installs_cuda_with_wheels_or_takes_the_image() {
    let wheels = SnippetInput { cuda_in_wheels: true, ..input("cerebrium") };
    let text = snippet(SnippetFormat::Cerebrium, &wheels);
    let made: toml::Table = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let root = &made["cerebrium"];
    assert_eq!(root["deployment"]["docker_base_image_url"].as_str(), Some("debian:bookworm-slim"));
    assert_eq!(root["deployment"]["python_version"].as_str(), Some("3.12"));
    assert_eq!(root["hardware"]["compute"].as_str(), Some("ADA_L4"));
    assert_eq!(root["hardware"]["gpu_count"].as_integer(), Some(1));
    assert_eq!(root["dependencies"]["pip"]["torch"].as_str(), Some("==2.9.1"));
    let entrypoint: Vec<&str> = root["runtime"]["custom"]["entrypoint"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    assert_eq!(entrypoint, ["python", HOSTILE, HOSTILE]);
    assert_eq!(root["runtime"]["custom"]["port"].as_integer(), Some(8000));
    // What Cutaway writes, it finds nothing wrong with.
    let file = cutaway::deploy::files::read(text.as_bytes()).unwrap();
    assert_eq!(cutaway::deploy::files::judge(&file, None, cutaway::cuda::catalog::Catalog::builtin()), []);
    let whole: toml::Table = snippet(SnippetFormat::Cerebrium, &input("cerebrium")).parse().unwrap();
    let root = &whole["cerebrium"];
    assert_eq!(root["deployment"]["docker_base_image_url"].as_str(), Some("ghcr.io/me/app:1"));
    assert!(root.get("dependencies").is_none());
}

/// The schema of Azure ML environments and online deployments, as far as documented (CLI v2 YAML schema).
fn azure_schema() -> jsonschema::Validator {
    let route = json!({
        "type": "object", "additionalProperties": false, "required": ["path", "port"],
        "properties": { "path": { "type": "string" }, "port": { "type": "integer", "minimum": 1, "maximum": 65535 } },
    });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "oneOf": [
            {
                "type": "object", "additionalProperties": false, "required": ["$schema", "name"],
                "oneOf": [{ "required": ["image"] }, { "required": ["build"] }],
                "properties": {
                    "$schema": { "const": "https://azuremlschemas.azureedge.net/latest/environment.schema.json" },
                    "name": { "type": "string", "pattern": "^[a-z][a-z0-9-]*$" },
                    "version": { "type": "string" },
                    "description": { "type": "string" },
                    "tags": { "type": "object" },
                    "image": { "type": "string" },
                    "conda_file": { "type": ["string", "object"] },
                    "build": {
                        "type": "object", "additionalProperties": false, "required": ["path"],
                        "properties": { "path": { "type": "string" }, "dockerfile_path": { "type": "string" } },
                    },
                    "os_type": { "enum": ["linux", "windows"] },
                    "inference_config": {
                        "type": "object", "additionalProperties": false,
                        "required": ["liveness_route", "readiness_route", "scoring_route"],
                        "properties": { "liveness_route": route, "readiness_route": route, "scoring_route": route },
                    },
                },
                "dependentRequired": { "conda_file": ["image"] },
            },
            {
                "type": "object", "additionalProperties": false,
                "required": ["$schema", "name", "endpoint_name", "environment", "instance_type", "instance_count"],
                "properties": {
                    "$schema": { "const": "https://azuremlschemas.azureedge.net/latest/managedOnlineDeployment.schema.json" },
                    "name": { "type": "string" },
                    "endpoint_name": { "type": "string", "pattern": "^[a-z][a-z0-9-]*$" },
                    "environment": { "type": "string", "pattern": "^azureml:" },
                    "instance_type": { "type": "string" },
                    "instance_count": { "type": "integer", "minimum": 1 },
                },
            },
        ],
    });
    jsonschema::draft202012::new(&schema).unwrap()
}

#[test]
fn azure_gets_environments_and_a_size_that_runs_the_image() {
    let schema = azure_schema();
    for input in [input("azureml"), SnippetInput { ports: Vec::new(), uses_cuda: false, ..input("azureml") }]
    {
        let text = snippet(SnippetFormat::AzureMl, &input);
        let all = documents(&text);
        assert_eq!(all.len(), 3, "{text}");
        for one in &all {
            let faults: Vec<String> = schema.iter_errors(one).map(|error| error.to_string()).collect();
            assert!(faults.is_empty(), "{faults:?}\n{text}");
        }
        assert_eq!(all[0]["image"], "ghcr.io/me/app:1");
        assert_eq!(all[1]["build"]["path"], ".");
        let size = if input.uses_cuda { "Standard_NC4as_T4_v3" } else { "Standard_DS3_v2" };
        assert_eq!(all[2]["instance_type"], size);
        assert!(!input.uses_cuda || text.contains("#   Standard_NC24ads_A100_v4: L4 (8.9)"), "{text}");
    }
}

#[test]
fn docker_and_compose_start_the_image() {
    let lacking = SnippetInput { capabilities: Some("compute,utility".to_owned()), ..input("docker") };
    let line = snippet(SnippetFormat::Docker, &lacking);
    assert_eq!(
        line,
        "docker run --rm --gpus all --env NVIDIA_DRIVER_CAPABILITIES=compute,utility --publish 53:53/udp --publish \
         8000:8000 --user 1000:100 ghcr.io/me/app:1\n"
    );
    let all = documents(&snippet(SnippetFormat::Compose, &lacking));
    let literal = HOSTILE.replace('$', "$$");
    let wanted = json!([{ "services": { "app": {
        "image": "ghcr.io/me/app:1",
        "entrypoint": ["python", literal],
        "command": [literal],
        "user": "1000:100",
        "ports": ["53:53/udp", "8000:8000"],
        "environment": { "NVIDIA_DRIVER_CAPABILITIES": "compute,utility" },
        "deploy": { "resources": { "reservations": { "devices": [
            { "driver": "nvidia", "count": 1, "capabilities": ["gpu"] }
        ] } } },
    } } }]);
    assert_eq!(Value::Array(all), wanted);
}

#[test]
fn an_image_without_a_name_gets_a_placeholder() {
    for format in SnippetFormat::ALL {
        let text = snippet(*format, &SnippetInput { reference: None, ..input("kubernetes") });
        assert!(
            text.contains(PLACEHOLDER) && text.contains("# The image has no name at a registry"),
            "{text}"
        );
    }
}
