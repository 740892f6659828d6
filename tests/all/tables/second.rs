//! A layer that was read by its table of contents is known from then on.

use cutaway::formats::contents::Format;
use serde_json::Value;

use super::{Bench, image};
use crate::registry::bench::ready;

#[test]
fn the_second_opening_fetches_neither_table_nor_files() {
    if !ready() {
        return;
    }
    for format in [Format::Estargz, Format::ZstdChunked] {
        let bench = Bench::new(image(format, &|_| ()));
        let first = bench.place.report_with(&bench.reference(), &[]);
        assert_eq!(first.code, 0);
        assert!(!bench.layer_requests().is_empty());
        bench.proxy.forget();
        let second = bench.place.report_with(&bench.reference(), &[]);
        assert_eq!(second.code, 0);
        assert!(bench.layer_requests().is_empty(), "{format}: {:#?}", bench.layer_requests());
        assert!(bench.proxy.bytes() < 64 << 10, "{format}: {} bytes", bench.proxy.bytes());
        let told = |mut json: Value| {
            for layer in json["layers"].as_array_mut().unwrap() {
                assert!(layer["toc"]["fetched_bytes"].take().is_u64());
            }
            json
        };
        assert!(second.layers().iter().all(|layer| layer["toc"]["fetched_bytes"] == 0));
        assert_eq!(told(second.json), told(first.json), "{format}");
    }
}

#[test]
fn a_tree_alone_is_looked_into_the_next_time() {
    if !ready() {
        return;
    }
    let bench = Bench::new(image(Format::Estargz, &|_| ()));
    let tree = bench.place.report_with(&bench.reference(), &["--depth", "toc"]);
    assert_eq!(tree.code, 2);
    let fetched: u64 = bench.layer_requests().iter().map(|seen| seen.bytes).sum();
    bench.proxy.forget();
    let whole = bench.place.report_with(&bench.reference(), &[]);
    assert_eq!(whole.code, 0);
    assert!(!whole.json["cuda"]["libraries"].as_array().unwrap().is_empty());
    // The files are fetched, and the table, which ends with the layer, is not again.
    assert!(fetched > 0 && !bench.layer_requests().is_empty());
    for seen in bench.layer_requests() {
        let layer = bench.image.layers.iter().find(|layer| seen.path.contains(&layer.digest)).unwrap();
        let last: u64 = seen.range.as_deref().unwrap().rsplit('-').next().unwrap().parse().unwrap();
        assert!(last + 1 < layer.size, "{seen:?} of {} bytes", layer.size);
    }
    // What is known whole does not make a tree more than a tree.
    let tree = bench.place.report_with(&bench.reference(), &["--depth", "toc"]);
    assert_eq!(tree.code, 2);
    assert_eq!(tree.json["cuda"], Value::Null);
}
