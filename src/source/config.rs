//! The image config and its facts about the layers.

use std::sync::Arc;

use oci_spec::image::{Arch, Config, History, ImageConfiguration, Os, RootFs};
use serde_json::Value;

use super::image::{Image, LayerSource};
use crate::base::redact::json_fault;
use crate::base::{Digest, Platform, Warning, WarningCode, digest};

/// Adds the config to the image: digest, platform, and for each layer its diff id and instruction. A config that is
/// unreadable or differs from `claimed` makes the image invalid.
pub(super) fn attach(image: &mut Image, object: &str, bytes: Vec<u8>, claimed: Claim<'_>) {
    image.config_digest = Some(digest::sha256_of(&bytes));
    if let Some(size) = claimed.size {
        image.check_size(object, "config", &bytes, size);
    }
    if let Some(claimed) = claimed.digest
        && digest::matches(claimed, &bytes) == Some(false)
    {
        image.intact = false;
        let found = digest::sha256_of(&bytes);
        let message = format!("the config has the digest {found}, the manifest declares {claimed}");
        image.warnings.push(Warning::new(WarningCode::DigestMismatch, object, message));
    }
    match parse(&bytes) {
        Ok(Parsed { config, lacks, readable }) => {
            image.intact &= readable;
            for lack in lacks {
                image.warnings.push(Warning::new(WarningCode::ConfigIncomplete, object, lack));
            }
            describe_layers(image, object, &config);
            image.platform = Some(platform(&config)).or(image.platform.take());
            image.config = Some(config);
        }
        Err(reason) => {
            image.intact = false;
            let message = format!("cannot read the config: {reason}");
            image.warnings.push(Warning::new(WarningCode::ConfigIncomplete, object, message));
        }
    }
    image.health_check = health_check(&bytes);
    image.config_bytes = Arc::from(bytes);
}

/// Declared digest and size of the config.
#[derive(Clone, Copy, Default)]
pub(super) struct Claim<'a> {
    pub(super) digest: Option<&'a Digest>,
    pub(super) size: Option<u64>,
}

struct Parsed {
    config: ImageConfiguration,
    /// A sentence for each missing or ignored part.
    lacks: Vec<String>,
    /// Whether an engine can read it: missing fields have defaults, a field of another type is an error.
    readable: bool,
}

/// Reads a config strictly, then with defaults for absent fields, then part by part.
fn parse(bytes: &[u8]) -> Result<Parsed, String> {
    let strict = serde_json::from_slice::<ImageConfiguration>(bytes);
    let strict_error = match strict {
        Ok(config) => return Ok(Parsed { config, lacks: Vec::new(), readable: true }),
        Err(error) => error,
    };
    let Ok(Value::Object(mut map)) = serde_json::from_slice::<Value>(bytes) else {
        return Err(json_fault(&strict_error));
    };
    let mut lacks = fill_absent(&mut map);
    let fault = match serde_json::from_value::<ImageConfiguration>(Value::Object(map.clone())) {
        Ok(config) => return Ok(Parsed { config, lacks, readable: true }),
        Err(error) => json_fault(&error),
    };
    lacks.insert(0, format!("not conformant to the OCI specification ({fault}); read field by field"));
    let mut config = ImageConfiguration::default();
    let text = |map: &serde_json::Map<String, Value>, key: &str| {
        map.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    config.set_created(text(&map, "created"));
    config.set_variant(text(&map, "variant"));
    config.set_os(text(&map, "os").map_or(Os::Linux, |os| Os::from(os.as_str())));
    config.set_architecture(Arch::from(text(&map, "architecture").as_deref().unwrap_or(UNKNOWN)));
    match serde_json::from_value::<RootFs>(map.remove("rootfs").unwrap_or_default()) {
        Ok(rootfs) => {
            config.set_rootfs(rootfs);
        }
        Err(error) => {
            // oci-spec's default has one diff id; only those of the config count.
            let mut rootfs = RootFs::default();
            rootfs.set_diff_ids(Vec::new());
            config.set_rootfs(rootfs);
            lacks.push(format!("rootfs: {}", json_fault(&error)));
        }
    }
    if let Some(history) = map.remove("history") {
        match serde_json::from_value::<Vec<History>>(history) {
            Ok(history) => {
                config.set_history(Some(history));
            }
            Err(error) => lacks.push(format!("history: {}", json_fault(&error))),
        }
    }
    if let Some(run) = map.remove("config").filter(|run| !run.is_null()) {
        match serde_json::from_value::<Config>(run) {
            Ok(run) => {
                config.set_config(Some(run));
            }
            Err(error) => lacks.push(format!("config: {}", json_fault(&error))),
        }
    }
    Ok(Parsed { config, lacks, readable: false })
}

/// The words of the health check. The first says how they run: `CMD`, `CMD-SHELL`, or `NONE` for no check.
fn health_check(config: &[u8]) -> Vec<String> {
    let config: Value = serde_json::from_slice(config).unwrap_or_default();
    let test = config.pointer("/config/Healthcheck/Test").and_then(Value::as_array);
    let mut words = test.into_iter().flatten().filter_map(Value::as_str);
    match words.next() {
        Some("CMD" | "CMD-SHELL") => words.map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

const UNKNOWN: &str = "unknown";

/// Sets missing required fields to the engines' defaults, with a sentence for each; null counts as missing, as in Go's
/// decoder.
fn fill_absent(map: &mut serde_json::Map<String, Value>) -> Vec<String> {
    map.retain(|_, value| !value.is_null());
    let mut lacks = Vec::new();
    for (key, default) in [("os", "linux"), ("architecture", UNKNOWN)] {
        map.entry(key).or_insert_with(|| {
            lacks.push(format!("no {key}"));
            default.into()
        });
    }
    if let Some(Value::Object(rootfs)) = map.get_mut("rootfs")
        && let Some(ids) = rootfs.get_mut("diff_ids").filter(|ids| ids.is_null())
    {
        *ids = Value::Array(Vec::new());
    }
    lacks
}

fn platform(config: &ImageConfiguration) -> Platform {
    Platform {
        os: config.os().to_string(),
        architecture: config.architecture().to_string(),
        variant: config.variant().clone().filter(|variant| !variant.is_empty()),
    }
}

fn describe_layers(image: &mut Image, object: &str, config: &ImageConfiguration) {
    let layers = &mut image.layers;
    let diff_ids = config.rootfs().diff_ids();
    if diff_ids.len() == layers.len() {
        for (place, (layer, diff_id)) in layers.iter_mut().zip(diff_ids).enumerate() {
            layer.diff_id = diff_id.parse().ok();
            if layer.diff_id.is_none() {
                image.intact = false;
                let message = format!("invalid diff id of layer {place} in the config");
                image.warnings.push(Warning::new(WarningCode::ConfigIncomplete, object, message));
            }
        }
    } else {
        let message =
            format!("the config has {} diff ids for {} layers; none assigned", diff_ids.len(), layers.len());
        image.warnings.push(Warning::new(WarningCode::ManifestOddity, object, message));
    }
    let Some(history) = config.history() else { return };
    let steps: Vec<&History> = history.iter().filter(|step| step.empty_layer() != Some(true)).collect();
    if steps.len() == layers.len() {
        assign(layers, &steps);
    } else {
        let message = format!(
            "the history has {} layer steps, the image has {} layers; instructions not assigned",
            steps.len(),
            layers.len()
        );
        image.warnings.push(Warning::new(WarningCode::HistoryMismatch, object, message));
    }
}

fn assign(layers: &mut [LayerSource], steps: &[&History]) {
    for (layer, step) in layers.iter_mut().zip(steps) {
        let text = step.created_by().clone().filter(|text| !text.is_empty());
        layer.created_by = text.or_else(|| step.comment().clone().filter(|text| !text.is_empty()));
        layer.created.clone_from(step.created());
    }
}
