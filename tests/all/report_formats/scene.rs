//! Images that formats have trouble with.

use serde_json::json;

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::debs;
use crate::fixtures::tarball::{file, tar};
use crate::support::Place;

/// What would act in a spreadsheet, a page, a link, a message of SARIF, or on a terminal.
pub const HOSTILE: [&str; 8] = [
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "a,b;c\"d",
    "[x](https://evil.example)",
    "{0} {x}",
    "<script>alert(1)</script>",
    "| a | b |\n# c",
    "\u{202e}txt.\x1b[31m",
];

/// An image whose names are hostile, and whose last layer is missing.
pub fn hostile(place: &Place) -> String {
    let names = HOSTILE.iter().map(|name| file(format!("usr/local/cuda/include/{name}.h"), vec![b'x'; 5000]));
    let mut image = Image::new(Packing::Gzip)
        .layer(
            "=1+1,\"a\";b",
            &tar(debs(&[("zlib1g", "=1+1", &[("usr/lib/x86_64-linux-gnu/libz.so.1", b"z".to_vec())])])),
        )
        .layer(HOSTILE[6], &tar(names))
        .layer("RUN gone # buildkit", &tar([file("gone", "x")]));
    image.config = json!({
        "Env": HOSTILE.map(|text| format!("A={text}")),
        "Labels": {"a": HOSTILE[5], "=b": "=1+1"},
        "Cmd": HOSTILE,
    });
    image.layers[2].stored = false;
    format!("oci:{}", place.put_layout("hostile", &Layout::of(&image, "latest")))
}

/// Files of [`huge`].
pub const HUGE: usize = 6000;

/// An image with as many files of the build as a large one has, and long names.
pub fn huge(place: &Place) -> String {
    let name = |number: usize| format!("usr/local/cuda/include/{}/{number}.h", "long-".repeat(30));
    let files = (0..HUGE).map(|number| file(name(number), format!("{number}")));
    let image =
        Image::new(Packing::Gzip).layer("COPY include /usr/local/cuda/include # buildkit", &tar(files));
    format!("oci:{}", place.put_layout("huge", &Layout::of(&image, "latest")))
}

/// An image without CUDA in which nothing is found.
pub fn plain(place: &Place) -> String {
    let image =
        Image::new(Packing::Plain).layer("COPY app /app # buildkit", &tar([file("app", "#!/bin/sh\n")]));
    format!("oci:{}", place.put_layout("plain", &Layout::of(&image, "latest")))
}
