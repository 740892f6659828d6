//! The cold start of an image on a platform: scenarios before and after, and what each finding costs.

use std::collections::BTreeMap;

use super::advice::{self, Advice};
use super::calibrate::Calibration;
use super::layers::{Layers, StoredLayer};
use super::model::{self, LayerSize, Seconds};
use super::profile::{DEFAULT_PROFILE, Profile};
use super::rates::{Assumption, End, Rates, RatesAt, lazy_assumptions};
use super::startup::{StartupRead, startup};
use crate::analysis::Analysis;
use crate::cuda::catalog::LazyFormat;
use crate::findings::Plan;
use crate::formats::compression::Compression;

/// What an estimate is asked for.
#[derive(Clone, Copy)]
pub struct ColdStartInput<'a> {
    /// The image.
    pub analysis: &'a Analysis,
    /// The plan of "after".
    pub plan: &'a Plan,
    /// The platform; `None` for the node of [`DEFAULT_PROFILE`] without a platform.
    pub profile: Option<&'a Profile>,
    /// Rates of this machine in place of those of the catalogue.
    pub measured: Option<&'a Calibration>,
    /// Whether targets were given, so that `cutaway slim` would also remove GPU code.
    pub slim: bool,
}

/// The cold start of an image.
#[derive(Clone, Debug)]
pub struct ColdStart {
    /// The platform; `None` if none was chosen.
    pub profile: Option<Profile>,
    /// Rates of the estimate.
    pub rates: Rates,
    /// Scenarios; the first is that of the platform.
    pub scenarios: Vec<Scenario>,
    /// What start-up reads; `None` if unknown.
    pub startup: Option<StartupRead>,
    /// Seconds that each finding costs in the first scenario, by id; only findings whose cost is known.
    pub findings: BTreeMap<String, Seconds>,
    /// Advice with its gain in the first scenario, in a fixed order.
    pub advice: Vec<Advice>,
}

/// A way to start the image.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Stable name, such as `pull` or `lazy-soci`.
    pub name: String,
    /// Title.
    pub title: String,
    /// Until the program runs, as the image is; `None` if unknown.
    pub before: Option<Seconds>,
    /// After the plan.
    pub after_plan: Option<Seconds>,
    /// After `cutaway slim` with the plan and the targets; `None` without targets, or if unknown.
    pub after_slim: Option<Seconds>,
    /// Phases of `before`.
    pub phases: Option<Phases>,
    /// Assumptions by name.
    pub assumptions: BTreeMap<String, Assumption>,
    /// Why a duration is unknown, as a sentence.
    pub unknown: Option<String>,
}

/// Phases of a cold start, each as an interval. Download and unpacking overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Phases {
    /// Until the last byte has arrived; for lazy loading, fetching what is read.
    pub fetch: Seconds,
    /// Work of unpacking; zero for lazy loading.
    pub unpack: Seconds,
    /// Creating the container.
    pub start: Seconds,
    /// Reading files from disk; zero for lazy loading, where it is part of fetching.
    pub read: Seconds,
}

/// What of the image a scenario pulls.
#[derive(Clone, Copy)]
enum Way<'a> {
    /// All layers from this one on.
    Pull { held: usize },
    /// What start-up reads.
    Lazy(&'a LazyFormat),
}

/// Everything that durations are computed from.
pub(super) struct Model<'a> {
    pub(super) rates: &'a Rates,
    pub(super) read: Option<&'a StartupRead>,
    /// The layers as they are, which say how well the files that are read compress; empty if unknown.
    pub(super) layers: &'a [StoredLayer],
}

/// Estimates the cold start; `None` if the layers are not merged, or the catalogue has no rates.
pub fn cold_start(input: &ColdStartInput<'_>) -> Option<ColdStart> {
    let analysis = input.analysis;
    analysis.merge.as_ref()?;
    let catalog = analysis.known_rules();
    let profile = input.profile.or_else(|| catalog.profile(DEFAULT_PROFILE))?;
    let rates = Rates::of(catalog, profile, input.measured)?;
    let read = startup(analysis);
    let layers = Layers::of(analysis, &rates);
    let list = layers.as_ref().map_or(&[][..], |layers| &layers.list);
    let model = Model { rates: &rates, read: read.as_ref(), layers: list };
    let lazy = profile.lazy.as_deref().and_then(|id| catalog.lazy_format(id));
    let mut ways = Vec::new();
    if let Some(format) = lazy {
        ways.push(Way::Lazy(format));
    }
    ways.push(Way::Pull { held: 0 });
    let base = base_layers(analysis);
    if let Some(held) = base {
        ways.push(Way::Pull { held });
    }
    // A platform with a store of its own takes no other format.
    if lazy.is_none() {
        ways.extend(catalog.lazy_formats().iter().filter(|format| format.compressed).map(Way::Lazy));
    }
    let scenarios: Vec<Scenario> =
        ways.iter().map(|way| model.scenario(input, *way, layers.as_ref())).collect();
    let (mut findings, mut list) = (BTreeMap::new(), Vec::new());
    if let Ok(layers) = &layers
        && let Some((way, first)) = ways.first().zip(scenarios.first())
        && let Some(before) = first.before
    {
        for finding in analysis.findings.iter().flat_map(|findings| &findings.list) {
            let after = layers.without(finding).and_then(|after| model.total(*way, &after));
            if let Some(after) = after {
                findings.insert(finding.id.clone(), before.saved(&after));
            }
        }
        let advised = advice::Context { analysis, layers, model: &model, base, scenarios: &scenarios };
        list = advice::list(&advised);
    }
    Some(ColdStart {
        profile: input.profile.cloned(),
        scenarios,
        startup: read,
        findings,
        advice: list,
        rates,
    })
}

/// Layers of the recognised base image, if others lie above it.
fn base_layers(analysis: &Analysis) -> Option<usize> {
    let layers = analysis.inventory.as_deref()?.base.as_ref()?.layers;
    (1..analysis.layers.len()).contains(&layers).then_some(layers)
}

impl Model<'_> {
    fn scenario(
        &self,
        input: &ColdStartInput<'_>,
        way: Way<'_>,
        layers: Result<&Layers, &String>,
    ) -> Scenario {
        let (name, title) = match way {
            Way::Pull { held: 0 } => ("pull".to_owned(), "Full pull, empty node".to_owned()),
            Way::Pull { .. } => ("pull-base-held".to_owned(), "Pull, base image on the node".to_owned()),
            Way::Lazy(format) => (format!("lazy-{}", format.id), format!("Lazy loading, {}", format.name)),
        };
        let known = layers.ok();
        let before = known.and_then(|layers| self.total(way, &layers.list));
        let after = |list: Option<Vec<StoredLayer>>| list.and_then(|list| self.total(way, &list));
        let unknown = match (layers, way, self.read) {
            (Err(why), ..) => Some(format!("Unknown: {why}.")),
            (_, Way::Lazy(_), None) => {
                Some("Unknown: what start-up reads does not follow from the command.".to_owned())
            }
            (_, Way::Pull { .. }, None) => Some(
                "Without reading files at start-up: what is read does not follow from the command."
                    .to_owned(),
            ),
            _ => None,
        };
        Scenario {
            name,
            title,
            before,
            after_plan: after(known.and_then(|layers| layers.after(input.analysis, input.plan))),
            after_slim: after(
                known.filter(|_| input.slim).and_then(|layers| layers.after_slim(input.analysis, input.plan)),
            ),
            phases: known.and_then(|layers| self.phases(way, &layers.list)),
            assumptions: self.assumptions(way, known),
            unknown,
        }
    }

    /// Seconds of the whole start; `None` if unknown.
    fn total(&self, way: Way<'_>, layers: &[StoredLayer]) -> Option<Seconds> {
        Seconds::of(self.rates, |rates| self.seconds(way, layers, rates))
    }

    fn seconds(&self, way: Way<'_>, layers: &[StoredLayer], rates: &RatesAt) -> Option<f64> {
        Some(match way {
            Way::Pull { held } => {
                let pulled = at(layers.get(held..).unwrap_or_default(), rates.end);
                model::pull(&pulled, rates).total + rates.start + self.reading(rates)
            }
            Way::Lazy(format) => self.lazy(format, layers, rates)? + rates.start,
        })
    }

    /// Seconds to read files at start-up; zero if what is read is unknown, which the scenario states.
    fn reading(&self, rates: &RatesAt) -> f64 {
        self.read.map_or(0.0, |read| read.size(self.rates, rates.end).bytes / rates.read)
    }

    /// The files that start-up reads stay as they are, whatever is removed beside them: their compression is that of the
    /// whole image, before and after.
    fn lazy(&self, format: &LazyFormat, layers: &[StoredLayer], rates: &RatesAt) -> Option<f64> {
        let sizes = at(self.layers, rates.end);
        let wire: f64 = sizes.iter().map(|layer| layer.compressed).sum();
        let whole: f64 = sizes.iter().map(|layer| layer.uncompressed).sum();
        let read = self.read?.size(self.rates, rates.end);
        let ratio = wire / whole.max(1.0);
        Some(model::lazy(layers.len(), &read, ratio, common_codec(&sizes), format, rates))
    }

    /// Seconds to pull these layers and start, for advice.
    pub(super) fn pulled(&self, layers: &[StoredLayer]) -> Option<Seconds> {
        self.total(Way::Pull { held: 0 }, layers)
    }

    fn phases(&self, way: Way<'_>, layers: &[StoredLayer]) -> Option<Phases> {
        let start = Seconds::of(self.rates, |rates| Some(rates.start))?;
        let pulled = |held: usize, part: fn(&model::Pull) -> f64| {
            Seconds::of(self.rates, |rates| {
                let layers = at(layers.get(held..).unwrap_or_default(), rates.end);
                Some(part(&model::pull(&layers, rates)))
            })
        };
        Some(match way {
            Way::Pull { held } => Phases {
                fetch: pulled(held, |pull| pull.download)?,
                unpack: pulled(held, |pull| pull.unpack)?,
                start,
                read: Seconds::of(self.rates, |rates| Some(self.reading(rates)))?,
            },
            Way::Lazy(format) => Phases {
                fetch: Seconds::of(self.rates, |rates| self.lazy(format, layers, rates))?,
                start,
                ..Phases::default()
            },
        })
    }

    fn assumptions(&self, way: Way<'_>, layers: Option<&Layers>) -> BTreeMap<String, Assumption> {
        let mut codecs: Vec<Compression> = Vec::new();
        for layer in layers.iter().flat_map(|layers| &layers.list) {
            if !codecs.contains(&layer.codec) {
                codecs.push(layer.codec);
            }
        }
        let mut all = self.rates.assumptions(&codecs);
        if let Way::Lazy(format) = way {
            for unpacking in ["connection", "write", "files", "layer", "read"] {
                all.remove(unpacking);
            }
            all.extend(lazy_assumptions(format));
        }
        if let Some(read) = self.read {
            let bytes = |end| read.size(self.rates, end).bytes / 1e6;
            let source = if read.frameworks.is_empty() {
                "libraries that the loader maps for the command".to_owned()
            } else {
                format!("libraries of the command, and of imports of {}", read.frameworks.join(", "))
            };
            let assumption =
                Assumption { low: bytes(End::Best), high: bytes(End::Worst), unit: "MB", source };
            all.insert("startup_read".to_owned(), assumption);
        } else {
            all.remove("library_share");
            all.remove("module_share");
        }
        if layers.is_some_and(|layers| layers.assumed) {
            let ratio = self.rates.tar_ratio(Compression::Gzip);
            let source = "layers are stored uncompressed here; gzip at the registry is assumed".to_owned();
            let assumption = Assumption { low: ratio.low, high: ratio.high, unit: "of the tar", source };
            all.insert("gzip_ratio".to_owned(), assumption);
        }
        all
    }
}

fn at(layers: &[StoredLayer], end: End) -> Vec<LayerSize> {
    layers.iter().map(|layer| layer.at(end)).collect()
}

/// The compression of most bytes.
fn common_codec(layers: &[LayerSize]) -> Compression {
    let bytes = |codec: Compression| -> f64 {
        layers.iter().filter(|layer| layer.codec == codec).map(|layer| layer.uncompressed).sum()
    };
    let all = Compression::ALL.iter().copied();
    all.max_by(|one, other| bytes(*one).total_cmp(&bytes(*other))).unwrap_or(Compression::Gzip)
}
