//! A layer whose end never comes is not complete, whatever came before.

use std::io::{self, Cursor, Read, Write as _};
use std::sync::Arc;

use cutaway::base::{Limits, WarningCode};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::{Context, Expected, read_download};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::fixtures::tarball::{file, tar};

/// Ends with an error instead of an end.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(io::ErrorKind::ConnectionAborted, "invalid gzip header, says the proxy"))
    }
}

fn read(garbage: usize) -> cutaway::layer::LayerRead {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&tar([file("etc/os-release", super::bench::noise("one", 100_000))])).unwrap();
    let mut bytes = packed.finish().unwrap();
    bytes.extend(std::iter::repeat_n(7, garbage));
    let claimed = bytes.len() as u64 + 1000;
    let open = || -> Box<dyn Read + Send> { Box::new(Cursor::new(bytes.clone()).chain(Broken)) };
    let context = Context {
        limits: Limits::default(),
        cancel: CancelToken::new(),
        progress: Progress::default(),
        subject: "the layer".into(),
        kept: Arc::default(),
        inflate: None,
        beside: false,
        points: None,
    };
    read_download(&open, claimed, &Expected::default(), &context).unwrap()
}

#[test]
fn a_layer_whose_end_is_cut_off_behind_a_whole_archive_is_not_complete() {
    for garbage in [0, 100, 4 << 20] {
        let read = read(garbage);
        assert_eq!(read.index.len(), 1, "with {garbage} bytes behind it");
        assert!(!read.complete, "with {garbage} bytes behind it: {:?}", read.warnings);
        assert_eq!((read.digest, read.compressed_bytes), (None, None));
        let told = read.warnings.iter().any(|warning| warning.code == WarningCode::LayerCutShort);
        assert!(told, "{:?}", read.warnings);
    }
}
