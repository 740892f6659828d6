//! Of layers that can be read at any place, next to nothing is read.

use super::{library, number};
use crate::fixtures::docker::save_classic;
use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, Entry, container};
use crate::fixtures::image::Image;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, tar};
use crate::support::Place;

/// The number behind `start` in a text.
fn number_behind(text: &str, start: &str) -> u64 {
    let rest = text.split(start).nth(1).unwrap_or_else(|| panic!("no {start:?}: {text}"));
    rest.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn large_binaries_and_texts_of_plain_layers_are_hardly_read() {
    const CUBIN: usize = 8 << 20;
    const TEXT: usize = 4 << 20;
    let cubin =
        |arch: u32| Entry { content: vec![0x90; CUBIN], ..Entry::cubin(arch, None, 0, Coding::Stored, "") };
    let code = container(&[75, 80, 86, 90, 100, 120].map(cubin));
    let elf = Elf::library("libcublas.so.13").with_section(".nv_fatbin", code).build();
    let text = |letter: u8| vec![letter; TEXT];
    let members = vec![
        file("opt/lib/libcublas.so.13", elf),
        // Two of one size must be compared; the others must not be read.
        file("data/one.json", text(b'a')),
        file("data/two.json", text(b'a')),
        file("data/three.txt", [text(b'c'), vec![b'c']].concat()),
    ];
    let image = Image::new(Packing::Plain).layer("COPY . / # buildkit", &tar(members));
    let place = Place::new();
    let archive = tar(save_classic(&[(&image, &["big:1"])]));
    let total = archive.len() as u64;
    assert!(total > 60 << 20);
    let path = place.put("big.tar", archive);
    let report = place.report(&path);
    let library = library(&report, "/opt/lib/libcublas.so.13");
    assert_eq!(library["gpu_code"].as_array().unwrap().len(), 6);
    assert!(number(&library["gpu_section_bytes"]) > 6 * CUBIN as u64);
    assert_eq!(report.json["cuda"]["identical"][0]["paths"].as_array().unwrap().len(), 2);

    let outcome = place.run(&["report", &path, "-v", "--no-cache"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let read = number_behind(&outcome.stderr, "read ");
    assert!(read > 0 && read < total / 100, "{read} of {total} bytes: {}", outcome.stderr);
    let compared = number_behind(&outcome.stderr, "then read ");
    // Proof needs all bytes of both; samples of them are read before.
    let both = 2 * TEXT as u64;
    assert!((both..both + (64 << 10)).contains(&compared), "{compared} bytes: {}", outcome.stderr);
}
