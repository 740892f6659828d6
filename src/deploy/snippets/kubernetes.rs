//! A pod and a job.

use std::fmt::Write as _;

use super::SnippetInput;
use super::quote::{comment, list, quoted};

/// A pod, and a job with the same container.
pub(super) fn write(input: &SnippetInput) -> String {
    let mut text = comment("A pod, and a job with the same container: keep one.");
    text += &input.remarks();
    let is_gke = input.profile == "gke";
    if input.uses_cuda && no_machine(input, is_gke) {
        text += &comment(
            "No GPU of the catalog is known to run the image: the pod may be placed on any GPU node.",
        );
    }
    text += "apiVersion: v1\nkind: Pod\nmetadata:\n";
    line(&mut text, 2, &format!("name: {}", quoted(&input.name)));
    text += "spec:\n";
    pod(&mut text, 2, input, is_gke);
    text += "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n";
    line(&mut text, 2, &format!("name: {}", quoted(&input.name)));
    text += "spec:\n  backoffLimit: 1\n  template:\n    spec:\n      restartPolicy: Never\n";
    pod(&mut text, 6, input, is_gke);
    text
}

fn no_machine(input: &SnippetInput, is_gke: bool) -> bool {
    if is_gke { input.gke.is_empty() } else { input.products.is_empty() }
}

fn line(text: &mut String, indent: usize, line: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{:indent$}{line}", "").ok();
}

/// The fields of a pod specification.
fn pod(text: &mut String, indent: usize, input: &SnippetInput, is_gke: bool) {
    let mut at = |more: usize, content: &str| line(text, indent + more, content);
    at(0, "containers:");
    at(2, &format!("- name: {}", quoted(&input.name)));
    at(4, &format!("image: {}", quoted(input.image())));
    // Kubernetes expands $(NAME) in both.
    let literal =
        |words: &[String]| words.iter().map(|word| word.replace("$(", "$$(")).collect::<Vec<String>>();
    if !input.entrypoint.is_empty() {
        at(4, &format!("command: {}", list(&literal(&input.entrypoint))));
    }
    if !input.command.is_empty() {
        at(4, &format!("args: {}", list(&literal(&input.command))));
    }
    if !input.ports.is_empty() {
        at(4, "ports:");
        for (port, udp) in &input.ports {
            at(6, &format!("- containerPort: {port}"));
            if *udp {
                at(8, "protocol: UDP");
            }
        }
    }
    let environment = environment(input);
    if !environment.is_empty() {
        at(4, "env:");
        for (name, value) in environment {
            at(6, &format!("- name: {name}"));
            at(8, &format!("value: {}", quoted(&value.replace("$(", "$$("))));
        }
    }
    if let Some((user, group)) = input.user {
        at(4, "securityContext:");
        at(6, &format!("runAsUser: {user}"));
        if let Some(group) = group {
            at(6, &format!("runAsGroup: {group}"));
        }
    }
    if !input.uses_cuda {
        return;
    }
    at(4, "resources:");
    at(6, "limits:");
    at(8, "nvidia.com/gpu: 1");
    if is_gke {
        if let Some(first) = input.gke.first() {
            at(0, "nodeSelector:");
            let others: Vec<&str> = input.gke.iter().skip(1).map(|one| one.name.as_str()).collect();
            if !others.is_empty() {
                at(2, &format!("# It also runs on: {}", others.join(", ")));
            }
            at(2, &format!("cloud.google.com/gke-accelerator: {}", quoted(&first.name)));
        }
    } else if !input.products.is_empty() {
        at(0, "affinity:");
        at(2, "nodeAffinity:");
        at(4, "requiredDuringSchedulingIgnoredDuringExecution:");
        at(6, "nodeSelectorTerms:");
        at(8, "- matchExpressions:");
        at(12, "- key: nvidia.com/gpu.product");
        at(14, "operator: In");
        at(14, "values:");
        for one in &input.products {
            at(16, &format!("- {}", quoted(&one.name)));
        }
    }
    at(0, "tolerations:");
    at(2, "- key: nvidia.com/gpu");
    at(4, "operator: Exists");
    at(4, "effect: NoSchedule");
}

/// Variables that the container needs on the platform.
fn environment(input: &SnippetInput) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if let Some(folder) = &input.driver_folder {
        let rest = input.loader_path.as_deref().filter(|path| !path.is_empty());
        all.push(("LD_LIBRARY_PATH", rest.map_or_else(|| folder.clone(), |rest| format!("{folder}:{rest}"))));
        // The tools of the driver, such as nvidia-smi, are beside its libraries.
        let tools = folder.rsplit_once('/').map(|(root, _)| format!("{root}/bin"));
        if let (Some(path), Some(tools)) = (input.path.as_deref().filter(|path| !path.is_empty()), tools) {
            all.push(("PATH", format!("{path}:{tools}")));
        }
    } else if let Some(capabilities) = input.capabilities.as_ref().filter(|_| input.profile != "gke") {
        all.push(("NVIDIA_DRIVER_CAPABILITIES", capabilities.clone()));
    }
    all
}
