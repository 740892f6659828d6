//! What each image has of the chosen row, in full.

use super::facts::{instruction, of_layer};
use super::layers::layer_match;
use super::line::{CompareLine, LineSubject, NOTHING, UNKNOWN};
use super::model::CompareModel;
use super::settings;
use super::words::file_delta;
use crate::base::digest::short;
use crate::base::text::{elide_end, escape, printable};
use crate::compare::{Change, LayerRow, Polarity, Row};
use crate::gui::models::format;
use crate::rootfs::{NodeId, NodeKind};

/// Letters of the instruction that made a layer.
const INSTRUCTION: usize = 90;

/// What an image has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnFacts {
    /// The change relative to the baseline; `None` for the baseline itself.
    pub change: Option<Change>,
    /// The same with its sign and in words; of a number, its difference. Empty where there is nothing to say.
    pub verdict: String,
    /// Names and values, safe to show.
    pub facts: Vec<(&'static str, String)>,
    /// Whether the image has the path that is chosen.
    pub has_path: bool,
    /// The layer that can be shown.
    pub layer: Option<usize>,
}

/// Everything about the chosen row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareDetails {
    /// Its name.
    pub title: String,
    /// The line below the name.
    pub about: String,
    /// The path, where it is one: any bytes.
    pub path: Option<Vec<u8>>,
    /// One for each image.
    pub columns: Vec<ColumnFacts>,
    /// Which direction is an improvement; `None` for files.
    pub polarity: Option<Polarity>,
}

impl CompareDetails {
    /// About a path.
    pub fn of_path(model: &CompareModel, path: &[u8]) -> Option<Self> {
        let tree = &model.compared.comparison.tree;
        let id = tree.find(path)?;
        let row = tree.row(id);
        let shown = escape(path);
        let name = shown.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/");
        let change = |image: usize| {
            let below = model.changes.get(image).and_then(|changes| changes.get(id.0 as usize));
            below.copied().unwrap_or_else(|| row.change(image, model.baseline))
        };
        let columns = (0..model.images()).map(|image| file(model, row, image, change(image))).collect();
        Some(Self {
            title: name.to_owned(),
            about: shown.strip_suffix(name).unwrap_or("").to_owned(),
            path: Some(path.to_owned()),
            columns,
            polarity: None,
        })
    }

    /// About a line of a page.
    pub fn of_line(model: &CompareModel, line: &CompareLine) -> Self {
        if let LineSubject::Path(path) = &line.about
            && let Some(details) = Self::of_path(model, path)
        {
            return details;
        }
        let comparison = &model.compared.comparison;
        let mut about = line.note.clone();
        let columns = (0..model.images()).map(|image| {
            let cell = line.cells.get(image).cloned().unwrap_or_default();
            let verdict = match (cell.number, cell.change) {
                _ if image == model.baseline => verdict(None),
                (false, change) => verdict(change),
                (true, Some(Change::Same)) => verdict(Some(Change::Same)),
                // A smaller number is no absence.
                (true, _) => match line.judge(&cell) {
                    Some(judged) => format!("{}, {}", cell.note, judged.label()),
                    None => cell.note.clone(),
                },
            };
            let mut column = ColumnFacts { change: cell.change, verdict, ..ColumnFacts::default() };
            match &line.about {
                LineSubject::Layer(place) => {
                    if let Some(row) = comparison.layers.get(*place) {
                        layer(model, row, image, &mut column);
                    }
                }
                LineSubject::Package(place) => {
                    let row = comparison.packages.get(*place);
                    let version = row.and_then(|row| row.versions.get(image)?.as_deref()).map(printable);
                    let bytes = row.and_then(|row| row.bytes.get(image).copied().flatten());
                    let size = if version.is_some() {
                        bytes.map_or(UNKNOWN.to_owned(), format::exact)
                    } else {
                        String::new()
                    };
                    column.facts.push(("Version", version.unwrap_or_else(|| "not installed".to_owned())));
                    column.facts.extend((!size.is_empty()).then_some(("Size", size)));
                }
                LineSubject::Component(place) => {
                    let row = comparison.components.get(*place);
                    let bytes = row.and_then(|row| row.bytes.get(image).copied().flatten());
                    column.facts.push(("Size", bytes.map_or(UNKNOWN.to_owned(), format::exact)));
                    let version = row.and_then(|row| row.versions.get(image)?.as_deref()).map(printable);
                    column.facts.extend(version.map(|version| ("Versions", version)));
                }
                LineSubject::Variable(place) => {
                    setting(comparison.environment.get(*place), image, &mut column);
                }
                LineSubject::Setting(place) => setting(comparison.settings.get(*place), image, &mut column),
                LineSubject::Reasons(reasons) => {
                    column.facts.push(("Verdict", cell.text));
                    column.facts.extend(reasons.get(image).map(|why| ("Why", why.clone())));
                }
                LineSubject::Figures | LineSubject::Path(_) => {
                    column.facts.push(("Value", cell.text));
                }
            }
            column
        });
        let columns: Vec<ColumnFacts> = columns.collect();
        if let LineSubject::Layer(place) = &line.about
            && let Some(row) = comparison.layers.get(*place)
        {
            about = row.created_by.as_deref().map(|text| instruction(text).1).unwrap_or(about);
        }
        Self { title: line.name.clone(), about, path: None, columns, polarity: line.polarity }
    }
}

fn verdict(change: Option<Change>) -> String {
    let words = change.map_or("the baseline", Change::about);
    format!("{} {words}", change.map_or("", Change::sign)).trim_start().to_owned()
}

fn setting(row: Option<&crate::compare::SettingRow>, image: usize, column: &mut ColumnFacts) {
    let value = row.and_then(|row| settings::value(row, image));
    column.facts.push(("Value", value.unwrap_or_else(|| "not set".to_owned())));
}

fn layer(model: &CompareModel, row: &LayerRow, image: usize, column: &mut ColumnFacts) {
    let places = row.places.get(image).map(Vec::as_slice).unwrap_or_default();
    let Some(first) = places.first().copied() else {
        column.facts.push(("Position", "not in this image".to_owned()));
        return;
    };
    column.layer = Some(first);
    let count = model.compared.comparison.images.get(image).map_or(0, |image| image.layers.len());
    let numbers: Vec<String> = places.iter().map(ToString::to_string).collect();
    column.facts.push(("Position", format!("layer {} of {count}, 0 is the bottom", numbers.join(", "))));
    let bytes = row.bytes.get(image).copied().flatten();
    column.facts.push(("Compressed", bytes.map_or(UNKNOWN.to_owned(), format::exact)));
    column.facts.push(("Content", row.content_bytes.map_or(UNKNOWN.to_owned(), format::exact)));
    let in_baseline = row.places.get(model.baseline).is_some_and(|places| !places.is_empty());
    if image != model.baseline && in_baseline {
        let layer_match = layer_match(&model.compared, row, image, model.baseline);
        column.facts.push(("Compared with baseline", layer_match.described()));
    }
    if let Some(source) = of_layer(&model.compared, image, first) {
        let digest = source.digest.as_ref().map(|digest| printable(short(digest.as_ref())));
        column.facts.extend(digest.map(|digest| ("Blob", digest)));
        let diff_id = source.diff_id.as_ref().map(|digest| printable(short(digest.as_ref())));
        column.facts.extend(diff_id.map(|digest| ("Diff ID", digest)));
    }
}

fn file(model: &CompareModel, row: Row<'_>, image: usize, change: Change) -> ColumnFacts {
    let apart = image != model.baseline;
    let mut column = ColumnFacts {
        change: apart.then_some(change),
        verdict: verdict(apart.then_some(change)),
        ..ColumnFacts::default()
    };
    let Some(node) = row.node(image) else {
        column.facts.push(("Kind", format!("{NOTHING} not in this image")));
        return column;
    };
    column.has_path = true;
    let bytes = row.bytes(image);
    let delta = file_delta(change, bytes, row.bytes(model.baseline));
    if apart && !delta.is_empty() && change == Change::Changed {
        column.verdict = format!("{}, {}", column.verdict, delta.trim_end_matches([' ', '~']));
    }
    facts(model, image, node, bytes, &mut column.facts);
    column
}

/// What is known of a path of an image.
fn facts(
    model: &CompareModel,
    image: usize,
    node: NodeId,
    bytes: Option<u64>,
    facts: &mut Vec<(&'static str, String)>,
) {
    let Some(analysis) = model.compared.comparison.images.get(image) else { return };
    let Some(merge) = &analysis.merge else { return };
    let node = merge.rootfs.node(node);
    let kind = match node.kind() {
        NodeKind::Directory => "Folder",
        NodeKind::Symlink => "Symbolic link",
        NodeKind::File if node.has_other_names() => "File with hard links",
        NodeKind::File => "File",
        NodeKind::Other => "Device, pipe or socket",
    };
    facts.push(("Kind", kind.to_owned()));
    match node.kind() {
        NodeKind::Directory => {
            let files = crate::base::text::counted(node.files() as usize, "file");
            facts.push(("Size", format!("{} in {files}", format::exact(bytes.unwrap_or(0)))));
        }
        NodeKind::File => facts.push(("Size", format::exact(bytes.unwrap_or(0)))),
        NodeKind::Symlink | NodeKind::Other => {}
    }
    if let Some(entry) = node.entry() {
        let index = merge.rootfs.layer(node.layer());
        if node.kind() == NodeKind::Symlink
            && let Some(target) = index.link(entry)
        {
            facts.push(("Points to", escape(target)));
        }
        let (index, entry) = match node.content() {
            Some((layer, entry)) => (merge.rootfs.layer(layer), entry),
            None => (index, entry),
        };
        facts.push(("Mode", format::mode(index.mode(entry), node.kind())));
        let (user, group) = index.owner(entry);
        facts.push(("Owner", format!("{user}:{group}")));
        facts.push(("Modified", format::utc(index.mtime(entry))));
        let number = usize::from(node.layer());
        let made = analysis.image.layers.get(number).and_then(|layer| layer.created_by.as_deref());
        let made = made
            .map(|text| format!(": {}", elide_end(&instruction(text).0, INSTRUCTION)))
            .unwrap_or_default();
        facts.push(("Layer", format!("{number}{made}")));
    }
    if let Some(inventory) = &analysis.inventory
        && let Some(package) = inventory.owners.of(node.id()).and_then(|place| inventory.packages.get(place))
    {
        let name = format!("{} {} ({})", package.name, package.version, package.manager);
        facts.push(("Package", printable(&name)));
    }
}
