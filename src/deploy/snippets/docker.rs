//! `docker run` and a compose file.

use std::fmt::Write as _;

use super::SnippetInput;
use super::quote::{list, quoted};
use crate::base::text::shell_words;

/// The line that starts the image. Entrypoint and command are those of the image.
pub(super) fn run(input: &SnippetInput) -> String {
    let mut words: Vec<String> = ["docker", "run", "--rm"].map(str::to_owned).into();
    if input.uses_cuda {
        words.extend(["--gpus", "all"].map(str::to_owned));
    }
    if let Some(capabilities) = input.capabilities.as_ref().filter(|_| input.uses_cuda) {
        words.extend(["--env".to_owned(), format!("NVIDIA_DRIVER_CAPABILITIES={capabilities}")]);
    }
    for (port, udp) in &input.ports {
        words.push("--publish".to_owned());
        words.push(format!("{port}:{port}{}", if *udp { "/udp" } else { "" }));
    }
    if let Some((user, group)) = input.user {
        words.push("--user".to_owned());
        words.push(group.map_or_else(|| user.to_string(), |group| format!("{user}:{group}")));
    }
    words.push(input.image().to_owned());
    format!("{}{}\n", input.remarks(), shell_words(&words))
}

/// A compose file with one service.
pub(super) fn compose(input: &SnippetInput) -> String {
    let mut text = input.remarks();
    // Compose expands $NAME in values.
    let literal =
        |words: &[String]| words.iter().map(|word| word.replace('$', "$$")).collect::<Vec<String>>();
    let mut line = |indent: usize, content: &str| {
        // Writing to a string cannot fail.
        writeln!(text, "{:indent$}{content}", "").ok();
    };
    line(0, "services:");
    line(2, &format!("{}:", quoted(&input.name)));
    line(4, &format!("image: {}", quoted(input.image())));
    if !input.entrypoint.is_empty() {
        line(4, &format!("entrypoint: {}", list(&literal(&input.entrypoint))));
    }
    if !input.command.is_empty() {
        line(4, &format!("command: {}", list(&literal(&input.command))));
    }
    if let Some((user, group)) = input.user {
        let user = group.map_or_else(|| user.to_string(), |group| format!("{user}:{group}"));
        line(4, &format!("user: {}", quoted(&user)));
    }
    if !input.ports.is_empty() {
        line(4, "ports:");
        for (port, udp) in &input.ports {
            line(6, &format!("- \"{port}:{port}{}\"", if *udp { "/udp" } else { "" }));
        }
    }
    if let Some(capabilities) = input.capabilities.as_ref().filter(|_| input.uses_cuda) {
        line(4, "environment:");
        let literal = capabilities.replace('$', "$$");
        line(6, &format!("NVIDIA_DRIVER_CAPABILITIES: {}", quoted(&literal)));
    }
    if input.uses_cuda {
        line(4, "deploy:");
        line(6, "resources:");
        line(8, "reservations:");
        line(10, "devices:");
        line(12, "- driver: nvidia");
        line(14, "count: 1");
        line(14, "capabilities: [gpu]");
    }
    text
}
