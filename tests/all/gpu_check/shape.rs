//! What holds for every document of schema `cutaway.gpu/1`: exactly these fields, of these kinds, and no two
//! that contradict each other.

use serde_json::{Value, json};

const STAGES: [&str; 14] = [
    "start",
    "library",
    "init",
    "driver",
    "devices",
    "context",
    "module",
    "memory",
    "launch",
    "verify",
    "stream-launches",
    "graph-capture",
    "graph-launches",
    "bandwidth",
];

/// Fields and kinds; `{"or null": …}` may be null, a kind with `?` too.
fn schema() -> Value {
    let nvml = json!({
        "brand": "text?", "memory_used_bytes": "count?", "mig_mode": "truth?", "compute_mode": "text?",
        "ecc_uncorrected": "count?", "temperature_c": "count?", "fabric": "text?",
    });
    let kernel = json!({
        "verdict": "text", "module_load_us": "count?", "launch_us": "count?", "elements": "count?",
        "max_abs_error": "number?", "tolerance": "number?",
    });
    let graph = json!({
        "launches": "count", "rounds": "count", "stream_us_per_launch": "number",
        "graph_us_per_launch": "number", "speedup": "number", "capture_us": "count?",
    });
    let bandwidth =
        json!({"host_to_device": "number?", "device_to_host": "number?", "device_to_device": "number?"});
    let device = json!({
        "index": "count", "name": "text", "compute_capability": "text", "memory_bytes": "count?",
        "multiprocessors": "count?", "uuid": "text?", "mig": "truth?", "integrated": "truth?",
        "nvml": {"or null": nvml}, "kernel_check": kernel, "graph": {"or null": graph},
        "bandwidth_gb_s": {"or null": bandwidth},
    });
    json!({
        "schema": "text",
        "generator": {"name": "text", "version": "text"},
        "available": "truth",
        "driver": {"or null": {
            "version": "text?", "cuda_version": "text?", "library_path": "text?", "found_by": "text?",
        }},
        "steps": [{"name": "text", "ok": "truth", "us": "count", "device": "count?", "detail": "text?"}],
        "devices": [device],
        "image": {"or null": {}},
        "error": {"or null": {
            "stage": "text", "code": "count?", "name": "text", "message": "text", "hint": "text?", "log": "text?",
        }},
        "tried": [{"path": "text", "outcome": "text"}],
        "notes": ["text"],
        "total_us": "count",
    })
}

/// Everything that is wrong with a document.
pub(super) fn faults(document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    compare("", document, &schema(), &mut faults);
    if faults.is_empty() {
        contradictions(document, &mut faults);
    }
    faults
}

fn compare(place: &str, value: &Value, schema: &Value, faults: &mut Vec<String>) {
    match schema {
        Value::String(kind) => {
            let (kind, nullable) = kind.strip_suffix('?').map_or((kind.as_str(), false), |kind| (kind, true));
            let fits = match kind {
                "text" => value.as_str().is_some_and(|text| !text.trim().is_empty()),
                "truth" => value.is_boolean(),
                "count" => value.is_u64(),
                _ => value.as_f64().is_some_and(|number| number.is_finite() && number >= 0.0),
            };
            let left_out = nullable && value.is_null();
            if !fits && !left_out {
                faults.push(format!("{place} is no {kind}: {value}"));
            }
        }
        Value::Array(items) => match value.as_array() {
            Some(values) => {
                for (index, value) in values.iter().enumerate() {
                    compare(&format!("{place}[{index}]"), value, &items[0], faults);
                }
            }
            None => faults.push(format!("{place} is no list: {value}")),
        },
        _ if schema.get("or null").is_some() => {
            if !value.is_null() {
                compare(place, value, &schema["or null"], faults);
            }
        }
        _ => fields(place, value, schema, faults),
    }
}

fn fields(place: &str, value: &Value, schema: &Value, faults: &mut Vec<String>) {
    let (Some(values), Some(expected)) = (value.as_object(), schema.as_object()) else {
        faults.push(format!("{place} is no object: {value}"));
        return;
    };
    for (name, schema) in expected {
        match values.get(name) {
            Some(value) => compare(&format!("{place}.{name}"), value, schema, faults),
            None => faults.push(format!("{place}.{name} is missing")),
        }
    }
    let unknown = values.keys().filter(|name| !expected.contains_key(*name));
    faults.extend(unknown.map(|name| format!("{place}.{name} is in no contract")));
}

fn contradictions(document: &Value, faults: &mut Vec<String>) {
    let steps = document["steps"].as_array().map_or(&[][..], Vec::as_slice);
    let devices = document["devices"].as_array().map_or(&[][..], Vec::as_slice);
    let error = &document["error"];
    let mut complain = |wrong: bool, what: String| faults.extend(wrong.then_some(what));
    complain(document["schema"] != "cutaway.gpu/1", format!("schema is {}", document["schema"]));
    complain(document["generator"]["name"] != "cutaway", format!("generator is {}", document["generator"]));

    let passed = devices.iter().any(|device| device["kernel_check"]["verdict"] == "pass");
    complain(document["available"] == true && !passed, "available, and no device passed".to_owned());
    complain(
        document["available"] == false && error.is_null(),
        "not available, and nobody says why".to_owned(),
    );
    let failed: Vec<&Value> = steps.iter().filter(|step| step["ok"] == false).collect();
    complain(error.is_null() && !failed.is_empty(), format!("a failed step without an error: {failed:?}"));
    let blamed = failed.iter().any(|step| step["name"] == error["stage"]);
    complain(!error.is_null() && !blamed, format!("no failed step for the error of {}", error["stage"]));

    // Each device goes through the stages in order.
    let place = |step: &Value| STAGES.iter().position(|stage| step["name"] == *stage);
    complain(steps.iter().any(|step| place(step).is_none()), "a step of no known stage".to_owned());
    let numbers = devices.iter().map(|device| &device["index"]);
    for number in std::iter::once(&Value::Null).chain(numbers) {
        let order: Vec<_> = steps.iter().filter(|step| step["device"] == *number).map(place).collect();
        complain(!order.is_sorted_by(|a, b| a < b), format!("steps out of order on device {number}"));
    }
    let longest = steps.iter().filter_map(|step| step["us"].as_u64()).max();
    complain(longest > document["total_us"].as_u64(), "a step took longer than all of them".to_owned());

    for device in devices {
        let (kernel, index) = (&device["kernel_check"], &device["index"]);
        let verdict = kernel["verdict"].as_str().unwrap_or_default();
        complain(
            !["pass", "fail", "skipped"].contains(&verdict),
            format!("verdict {verdict} on device {index}"),
        );
        let right = kernel["max_abs_error"].as_f64() <= kernel["tolerance"].as_f64();
        let whole = kernel["elements"].as_u64() > Some(1_000_000) && !kernel["max_abs_error"].is_null();
        complain(
            verdict == "pass" && !(right && whole),
            format!("device {index} passed without proof: {kernel}"),
        );
        let graph = &device["graph"];
        let figure = |name: &str| graph[name].as_f64().unwrap_or_default();
        if !graph.is_null() {
            let ratio = figure("stream_us_per_launch") / figure("graph_us_per_launch");
            let off = (ratio / figure("speedup") - 1.0).abs();
            complain(off > 0.01 || !off.is_finite(), format!("speedup is no ratio of its figures: {graph}"));
            complain(
                figure("launches") < 2.0 || figure("rounds") < 1.0,
                format!("nothing measured: {graph}"),
            );
        }
    }
}
