//! Asks `tests/oracle/findings.py` about a report.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Place, Report};

/// The report of an image, which the walk in Python must find nothing wrong with. What it says comes back too.
pub(super) fn judge(place: &Place, beside: &Place, reference: &str, options: &[&str]) -> (Report, Value) {
    let report = place.report_with(reference, &["--platform", "linux/amd64"]);
    assert_eq!(report.code, 0, "{:#}", report.json["warnings"]);
    super::sums::check(&report);
    let file = beside.put("report.json", report.json.to_string());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/findings.py");
    let mut command = Command::new("python3");
    command.arg(script).args(options).args(["--platform", "linux/amd64", &file, reference]);
    let output = command.output().expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let said: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}{errors}"));
    assert_eq!(said["faults"], serde_json::json!([]), "{said:#}");
    (report, said)
}
