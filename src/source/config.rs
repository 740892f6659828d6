//! The image config and what it says of the layers.

use std::sync::Arc;

use oci_spec::image::{Arch, Config, History, ImageConfiguration, Os, RootFs};
use serde_json::Value;

use super::image::{Image, LayerSource};
use crate::base::redact::json_fault;
use crate::base::{Digest, Platform, Warning, WarningCode, digest};

/// Puts the config into the image: digest, platform, and for each layer its diff id and instruction.
pub(super) fn attach(image: &mut Image, object: &str, bytes: Vec<u8>, claimed: Option<&Digest>) {
    image.config_digest = Some(digest::sha256_of(&bytes));
    if let Some(claimed) = claimed
        && digest::matches(claimed, &bytes) == Some(false)
    {
        image.intact = false;
        let found = digest::sha256_of(&bytes);
        let message = format!("the config's digest is {found}, not {claimed} as claimed");
        image.warnings.push(Warning::new(WarningCode::DigestMismatch, object, message));
    }
    match parse(&bytes) {
        Ok((config, lacks)) => {
            for lack in lacks {
                image.warnings.push(Warning::new(WarningCode::ConfigIncomplete, object, lack));
            }
            describe_layers(image, object, &config);
            image.platform = Some(platform(&config)).or(image.platform.take());
            image.config = Some(config);
        }
        Err(reason) => {
            let message = format!("the config cannot be read: {reason}");
            image.warnings.push(Warning::new(WarningCode::ConfigIncomplete, object, message));
        }
    }
    image.config_bytes = Arc::from(bytes);
}

/// Reads a config strictly, and part by part when that fails, with a sentence for each part left out.
fn parse(bytes: &[u8]) -> Result<(ImageConfiguration, Vec<String>), String> {
    let strict = serde_json::from_slice::<ImageConfiguration>(bytes);
    let strict_error = match strict {
        Ok(config) => return Ok((config, Vec::new())),
        Err(error) => error,
    };
    let Ok(Value::Object(mut map)) = serde_json::from_slice::<Value>(bytes) else {
        return Err(json_fault(&strict_error));
    };
    let fault = json_fault(&strict_error);
    let mut lacks = vec![format!("it is not as the specification has it ({fault}); read part by part")];
    let mut config = ImageConfiguration::default();
    let text = |map: &serde_json::Map<String, Value>, key: &str| {
        map.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    config.set_created(text(&map, "created"));
    config.set_variant(text(&map, "variant"));
    config.set_os(text(&map, "os").map_or(Os::Linux, |os| Os::from(os.as_str())));
    let architecture = text(&map, "architecture");
    if architecture.is_none() {
        lacks.push("it has no architecture".into());
    }
    config.set_architecture(Arch::from(architecture.as_deref().unwrap_or("unknown")));
    match serde_json::from_value::<RootFs>(map.remove("rootfs").unwrap_or_default()) {
        Ok(rootfs) => {
            config.set_rootfs(rootfs);
        }
        Err(error) => {
            // The default of oci-spec has one diff id in it; an image has those that it names.
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
    Ok((config, lacks))
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
                let message = format!("what the config says of layer {place} is no diff id");
                image.warnings.push(Warning::new(WarningCode::ConfigIncomplete, object, message));
            }
        }
    } else {
        let message = format!(
            "the config names {} diff ids for {} layers; none could be assigned",
            diff_ids.len(),
            layers.len()
        );
        image.warnings.push(Warning::new(WarningCode::ManifestOddity, object, message));
    }
    let Some(history) = config.history() else { return };
    let steps: Vec<&History> = history.iter().filter(|step| step.empty_layer() != Some(true)).collect();
    if steps.len() == layers.len() {
        assign(layers, &steps);
    } else {
        let message = format!(
            "the history has {} steps that make layers, the image has {} layers; instructions are not assigned",
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
    }
}
