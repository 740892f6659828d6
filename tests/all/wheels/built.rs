//! Images of big layers, written to disk as they are made.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{BLOCK, Member};
use crate::support::Place;

/// Counts and hashes what is written.
struct Hashed<W> {
    inner: W,
    hasher: Sha256,
    size: u64,
}

impl<W: Write> Hashed<W> {
    fn new(inner: W) -> Self {
        Self { inner, hasher: Sha256::new(), size: 0 }
    }

    fn finish(self) -> (W, String, u64) {
        let hex = self.hasher.finalize().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        (self.inner, hex, self.size)
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write_all(bytes)?;
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// An OCI layout in the making whose layers go to disk as they are made: they are too big to be kept.
pub(crate) struct Built {
    folder: PathBuf,
    image: Image,
    level: Compression,
}

impl Built {
    pub(crate) fn new(place: &Place, environment: &[&str]) -> Self {
        let folder = PathBuf::from(place.path("image"));
        fs::create_dir_all(folder.join("blobs/sha256")).unwrap();
        let mut image = Image::new(Packing::Plain);
        image.config = json!({"Env": environment});
        Self { folder, image, level: Compression::fast() }
    }

    /// With the level at which gzip layers that follow are packed; the fastest without this.
    pub(crate) fn level(mut self, level: u32) -> Self {
        self.level = Compression::new(level);
        self
    }

    /// With one more layer.
    pub(crate) fn layer(mut self, packing: Packing, members: impl IntoIterator<Item = Member>) -> Self {
        fn write(members: impl IntoIterator<Item = Member>, out: &mut impl Write) {
            for member in members {
                let mut bytes = Vec::new();
                member.write(&mut bytes);
                out.write_all(&bytes).unwrap();
            }
            out.write_all(&[0; 2 * BLOCK]).unwrap();
        }
        let path = self.folder.join("blobs/sha256/layer");
        let blob = Hashed::new(BufWriter::new(File::create(&path).unwrap()));
        let (blob, diff_id) = if packing == Packing::Gzip {
            let mut stream = Hashed::new(GzEncoder::new(blob, self.level));
            write(members, &mut stream);
            let (encoder, diff_id, _) = stream.finish();
            (encoder.finish().unwrap().finish(), Some(diff_id))
        } else {
            let mut stream = blob;
            write(members, &mut stream);
            (stream.finish(), None)
        };
        let (mut out, digest, size) = blob;
        out.flush().unwrap();
        fs::rename(&path, path.with_file_name(&digest)).unwrap();
        let mut layer = Layer::of_blob(Vec::new(), Vec::new(), packing);
        layer.diff_id = format!("sha256:{}", diff_id.as_ref().unwrap_or(&digest));
        (layer.digest, layer.size, layer.stored) = (format!("sha256:{digest}"), size, false);
        let step = format!("RUN step {} # buildkit", self.image.layers.len());
        self.image = self.image.add(&step, layer);
        self
    }

    /// Writes the rest of the layout; its reference comes back.
    pub(crate) fn finish(self) -> String {
        Layout::of(&self.image, "latest").write(&self.folder);
        format!("oci:{}", self.folder.display())
    }
}
