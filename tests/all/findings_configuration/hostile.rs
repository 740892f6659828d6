//! Images of some kilobytes that once cost gigabytes: what is told of them is bounded.

use serde_json::json;

use super::{configured, report};
use crate::fixtures::tarball::{Member, file, symlink};

/// Bytes of the report beyond which a bound is broken.
const MUCH: usize = 4 << 20;

fn small(members: Vec<Member>, config: serde_json::Value, commands: &[&str]) -> String {
    let mut image = configured(members, config);
    image.history = commands.iter().map(|command| ((*command).to_owned(), false)).collect();
    let text = report(&image).json.to_string();
    assert!(text.len() < MUCH, "{} bytes", text.len());
    text
}

#[test]
fn a_long_instruction_is_not_repeated_for_every_finding() {
    let site = "usr/lib/python3/dist-packages";
    let members = (0..2_000).map(|number| file(format!("{site}/p{number}/lib/libcudart_static.a"), "x"));
    small(members.collect(), json!({}), &[&format!("RUN {}", "x".repeat(1_000_000))]);
}

#[test]
fn a_long_name_of_a_variable_is_not_repeated_for_every_file() {
    let members = (0..500).map(|number| file(format!("opt/f{number}.so"), "x")).collect();
    let paths: Vec<String> = (0..500).map(|number| format!("/opt/f{number}.so")).collect();
    let environment = format!("{}={}", "A".repeat(500_000), paths.join(" "));
    let mut image = configured(members, json!({ "Env": [environment] }));
    image.history.clear();
    let findings = report(&image).json["findings"].to_string();
    assert!(findings.len() < MUCH, "{} bytes", findings.len());
}

#[test]
fn paths_in_variables_are_looked_up_with_bounds() {
    let mut members: Vec<Member> = (0..38)
        .map(|number| symlink(format!("l{number}"), format!("/{}l{}", "./".repeat(16_000), number + 1)))
        .collect();
    members.push(file("l38", "x"));
    members.push(file("usr/include/a.h", "x"));
    let names: Vec<String> = (0..20_000).map(|number| format!("/l{}/../l0", number % 38)).collect();
    let image = configured(members, json!({ "Env": [format!("A={}", names.join(" "))] }));
    let found = report(&image);
    // What was not looked up may have been the header.
    for finding in found.json["findings"].as_array().unwrap() {
        assert!(finding["rule"] != "headers" || finding["verdict"] != "safe", "{finding:#}");
    }
}

#[test]
fn the_password_of_a_url_in_a_search_path_is_not_shown() {
    let folders = "LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:https://u:hunter2@host/stubs";
    let members = vec![file("usr/local/cuda/lib64/stubs/libcuda.so", "x")];
    let text = small(members, json!({ "Env": [folders] }), &[]);
    assert!(!text.contains("hunter2"), "{text}");
}
