//! The formats of `cutaway report`: they say the same, and none tells a secret.

mod agreement;
mod csv;
mod sarif;
mod saved;
mod scene;
mod secrets;

use serde_json::Value;

use crate::support::Place;

/// Formats as the command line has them, with a name for messages.
const FORMATS: [(&str, &[&str]); 8] = [
    ("text", &["--format", "text"]),
    ("json", &["--format", "json"]),
    ("markdown", &["--format", "markdown"]),
    ("html", &["--format", "html"]),
    ("sarif", &["--format", "sarif"]),
    ("csv", &["--format", "csv"]),
    ("libraries", &["--format", "csv", "--table", "libraries"]),
    ("layers", &["--format", "csv", "--table", "layers"]),
];

/// What `cutaway report` prints of an image or a saved report.
fn printed(place: &Place, image: &str, options: &[&str]) -> String {
    let outcome = place.run(&[&["report", image], options].concat());
    assert!(!outcome.stdout.is_empty(), "{image} {options:?}: {}", outcome.stderr);
    outcome.stdout
}

fn json_of(place: &Place, image: &str, options: &[&str]) -> Value {
    serde_json::from_str(&printed(place, image, &[options, &["--format", "json"]].concat())).unwrap()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}
