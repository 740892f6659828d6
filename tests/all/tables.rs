//! Layers that are read by their tables of contents (eStargz, zstd:chunked), which are fetched by range: our own
//! writers, Debian's docker-registry, and a proxy before it that counts.

mod faults;
mod hostile;
mod same;
mod second;
pub(crate) mod writer;

use cutaway::formats::contents::Format;
use serde_json::json;

use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{self, Coding};
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packages::{dpkg_list, dpkg_status};
use crate::fixtures::tarball::{Member, dir, fifo, file, hardlink, opaque, symlink, whiteout};
use crate::registry::bench::noise;
use crate::registry::proxy::{Kind, Proxy, Seen};
use crate::registry::server::Server;
use crate::support::Place;
use writer::Packed;

/// Bytes of files that nobody asks for.
const BULK: usize = 3 << 20;

/// Layers with something of everything: libraries with GPU code, packages, duplicates that only their bytes tell,
/// scripts that name tools, links, whiteouts, names and owners that need more than a plain header.
fn layers() -> Vec<Vec<Member>> {
    let gpu = fatbin::section(&[80, 90], Some(90), 4096, Coding::Stored, "tables");
    let library = Elf::library("libone.so.1").needing(&["libc.so.6", "libcudart.so.12"]);
    let library = library.with_section(".nv_fatbin", gpu).build();
    let twin = noise("twin", 150_000);
    let mut near = twin.clone();
    near[75_000] ^= 1;
    let long = format!("usr/share/{}/file", "a-long-folder/".repeat(12));
    let mut first = vec![
        file(".no.prefetch.landmark", [0xf]),
        dir("etc"),
        file("etc/os-release", b"ID=ubuntu\nVERSION_ID=\"24.04\"\n".to_vec()),
        file("var/lib/dpkg/status", dpkg_status("libone1", "1.0-1", 100, &[])),
        file("var/lib/dpkg/info/libone1.list", dpkg_list(&["/usr/lib/libone.so.1"])),
        file("usr/lib/libone.so.1", library.clone()),
        hardlink("usr/lib/libalso.so.1", "usr/lib/libone.so.1"),
        symlink("usr/lib/libone.so", "libone.so.1"),
        file("usr/lib/old", vec![b'o'; 700]),
        file("usr/lib/empty.so", ""),
        file(long, b"deep".to_vec()),
        fifo("run/pipe"),
        file("opt/twin-one.bin", twin.clone()),
        file("opt/bulk-one.bin", noise("bulk one", BULK)),
    ];
    for number in 0..300 {
        first.push(file(format!("usr/share/doc/{number}.txt"), format!("page {number}\n").repeat(20)));
    }
    let program = Elf::program("app").needing(&["libone.so.1"]).build();
    let weights = [&8_u64.to_le_bytes()[..], b"{\"a\":{}}", &noise("weights", 2 << 20)].concat();
    let second = vec![
        whiteout("usr/lib/old"),
        opaque("usr/share/doc"),
        file("opt/twin-two.bin", twin),
        file("opt/near.bin", near),
        file("opt/app/libone.so.1", library),
        file("opt/app/app", program).mode(0o755).owned_by(100_000, 70_000),
        file("opt/app/main.py", b"import subprocess\nsubprocess.run(['nvcc', '--version'])\n".to_vec()),
        file("srv/start.sh", b"#!/bin/sh\nexec nvcc --version\n".to_vec()).mode(0o4755),
        file("models/model.safetensors", weights),
        file("opt/bulk-two.bin", noise("bulk two", BULK)),
    ];
    vec![first, second]
}

/// The image, its layers written as `format` has them and changed by `edit`.
fn image(format: Format, edit: &dyn Fn(&mut Packed)) -> Image {
    let mut image = Image::default();
    for (number, members) in layers().into_iter().enumerate() {
        let mut packed = writer::pack(format, &members);
        edit(&mut packed);
        image = image.add(&format!("RUN step {number} # buildkit"), packed.layer(format));
    }
    image.config = json!({"Entrypoint": ["/srv/start.sh"], "Env": ["PATH=/usr/bin"]});
    image
}

/// A registry that holds an image, and the proxy before it.
struct Bench {
    _server: Server,
    proxy: Proxy,
    place: Place,
    image: Image,
}

impl Bench {
    fn new(image: Image) -> Self {
        let server = Server::plain();
        server.push(&Layout::of(&image, "1"), "1", "team/app:1");
        let proxy = Proxy::before(server.port);
        Self { _server: server, proxy, place: Place::new(), image }
    }

    fn reference(&self) -> String {
        format!("docker://127.0.0.1:{}/team/app:1", self.proxy.port)
    }

    /// Requests for bytes of layers.
    fn layer_requests(&self) -> Vec<Seen> {
        let of_layer = |path: &str| self.image.layers.iter().any(|layer| path.contains(&layer.digest));
        self.proxy.of(Kind::Blob).into_iter().filter(|seen| of_layer(&seen.path)).collect()
    }

    /// Bytes of all layers.
    fn layer_bytes(&self) -> u64 {
        self.image.layers.iter().map(|layer| layer.size).sum()
    }
}
