//! Environment, labels and the other settings of the images.

use std::collections::BTreeMap;
use std::sync::Arc;

use oci_spec::image::Config;

use super::value::SettingRow;
use crate::analysis::Analysis;

/// Variables by name. Of one that is set twice, the last counts.
pub(super) fn environment(images: &[Arc<Analysis>]) -> Vec<SettingRow> {
    by_name(images, |image| {
        let env = config(image).and_then(|config| config.env().clone()).unwrap_or_default();
        let pair = |text: String| match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (text, String::new()),
        };
        env.into_iter().map(pair).collect()
    })
}

/// The other settings that some image has, then labels.
pub(super) fn settings(images: &[Arc<Analysis>]) -> Vec<SettingRow> {
    let words = |name: &str, of: fn(&Config) -> &Option<Vec<String>>| {
        let words: Vec<Option<Vec<String>>> = images.iter().map(|image| of(config(image)?).clone()).collect();
        let values = words.iter().map(|words| Some(words.as_ref()?.join(" "))).collect();
        SettingRow { name: name.to_owned(), values, words }
    };
    let plain = |name: &str, of: fn(&Analysis) -> Option<String>| SettingRow {
        name: name.to_owned(),
        values: images.iter().map(|image| of(image).filter(|value| !value.is_empty())).collect(),
        words: Vec::new(),
    };
    let mut rows = vec![
        words("entrypoint", Config::entrypoint),
        words("command", Config::cmd),
        plain("user", |image| config(image)?.user().clone()),
        plain("working directory", |image| config(image)?.working_dir().clone()),
        plain("ports", |image| {
            let mut ports = config(image)?.exposed_ports().clone()?;
            ports.sort();
            Some(ports.join(", "))
        }),
        plain("volumes", |image| {
            let mut volumes = config(image)?.volumes().clone()?;
            volumes.sort();
            Some(volumes.join(", "))
        }),
        plain("stop signal", |image| config(image)?.stop_signal().clone()),
        plain("platform", |image| image.image.platform.as_ref().map(ToString::to_string)),
        plain("base image", |image| image.inventory.as_ref()?.base.as_ref()?.reference.clone()),
    ];
    rows.retain(|row| row.values.iter().any(Option::is_some));
    let mut labels = by_name(images, |image| {
        let labels = config(image).and_then(|config| config.labels().clone()).unwrap_or_default();
        labels.into_iter().collect()
    });
    for label in &mut labels {
        label.name.insert_str(0, "label ");
    }
    rows.extend(labels);
    rows
}

/// One row for each name that some image has.
fn by_name(images: &[Arc<Analysis>], of: impl Fn(&Analysis) -> Vec<(String, String)>) -> Vec<SettingRow> {
    let mut rows: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for (place, image) in images.iter().enumerate() {
        for (name, value) in of(image) {
            rows.entry(name).or_insert_with(|| vec![None; images.len()])[place] = Some(value);
        }
    }
    rows.into_iter().map(|(name, values)| SettingRow { name, values, words: Vec::new() }).collect()
}

fn config(image: &Analysis) -> Option<&Config> {
    image.image.run_config()
}
