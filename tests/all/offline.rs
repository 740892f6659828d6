//! Keeps runs of the program on this machine, and away from the logins and settings of whoever runs the tests.

use std::process::Command;

/// A port at which nobody listens: what does not stay on this machine is sent there and fails at once.
pub const NOWHERE: &str = "http://127.0.0.1:9";

/// What says how registries are reached, and who asks.
const SETTINGS: [&str; 20] = [
    "ALL_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "CONTAINERS_REGISTRIES_CONF",
    "CUTAWAY_RATES_FILE",
    "CUTAWAY_REGISTRY_HOST",
    "CUTAWAY_REGISTRY_PASSWORD",
    "CUTAWAY_REGISTRY_TIMEOUT_MS",
    "CUTAWAY_REGISTRY_TOKEN",
    "CUTAWAY_REGISTRY_USERNAME",
    "DOCKER_AUTH_CONFIG",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "REGISTRY_AUTH_FILE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// Lets a program reach the loopback only, with none of the settings of whoever runs the tests.
pub fn offline(command: &mut Command) -> &mut Command {
    for name in SETTINGS {
        command.env_remove(name);
    }
    command
        .env("HTTP_PROXY", NOWHERE)
        .env("HTTPS_PROXY", NOWHERE)
        .env("NO_PROXY", "127.0.0.1,localhost")
        // Where podman keeps logins and its socket.
        .env("XDG_RUNTIME_DIR", "/nonexistent")
}
