//! `cerebrium.toml`.

use std::fmt::Write as _;

use super::SnippetInput;
use super::quote::{comment, list, quoted};

/// The leanest base image of Cerebrium's documentation.
const SLIM: &str = "debian:bookworm-slim";

pub(super) fn write(input: &SnippetInput) -> String {
    let mut text = String::new();
    // An image without packages of pip has programs that another base image lacks.
    let from_pip = (input.cuda_in_wheels || !input.uses_cuda) && !input.pip.is_empty();
    if !from_pip {
        text += &input.remarks();
    } else if input.redacted {
        text += &comment("The command of the image is not copied: it contains what looks like a secret.");
    }
    text += "[cerebrium.deployment]\n";
    // Writing to a string cannot fail.
    writeln!(text, "name = {}", quoted(&input.name)).ok();
    if let Some(python) = &input.python {
        writeln!(text, "python_version = {}", quoted(python)).ok();
    }
    if from_pip {
        if input.uses_cuda {
            text += &comment("CUDA comes with the wheels below: a base image without CUDA is enough.");
        }
        writeln!(text, "docker_base_image_url = {}", quoted(SLIM)).ok();
    } else {
        writeln!(text, "docker_base_image_url = {}", quoted(input.image())).ok();
    }
    if from_pip {
        text += &comment("The program's own files are uploaded from this folder, not taken from the image.");
    }
    text += "include = [\"./*\", \"main.py\", \"cerebrium.toml\"]\nexclude = [\".*\"]\n";
    hardware(&mut text, input);
    // Only what starts a server: without a port, Cerebrium runs the functions of main.py.
    if let Some((port, _)) = input.ports.iter().find(|(_, udp)| !udp) {
        let mut command: Vec<String> = input.entrypoint.iter().chain(&input.command).cloned().collect();
        // On another base image, programs are found by name.
        if let Some(first) = command.first_mut().filter(|first| from_pip && first.contains("/bin/")) {
            *first = first.rsplit('/').next().unwrap_or_default().to_owned();
        }
        text += "\n[cerebrium.runtime.custom]\n";
        if !command.is_empty() {
            writeln!(text, "entrypoint = {}", list(&command)).ok();
        }
        writeln!(text, "port = {port}").ok();
    }
    if from_pip {
        text += "\n";
        text += &comment("Packages of the image that no other package requires.");
        text += "[cerebrium.dependencies.pip]\n";
        for (name, version) in &input.pip {
            // PyPI has no local versions, such as +cu128.
            let (public, local) = version.split_once('+').unwrap_or((version, ""));
            if !local.is_empty() {
                text += &comment(&format!("{name} {version} in the image: not a version of PyPI"));
            }
            writeln!(text, "{} = {}", quoted(name), quoted(&format!("=={public}"))).ok();
        }
    }
    text
}

fn hardware(text: &mut String, input: &SnippetInput) {
    *text += "\n[cerebrium.hardware]\n";
    if !input.uses_cuda {
        *text += "compute = \"CPU\"\n";
    } else if let Some(first) = input.cerebrium.first() {
        let others: Vec<&str> = input.cerebrium.iter().skip(1).map(|one| one.name.as_str()).collect();
        if !others.is_empty() {
            *text += &comment(&format!("The image also runs on: {}", others.join(", ")));
        }
        writeln!(text, "compute = {}\ngpu_count = 1", quoted(&first.name)).ok();
    } else {
        *text += &comment(
            "No compute type of the catalog is known to run the image: write one with an NVIDIA GPU.",
        );
    }
    *text += &comment("What the service needs is not in the image: adjust.");
    *text += "cpu = 4\nmemory = 16.0\n";
}
