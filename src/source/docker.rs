//! The formats of `docker save`: manifest.json with `ID/layer.tar`, manifest.json beside an OCI layout (Docker 25 and
//! later), and the `repositories` form from before 2016.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use oci_spec::image::Descriptor;
use serde::Deserialize;
use serde_json::Value;

use super::choose::check_platform;
use super::config::{self, Claim};
use super::context::Chosen;
use super::context::Select;
use super::error::SourceError;
use super::files::{Files, digest_of_name};
use super::image::{Image, LayerSource};
use super::reference::{Transport, split_select};
use super::{archive, oci};
use crate::base::redact::json_fault;
use crate::base::{Platform, Warning, WarningCode};

/// What `docker save` writes.
pub(super) static ARCHIVE: Transport = Transport {
    name: "docker-archive",
    prefixes: &["docker-archive:"],
    form: "docker-archive:FILE[:REF]",
    about: "docker save archive",
    is_path: true,
    parse: split_select,
    detect: |_| false,
    open: |reference, context| {
        let files = archive::open(Path::new(&reference.location), context)?;
        open(&files, &context.chosen(&reference.select))
    },
};

/// One image of manifest.json.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    config: String,
    #[serde(default)]
    repo_tags: Option<Vec<String>>,
    /// Null for an image without layers.
    #[serde(default)]
    layers: Option<Vec<String>>,
    /// Descriptors by diff id; since Docker 25.
    #[serde(default)]
    layer_sources: Option<HashMap<String, Descriptor>>,
}

/// The `json` of a layer folder of the old form.
#[derive(Deserialize)]
struct OldLayer {
    parent: Option<String>,
}

/// Opens a docker archive.
pub(super) fn open(files: &Files, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
    let mut image = if files.has("manifest.json") {
        open_manifest(files, chosen)?
    } else if files.has("repositories") {
        open_repositories(files, chosen)?
    } else {
        let why = files.fault().map(|fault| format!("; damaged archive: {fault}")).unwrap_or_default();
        return Err(SourceError::NotAnImage {
            object: files.label().into(),
            reason: format!("neither manifest.json nor repositories: not written by docker save{why}"),
            hint: None,
        });
    };
    files.note_fault(&mut image);
    check_platform(&mut image, files.label(), chosen)?;
    Ok(image)
}

/// Opens an archive that is a docker archive, an OCI layout, or both.
pub(super) fn open_either(files: &Files, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
    let is_layout = files.has("index.json");
    let layout = || oci::open(files, chosen).map(|image| (image, oci::ARCHIVE.name));
    let opened = if is_layout && !files.has("manifest.json") && !files.has("repositories") {
        layout()
    } else {
        match open(files, chosen) {
            // Docker 25 and later keep the other platforms in the layout beside it.
            Err(SourceError::NoPlatform { .. }) if is_layout => layout(),
            opened => opened.map(|image| (image, ARCHIVE.name)),
        }
    };
    let (mut image, source) = opened?;
    source.clone_into(&mut image.source);
    Ok(image)
}

fn open_manifest(files: &Files, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
    let object = files.label_of("manifest.json");
    let bytes = files.read("manifest.json", chosen.limits.json_bytes)?;
    let malformed = |reason: String| SourceError::Malformed { object: object.clone(), reason };
    let saved: Vec<Saved> = serde_json::from_slice(&bytes).map_err(|error| malformed(json_fault(&error)))?;
    let saved = choose(files, saved, chosen)?;
    let layers = saved.layers.unwrap_or_default();
    if layers.len() > chosen.limits.layers {
        let reason = format!("{} layers, limit {}", layers.len(), chosen.limits.layers);
        return Err(malformed(reason));
    }
    let mut image = Image::empty();
    image.tags = saved.repo_tags.unwrap_or_default();
    image.layers = layers.iter().map(|name| layer(files, name)).collect();
    let digest = digest_of_name(&saved.config);
    let claimed = Claim { digest: digest.as_ref(), size: None };
    match files.read(&saved.config, chosen.limits.json_bytes) {
        Ok(bytes) => config::attach(&mut image, &files.label_of(&saved.config), bytes, claimed),
        Err(error) => {
            image.intact = false;
            let message = format!("no config: {error}");
            image.warnings.push(Warning::new(WarningCode::ConfigIncomplete, object.clone(), message));
        }
    }
    for layer in &mut image.layers {
        let source = layer.diff_id.as_ref().and_then(|id| saved.layer_sources.as_ref()?.get(id.as_ref()));
        if let Some(descriptor) = source {
            layer.digest = Some(descriptor.digest().clone());
            layer.size = Some(descriptor.size());
            layer.media_type = Some(descriptor.media_type().to_string());
        }
    }
    Ok(image)
}

fn choose(files: &Files, saved: Vec<Saved>, chosen: &Chosen<'_>) -> Result<Saved, SourceError> {
    let object = files.label().to_owned();
    let names: Vec<String> = saved
        .iter()
        .enumerate()
        .map(|(place, image)| {
            let name = image.repo_tags.as_ref().and_then(|tags| tags.first().cloned());
            crate::base::text::printable(&name.unwrap_or_else(|| format!("@{place}")))
        })
        .collect();
    let fits = |place: usize, image: &Saved| match chosen.select {
        Select::Only => true,
        Select::Name(name) => image.repo_tags.iter().flatten().any(|tag| same_tag(tag, name)),
        Select::Digest(digest) => digest_of_name(&image.config).is_some_and(|config| config == *digest),
        Select::Place(wanted) => place == *wanted,
    };
    let mut fitting: Vec<Saved> = saved
        .into_iter()
        .enumerate()
        .filter(|(place, image)| fits(*place, image))
        .map(|(_, image)| image)
        .collect();
    if matches!(chosen.select, Select::Only) && fitting.len() > 1 {
        return Err(SourceError::SeveralImages { object, names });
    }
    if fitting.is_empty() {
        if matches!(chosen.select, Select::Only) {
            return Err(SourceError::NotAnImage {
                object,
                reason: "manifest.json names no image".into(),
                hint: None,
            });
        }
        return Err(SourceError::NoSuchImage { object, name: chosen.select.shown(), offered: names });
    }
    Ok(fitting.swap_remove(0))
}

/// Docker shortens names on Docker Hub, and a name without a tag means `latest`.
fn same_tag(tag: &str, wanted: &str) -> bool {
    let full = |name: &str| {
        let name = name.strip_prefix("docker.io/").unwrap_or(name);
        let name = name.strip_prefix("library/").unwrap_or(name);
        let has_tag = name.rsplit_once(':').is_some_and(|(_, tag)| !tag.contains('/'));
        if has_tag { name.to_owned() } else { format!("{name}:latest") }
    };
    tag == wanted || full(tag) == full(wanted)
}

fn layer(files: &Files, name: &str) -> LayerSource {
    let digest = name.contains("blobs/").then(|| digest_of_name(name)).flatten();
    LayerSource { digest, ..LayerSource::at(files.blob(name)) }
}

fn open_repositories(files: &Files, chosen: &Chosen<'_>) -> Result<Image, SourceError> {
    let object = files.label_of("repositories");
    let limit = chosen.limits.json_bytes;
    let malformed = |object: &str, reason: String| SourceError::Malformed { object: object.into(), reason };
    let bytes = files.read("repositories", limit)?;
    let repositories: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_slice(&bytes).map_err(|error| malformed(&object, json_fault(&error)))?;
    let tagged: Vec<(String, String)> = repositories
        .iter()
        .flat_map(|(name, tags)| tags.iter().map(move |(tag, id)| (format!("{name}:{tag}"), id.clone())))
        .collect();
    let names: Vec<String> = tagged.iter().map(|(name, _)| crate::base::text::printable(name)).collect();
    let ids: BTreeSet<&String> = tagged.iter().map(|(_, id)| id).collect();
    let top = match chosen.select {
        Select::Only if ids.len() > 1 => {
            return Err(SourceError::SeveralImages { object: files.label().into(), names });
        }
        Select::Only => tagged.first(),
        Select::Name(wanted) => tagged.iter().find(|(name, _)| same_tag(name, wanted)),
        Select::Place(place) => tagged.get(*place),
        Select::Digest(_) => None,
    };
    let Some((_, top)) = top else {
        let name = chosen.select.shown();
        return Err(SourceError::NoSuchImage { object: files.label().into(), name, offered: names });
    };
    let mut image = Image::empty();
    image.tags = tagged.iter().filter(|(_, id)| id == top).map(|(name, _)| name.clone()).collect();
    let mut chain = Vec::new();
    let mut visited = BTreeSet::new();
    let mut at = Some(top.clone());
    let mut top_json = Vec::new();
    while let Some(id) = at {
        let name = format!("{id}/json");
        let object = files.label_of(&name);
        if !visited.insert(id.clone()) {
            return Err(malformed(&object, "cyclic parents".into()));
        }
        if visited.len() > chosen.limits.layers {
            return Err(malformed(&object, format!("more than {} parents", chosen.limits.layers)));
        }
        let bytes = files.read(&name, limit)?;
        let old: OldLayer =
            serde_json::from_slice(&bytes).map_err(|error| malformed(&object, json_fault(&error)))?;
        if chain.is_empty() {
            top_json.clone_from(&bytes);
        }
        let mut layer = layer(files, &format!("{id}/layer.tar"));
        layer.created_by = old_instruction(&bytes);
        chain.push(layer);
        at = old.parent.filter(|parent| !parent.is_empty());
    }
    chain.reverse();
    image.layers = chain;
    old_config(&mut image, &files.label_of(&format!("{top}/json")), &top_json);
    Ok(image)
}

fn old_instruction(json: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(json).ok()?;
    let command = value.get("container_config")?.get("Cmd")?.as_array()?;
    let words: Vec<&str> = command.iter().filter_map(Value::as_str).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The old form has no image config: the top layer's `json` is used.
fn old_config(image: &mut Image, object: &str, json: &[u8]) {
    let Ok(Value::Object(map)) = serde_json::from_slice::<Value>(json) else { return };
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    image.platform = Some(Platform {
        os: text("os").unwrap_or_else(|| "linux".into()),
        architecture: text("architecture").unwrap_or_else(|| "amd64".into()),
        variant: None,
    });
    let mut config = oci_spec::image::ImageConfiguration::default();
    let mut rootfs = oci_spec::image::RootFs::default();
    rootfs.set_diff_ids(Vec::new());
    config.set_rootfs(rootfs);
    config.set_created(text("created"));
    if let Some(platform) = &image.platform {
        config.set_os(platform.os.as_str().into());
        config.set_architecture(platform.architecture.as_str().into());
    }
    match map.get("config").filter(|run| !run.is_null()).map(|run| serde_json::from_value(run.clone())) {
        Some(Ok(run)) => {
            config.set_config(Some(run));
        }
        Some(Err(error)) => {
            image.intact = false;
            let message = format!("config: {}", json_fault(&error));
            image.warnings.push(Warning::new(WarningCode::ConfigIncomplete, object, message));
        }
        None => {}
    }
    image.config_bytes = json.into();
    image.config = Some(config);
}
