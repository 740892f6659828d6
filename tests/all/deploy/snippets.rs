//! Lines to paste: valid for their platforms whatever the image says.

use cutaway::deploy::snippets::{MachineName, PLACEHOLDER, SnippetFormat, SnippetInput, snippet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, PodSpec};
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

/// A document as a type of Kubernetes' API. The types ignore unknown keys: what is written anew must be the same.
fn object<T: serde::de::DeserializeOwned + serde::Serialize>(mut value: Value) -> T {
    // The API server takes numbers as quantities, its schema says text.
    for of in ["/spec/containers/0/resources/limits", "/spec/template/spec/containers/0/resources/limits"] {
        for limit in value.pointer_mut(of).and_then(Value::as_object_mut).into_iter().flatten() {
            *limit.1 = limit.1.to_string().into();
        }
    }
    let object: T = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&object).unwrap(), value);
    object
}

/// The pod specifications of pod and job.
fn pods(text: &str) -> [PodSpec; 2] {
    let [pod, job] = documents(text).try_into().unwrap_or_else(|_| panic!("not two documents: {text}"));
    let (pod, job): (Pod, Job) = (object(pod), object(job));
    assert_eq!([&pod.metadata.name, &job.metadata.name], [&Some("app".to_owned()); 2]);
    let job = job.spec.unwrap();
    let of_job = job.template.spec.unwrap();
    assert_eq!((job.backoff_limit, of_job.restart_policy.as_deref()), (Some(1), Some("Never")));
    [pod.spec.unwrap(), of_job]
}

#[test]
fn pod_and_job_ask_for_a_gpu_on_nodes_that_run_the_image() {
    for pod in pods(&snippet(SnippetFormat::Kubernetes, &input("kubernetes"))) {
        let [container] = &pod.containers[..] else { panic!("one container") };
        assert_eq!((container.name.as_str(), container.image.as_deref()), ("app", Some("ghcr.io/me/app:1")));
        // Kubernetes would expand $(id).
        let literal = HOSTILE.replace("$(", "$$(");
        assert_eq!(container.command, Some(vec!["python".to_owned(), literal.clone()]));
        assert_eq!(container.args, Some(vec![literal]));
        let ports: Vec<(i32, Option<&str>)> = container
            .ports
            .iter()
            .flatten()
            .map(|port| (port.container_port, port.protocol.as_deref()))
            .collect();
        assert_eq!(ports, [(53, Some("UDP")), (8000, None)]);
        let user = container.security_context.as_ref().map(|user| (user.run_as_user, user.run_as_group));
        assert_eq!(user, Some((Some(1000), Some(100))));
        let limits = container.resources.as_ref().and_then(|all| all.limits.as_ref()).unwrap();
        assert_eq!(limits["nvidia.com/gpu"].0, "1");
        assert!(container.env.is_none() && pod.node_selector.is_none());
        let affinity = pod.affinity.and_then(|all| all.node_affinity);
        let terms = affinity.and_then(|all| all.required_during_scheduling_ignored_during_execution).unwrap();
        let expression = &terms.node_selector_terms[0].match_expressions.as_ref().unwrap()[0];
        assert_eq!((expression.key.as_str(), expression.operator.as_str()), ("nvidia.com/gpu.product", "In"));
        assert_eq!(expression.values, Some(vec!["NVIDIA-L4".to_owned(), "Tesla-T4".to_owned()]));
        let toleration = &pod.tolerations.unwrap()[0];
        let told = [&toleration.key, &toleration.operator, &toleration.effect].map(Option::as_deref);
        assert_eq!(told, [Some("nvidia.com/gpu"), Some("Exists"), Some("NoSchedule")]);
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
        assert_eq!(pod.node_selector.unwrap()["cloud.google.com/gke-accelerator"], "nvidia-l4");
        assert!(pod.affinity.is_none());
        let env: Vec<(&str, Option<&str>)> = pod.containers[0]
            .env
            .iter()
            .flatten()
            .map(|one| (one.name.as_str(), one.value.as_deref()))
            .collect();
        let wanted = [
            ("LD_LIBRARY_PATH", Some("/usr/local/nvidia/lib64:/opt/lib")),
            ("PATH", Some("/usr/bin:/usr/local/nvidia/bin")),
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
fn names_of_endpoints_have_the_length_that_azure_takes() {
    // azure-ai-ml, validate_endpoint_or_deployment_name: 3 to 32 letters, digits and hyphens, no hyphen at the end.
    for (name, endpoint) in
        [("a", "a-app"), ("a-service-of-thirty-one-letters-or-more", "a-service-of-thirty-one-letters")]
    {
        let text =
            snippet(SnippetFormat::AzureMl, &SnippetInput { name: name.to_owned(), ..input("azureml") });
        let all = documents(&text);
        assert_eq!((&all[0]["name"], &all[2]["endpoint_name"]), (&json!(name), &json!(endpoint)));
    }
    let silent = snippet(SnippetFormat::AzureMl, &SnippetInput { ports: Vec::new(), ..input("azureml") });
    assert!(silent.contains("# The image exposes no port: "), "{silent}");
}

#[test]
fn cerebrium_takes_an_image_without_packages_of_pip() {
    let binary = SnippetInput { uses_cuda: false, pip: Vec::new(), ..input("cerebrium") };
    let made: toml::Table = snippet(SnippetFormat::Cerebrium, &binary).parse().unwrap();
    let base = &made["cerebrium"]["deployment"]["docker_base_image_url"];
    assert_eq!(base.as_str(), Some("ghcr.io/me/app:1"), "its programs are in no other base image");
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
