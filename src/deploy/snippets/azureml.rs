//! Azure ML: an environment by image and one by build context, and an online deployment.

use std::fmt::Write as _;

use super::SnippetInput;
use super::quote::{comment, quoted};

const SCHEMAS: &str = "https://azuremlschemas.azureedge.net/latest";
/// VM sizes listed in a comment.
const LISTED: usize = 40;
/// Length of the name of an endpoint (azure-ai-ml, `validate_endpoint_or_deployment_name`).
const ENDPOINT: std::ops::RangeInclusive<usize> = 3..=32;

/// Three documents, each a file of its own for `az ml`.
pub(super) fn write(input: &SnippetInput) -> String {
    let mut text = input.remarks();
    text += &comment("environment.yml, by image: az ml environment create --file environment.yml");
    header(&mut text, "environment", &input.name);
    // Writing to a string cannot fail.
    writeln!(text, "image: {}", quoted(input.image())).ok();
    if let Some((port, _)) = input.ports.iter().find(|(_, udp)| !udp) {
        text += &comment("Routes of an online endpoint: write the paths of the service.");
        text += "inference_config:\n";
        for route in ["liveness_route", "readiness_route", "scoring_route"] {
            writeln!(text, "  {route}:\n    path: \"/\"\n    port: {port}").ok();
        }
    } else {
        text += &comment(
            "The image exposes no port: an online deployment needs inference_config here, or code_configuration below.",
        );
    }
    text += "---\n";
    text += &comment("environment-build.yml, the same by build context: the folder with the Dockerfile");
    header(&mut text, "environment", &format!("{}-build", input.name));
    text += "build:\n  path: \".\"\n  dockerfile_path: \"Dockerfile\"\n";
    text += "---\n";
    text += &comment("deployment.yml: az ml online-deployment create --file deployment.yml");
    header(&mut text, "managedOnlineDeployment", "blue");
    writeln!(text, "endpoint_name: {}", quoted(&endpoint(&input.name))).ok();
    writeln!(text, "environment: {}", quoted(&format!("azureml:{}@latest", input.name))).ok();
    sizes(&mut text, input);
    text += "instance_count: 1\n";
    text
}

/// The name of a deployment as that of an endpoint. Names have ASCII letters, digits and `-` only.
fn endpoint(name: &str) -> String {
    let short = name.get(..*ENDPOINT.end()).unwrap_or(name).trim_end_matches('-');
    if short.len() < *ENDPOINT.start() { format!("{short}-app") } else { short.to_owned() }
}

fn header(text: &mut String, schema: &str, name: &str) {
    writeln!(text, "$schema: {SCHEMAS}/{schema}.schema.json\nname: {}", quoted(name)).ok();
}

fn sizes(text: &mut String, input: &SnippetInput) {
    if !input.uses_cuda {
        *text += &comment("The image does not use CUDA: any size runs it.");
        *text += "instance_type: Standard_DS3_v2\n";
        return;
    }
    let Some(first) = input.azure.first() else {
        *text +=
            &comment("No VM size of the catalog is known to run the image: write one with an NVIDIA GPU.");
        *text += "instance_type: \"\"\n";
        return;
    };
    *text += &comment("VM sizes that run the image:");
    for size in input.azure.iter().take(LISTED) {
        *text += &comment(&format!("  {}: {}", size.name, size.gpu));
    }
    if input.azure.len() > LISTED {
        *text += &comment(&format!("  and {} more", input.azure.len() - LISTED));
    }
    writeln!(text, "instance_type: {}", quoted(&first.name)).ok();
}
