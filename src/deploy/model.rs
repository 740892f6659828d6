//! Seconds to pull, unpack and start an image, from sizes and rates.
//!
//! The formulas are those of the manual chapter `cold-start`. Every one is monotonic: fewer bytes, fewer files, more
//! slots and higher rates never take longer.

use super::rates::{End, Rates, RatesAt};
use crate::cuda::catalog::LazyFormat;
use crate::formats::compression::Compression;

/// Sizes of a layer, for the estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerSize {
    /// Bytes over the wire.
    pub compressed: f64,
    /// Bytes of the tar stream.
    pub uncompressed: f64,
    /// Files, folders and links.
    pub entries: f64,
    /// Compression of the blob.
    pub codec: Compression,
}

/// Durations of the phases of a pull, in seconds. Phases overlap, so their sum exceeds the total.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pull {
    /// Until the last byte has arrived.
    pub download: f64,
    /// Work of unpacking all layers.
    pub unpack: f64,
    /// Until the last layer is unpacked.
    pub total: f64,
}

/// Bytes that start-up reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadSize {
    /// Bytes read.
    pub bytes: f64,
    /// Files opened.
    pub files: f64,
}

/// When each layer has arrived, in seconds from the start of the pull.
///
/// Downloads start in the order of the layers as slots become free. The link is divided in that order, at most
/// `connection` to each: what lies below is unpacked first. An engine that divides it evenly receives the lowest layers
/// later and the last byte at the same time.
pub fn arrivals(layers: &[LayerSize], rates: &RatesAt) -> Vec<f64> {
    let mut left: Vec<f64> = layers.iter().map(|layer| layer.compressed.max(0.0)).collect();
    let mut arrived = vec![0.0; layers.len()];
    let mut now = 0.0;
    let mut active: Vec<usize> = Vec::new();
    let mut next = 0;
    loop {
        while active.len() < rates.slots && next < layers.len() {
            if left[next] > 0.0 {
                active.push(next);
            }
            next += 1;
        }
        let share = |free: &mut f64| {
            let rate = free.min(rates.connection);
            *free -= rate;
            rate
        };
        let mut free = rates.network;
        let speeds: Vec<f64> = active.iter().map(|_| share(&mut free)).collect();
        let ends = active.iter().zip(&speeds).map(|(at, speed)| left[*at] / speed);
        // A layer without a share of the link ends never: infinite, or NaN for nothing left, which is excluded.
        let Some(step) = ends.filter(|end| end.is_finite()).min_by(f64::total_cmp) else { break };
        now += step;
        for (at, speed) in active.iter().zip(&speeds) {
            // The first to end reaches zero exactly, so that every round ends one.
            let end = left[*at] / speed;
            left[*at] = if end <= step { 0.0 } else { (left[*at] - speed * step).max(0.0) };
            if left[*at] <= 0.0 {
                arrived[*at] = now;
            }
        }
        active.retain(|at| left[*at] > 0.0);
        if active.is_empty() && next >= layers.len() {
            break;
        }
    }
    arrived
}

/// Seconds to unpack one layer: decompression and writing overlap as far as the engine does both at the same time.
pub fn unpack(layer: &LayerSize, rates: &RatesAt) -> f64 {
    let inflate = rates.inflate(layer.codec, layer.compressed, layer.uncompressed);
    let write = layer.uncompressed.max(0.0) / rates.write + layer.entries.max(0.0) / rates.files;
    rates.together(layer.codec, inflate, write) + rates.layer
}

/// Pulls layers: downloads in parallel, unpacking in order.
pub fn pull(layers: &[LayerSize], rates: &RatesAt) -> Pull {
    let arrived = arrivals(layers, rates);
    let download = arrived.iter().copied().fold(0.0, f64::max);
    let mut pull = Pull { download, ..Pull::default() };
    let mut now = 0.0_f64;
    for (layer, arrived) in layers.iter().zip(&arrived) {
        let ready = if rates.pipelined { *arrived } else { download };
        let work = unpack(layer, rates);
        pull.unpack += work;
        now = now.max(ready) + work;
    }
    pull.total = now;
    pull
}

/// Seconds until a lazily loaded container has read what start-up reads: opening the indexes, fetching chunks,
/// decompressing them. `ratio` is compressed per uncompressed bytes of the image; `codec` its compression.
pub fn lazy(
    layers: usize,
    read: &ReadSize,
    ratio: f64,
    codec: Compression,
    format: &LazyFormat,
    rates: &RatesAt,
) -> f64 {
    let end = rates.end;
    let index = end.cost(format.layer_seconds) * layers as f64 / rates.slots as f64;
    let chunks = read.bytes / (f64::from(format.chunk_kib.max(1)) * 1024.0);
    // Small files share a chunk at best; each is a fetch of its own at worst.
    let requests = match end {
        End::Best => chunks,
        End::Middle => chunks + read.files / 2.0,
        End::Worst => chunks + read.files,
    };
    let latency = requests * end.cost(format.request_seconds) / end.rate(format.parallel);
    let wire = if format.compressed { read.bytes * ratio } else { read.bytes };
    let fetch = wire / (end.rate(format.fetch_mb_s) * 1e6).min(rates.network);
    let inflate = if format.compressed { rates.inflate(codec, wire, read.bytes) } else { 0.0 };
    index + latency + fetch + inflate
}

/// Seconds as an interval with its middle; `low <= middle <= high`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// At the favourable end of all rates.
    pub low: f64,
    /// In the middle.
    pub middle: f64,
    /// At the unfavourable end.
    pub high: f64,
}

impl Seconds {
    /// Evaluates a duration at all ends. Stops at the first unknown.
    pub fn of(rates: &Rates, duration: impl Fn(&RatesAt) -> Option<f64>) -> Option<Self> {
        let [low, middle, high] = End::ALL.map(|end| duration(&rates.at(end)));
        Some(Self { low: low?, middle: middle?, high: high? })
    }

    /// How much less `after` takes, end by end, sorted: ends need not be in order when what changes is a share.
    pub fn saved(&self, after: &Self) -> Self {
        let mut all = [self.low - after.low, self.middle - after.middle, self.high - after.high];
        all.sort_by(f64::total_cmp);
        Self { low: all[0], middle: all[1], high: all[2] }
    }
}

/// An interval of seconds in words: `4.2 to 9.1 s`, `43 to 110 s`, `2.1 to 8.4 min`, and `1.5 s to 2.2 min` where one
/// unit would round the lower bound away; a dash if a bound is not a number of seconds.
pub fn span(low: f64, high: f64) -> String {
    /// Three years; a longer estimate is an error in a saved report.
    const MOST: f64 = 1e8;
    let largest = low.abs().max(high.abs());
    if !(low.is_finite() && high.is_finite() && largest < MOST) {
        return "–".to_owned();
    }
    // Without the sign of a negative zero.
    let number = |seconds: f64, digits: usize| format!("{seconds:.digits$}").replace("-0.0", "0.0");
    let (unit, scale, digits) = match largest {
        size if size < 9.95 => ("s", 1.0, 1),
        size if size < 119.5 => ("s", 1.0, 0),
        _ => ("min", 60.0, 1),
    };
    let shown = |seconds: f64| number(seconds / scale, digits);
    // Below this, less than two digits are left of the lower bound.
    let small = (0.05..if unit == "min" { 30.0 } else { 0.95 }).contains(&low.abs());
    let (low_text, high_text) = (shown(low), shown(high));
    if unit == "min" && small {
        format!("{} s to {high_text} {unit}", number(low, usize::from(low.abs() < 9.95)))
    } else if digits == 0 && small {
        format!("{} to {high_text} {unit}", number(low, 1))
    } else if low_text == high_text {
        format!("{low_text} {unit}")
    } else {
        format!("{low_text} to {high_text} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::rates::{Decoder, End, RatesAt};
    use super::{LayerSize, ReadSize, arrivals, lazy, pull, span, unpack};
    use crate::cuda::catalog::Catalog;
    use crate::deploy::{Rates, find_profile};
    use crate::formats::compression::Compression;

    /// 100 MB/s of network, 60 per connection, 2 slots, gzip 200, write 500, 1000 files/s, 0.1 s a layer.
    fn rates(end: End) -> RatesAt {
        let overlap = match end {
            End::Best => 1.0,
            End::Middle => 0.5,
            End::Worst => 0.0,
        };
        let decoder = |rate, input_share| Decoder { rate, input_share, overlap };
        let decoders =
            [("gzip", decoder(200e6, 0.0)), ("zstd", decoder(800e6, 0.25)), ("none", decoder(4000e6, 0.0))];
        RatesAt::for_tests(end, BTreeMap::from(decoders))
    }

    fn layer(compressed: f64, uncompressed: f64, entries: f64) -> LayerSize {
        LayerSize {
            compressed: compressed * 1e6,
            uncompressed: uncompressed * 1e6,
            entries,
            codec: Compression::Gzip,
        }
    }

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-6, "{found} is not {wanted}");
    }

    #[test]
    fn layers_arrive_by_slots_and_shares_of_the_link() {
        // 60 to the first, 40 to the second; at 2 s the first (120) is here and the second has 120 left of 200.
        // Then 60 to the second and 40 to the third: the second ends at 4 s, the third (100) has 20 left: 20/60.
        let layers = [layer(120.0, 0.0, 0.0), layer(200.0, 0.0, 0.0), layer(100.0, 0.0, 0.0)];
        let arrived = arrivals(&layers, &rates(End::Best));
        near(arrived[0], 2.0);
        near(arrived[1], 4.0);
        near(arrived[2], 4.0 + 20.0 / 60.0);
        assert_eq!(arrivals(&[], &rates(End::Best)), Vec::<f64>::new());
        assert_eq!(arrivals(&[layer(0.0, 1.0, 1.0)], &rates(End::Best)), [0.0]);
    }

    #[test]
    fn unpacking_overlaps_at_best_and_adds_up_at_worst() {
        // Inflate 400/200 = 2 s; write 400/500 + 500/1000 = 1.3 s; 0.1 s for the layer.
        let one = layer(100.0, 400.0, 500.0);
        near(unpack(&one, &rates(End::Best)), 2.1);
        near(unpack(&one, &rates(End::Worst)), 3.4);
        near(unpack(&one, &rates(End::Middle)), 2.75);
    }

    #[test]
    fn decompression_takes_longer_for_content_that_compresses_less() {
        let zstd = |compressed| LayerSize { codec: Compression::Zstd, ..layer(compressed, 800.0, 0.0) };
        let inflate =
            |layer: LayerSize| rates(End::Best).inflate(layer.codec, layer.compressed, layer.uncompressed);
        near(inflate(zstd(400.0)), 1.0);
        near(inflate(zstd(800.0)), 1.25);
        near(inflate(zstd(80.0)), 0.8);
        near(inflate(layer(80.0, 800.0, 0.0)), 4.0);
    }

    #[test]
    fn layers_are_unpacked_in_order_as_they_arrive() {
        let layers = [layer(120.0, 400.0, 500.0), layer(200.0, 200.0, 0.0)];
        // The first arrives at 2 s and takes 2.1 s; the second arrives at 4 s (120 MB left at 60 MB/s) and takes 1.1 s.
        let done = pull(&layers, &rates(End::Best));
        near(done.download, 4.0);
        near(done.unpack, 3.2);
        near(done.total, 4.1 + 1.1);
        let apart = pull(&layers, &RatesAt { pipelined: false, ..rates(End::Best) });
        near(apart.total, 4.0 + 3.2);
    }

    #[test]
    fn lazy_loading_fetches_what_is_read() {
        let catalog = Catalog::builtin();
        let format = catalog.lazy_format("estargz").unwrap();
        let read = ReadSize { bytes: 400e6, files: 100.0 };
        // Best: index 0.05 * 4 / 2; 400e6 / 4 MiB = 95.37 chunks * 0.01 / 4; wire 200 MB at min(250, 100); inflate 2 s.
        let best = lazy(4, &read, 0.5, Compression::Gzip, format, &rates(End::Best));
        near(best, 0.1 + 400e6 / 4_194_304.0 * 0.01 / 4.0 + 2.0 + 2.0);
        let worst = lazy(4, &read, 0.5, Compression::Gzip, format, &rates(End::Worst));
        near(worst, 1.0 + (400e6 / 4_194_304.0 + 100.0) * 0.08 + 200.0 / 30.0 + 2.0);
    }

    #[test]
    fn the_middle_lies_between_the_ends_for_every_profile() {
        let catalog = Catalog::builtin();
        let layers = [layer(300.0, 900.0, 20_000.0), layer(2000.0, 5000.0, 30_000.0)];
        for profile in catalog.profiles() {
            let rates = Rates::of(catalog, find_profile(catalog, &profile.id).unwrap(), None).unwrap();
            let [low, middle, high] = End::ALL.map(|end| pull(&layers, &rates.at(end)).total);
            assert!(0.0 < low && low < middle && middle < high, "{}: {low} {middle} {high}", profile.id);
        }
    }

    #[test]
    fn spans_have_one_unit() {
        for (low, high, text) in [
            (4.21, 9.1, "4.2 to 9.1 s"),
            (4.2, 43.4, "4 to 43 s"),
            (43.0, 400.0, "0.7 to 6.7 min"),
            (0.961, 134.6, "1.0 s to 2.2 min"),
            (15.7, 134.6, "16 s to 2.2 min"),
            (-15.7, 134.6, "-16 s to 2.2 min"),
            (0.0, 134.6, "0.0 to 2.2 min"),
            (0.31, 43.4, "0.3 to 43 s"),
            (-2.0, 3.0, "-2.0 to 3.0 s"),
            (0.0, 0.04, "0.0 s"),
            (-0.01, 0.0, "0.0 s"),
            (1.0, f64::NAN, "–"),
            (1.0, 1e300, "–"),
        ] {
            assert_eq!(span(low, high), text);
        }
    }

    fn layers() -> impl Strategy<Value = Vec<LayerSize>> {
        let one = (0.0..3000.0_f64, 1.0..4.0_f64, 0.0..50_000.0_f64);
        prop::collection::vec(one.prop_map(|(bytes, ratio, files)| layer(bytes, bytes * ratio, files)), 0..12)
    }

    proptest! {
        #[test]
        fn fewer_bytes_are_never_slower(layers in layers(), at in 0..12_usize, share in 0.0..1.0_f64, slots in 1..6_usize) {
            for end in End::ALL {
                let rates = RatesAt { slots, ..rates(end) };
                let mut less = layers.clone();
                if let Some(one) = less.get_mut(at) {
                    one.compressed *= share;
                    one.uncompressed *= share;
                    one.entries *= share;
                }
                prop_assert!(pull(&less, &rates).total <= pull(&layers, &rates).total + 1e-6);
            }
        }

        #[test]
        fn more_slots_and_faster_rates_are_never_slower(layers in layers(), slots in 1..6_usize, faster in 1.0..3.0_f64) {
            for end in End::ALL {
                let few = RatesAt { slots, ..rates(end) };
                let total = pull(&layers, &few).total;
                let more = RatesAt { slots: slots + 1, ..few.clone() };
                prop_assert!(pull(&layers, &more).total <= total + 1e-6);
                for quick in [
                    RatesAt { network: few.network * faster, ..few.clone() },
                    RatesAt { write: few.write * faster, ..few.clone() },
                    RatesAt { files: few.files * faster, ..few.clone() },
                    RatesAt { pipelined: true, ..few.clone() },
                ] {
                    prop_assert!(pull(&layers, &quick).total <= total + 1e-6);
                }
                // Side by side, a faster connection takes more of the link from the others, of which the last one then has
                // more left: two layers of 2.9 and 2.8 GB take 1 % longer with 66 MB/s than with 60.
                let alone = RatesAt { slots: 1, ..few.clone() };
                let quick = RatesAt { connection: few.connection * faster, ..alone.clone() };
                prop_assert!(pull(&layers, &quick).total <= pull(&layers, &alone).total + 1e-6);
            }
        }
    }
}
