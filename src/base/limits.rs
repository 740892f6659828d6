//! All limits in one place. Images are untrusted input: each limit bounds a cost.
//!
//! # Untrusted input
//!
//! An image is hostile input.
//!
//! - The limits of an image are in `base/limits.rs`, each with its reason: JSON sizes, index depth, layers,
//!   archive members, entries, path lengths, extension headers, sparse maps, decompressed bytes, zstd
//!   windows, documents read on the way to a manifest, facts stored. The cost of one file for its parser is
//!   limited beside the parser (`formats/binary/limits.rs`, the bounds of `formats/packages`). Memory for
//!   names and folders of a layer grows with its entries only (`layer/builder.rs`). No memory is allocated
//!   because a header claims a size.
//! - Registries, token servers and engines are untrusted too: documents, tokens and error bodies are read up
//!   to a bound, redirects are counted, a download ends at the size declared by the manifest, and server
//!   messages are shown without what was sent.
//! - Media types, sizes, counts and digests are claims. Compression is detected by content; blobs are hashed
//!   as they are read, to their very end, before a digest is judged.
//! - Names are bytes. Unprintable characters are escaped before they reach a terminal, a report or the
//!   window.
//! - Nothing is ever written under a path that an image names. Output goes to a temporary file and is
//!   renamed, except to a device, a pipe or a dangling link, which are written to.
//! - Stored facts are bounded over the whole image, not only per file: facts, documents, lists of files,
//!   entries of a blob that is named as many layers. A kilobyte of headers must not expand to a gigabyte of
//!   facts.
//! - A root filesystem is walked without following links and without leaving its file system; only regular
//!   files are opened, and only relevant ones; files that are mostly holes are not read. A blob must be a
//!   regular file; a layout may contain symbolic links to its blobs, as build systems create them, and their
//!   targets are checked like any other.
//! - A zstd window above the common 8 MiB is allocated by one layer at a time, and one above the maximum is
//!   rejected by name.
//! - Values that look like secrets are redacted in every output, unless the user disables it.

/// Limits on what is read from an image. The program uses the default; tests lower single values.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of one index, manifest or image config. Registries refuse manifests over 4 MiB; configs of
    /// real images stay under 1 MiB.
    pub json_bytes: u64,
    /// Indexes inside indexes. Real ones nest once or twice.
    pub index_depth: usize,
    /// Bytes of all documents that are read to find one image in nested indexes.
    pub documents_bytes: u64,
    /// Descriptors in one index: a multi-platform image with attestations has some dozens.
    pub index_descriptors: usize,
    /// Layers of an image. Docker stops at 127; flattened build systems make a few hundred.
    pub layers: usize,
    /// Members of one image archive (not of a layer): the blobs and their folders.
    pub archive_members: usize,
    /// Bytes of the names of those members.
    pub archive_name_bytes: usize,
    /// Bytes of documents stored while an archive is streamed, before its manifest is known: once for those of up to 1
    /// MiB, which indexes and configs are, and once for larger ones, mostly attestations.
    pub archive_json_total: u64,
    /// Members of one layer. The largest known images have under two million.
    pub layer_entries: usize,
    /// Entries of all layers of an image together.
    pub image_entries: u64,
    /// Bytes of one path or link target. Linux stops at 4096; a few build tools write longer ones.
    pub path_bytes: usize,
    /// Bytes of one PAX extension header: every extended attribute of a file fits.
    pub pax_bytes: u64,
    /// Extended sparse headers of one file, 21 ranges each.
    pub sparse_blocks: usize,
    /// Declared bytes of a sparse file: the largest file on ext4.
    pub sparse_file_bytes: u64,
    /// Bytes that one layer or compressed archive may inflate to.
    pub inflated_bytes: u64,
    /// Base-2 logarithm of the largest zstd window: 128 MiB, as of `zstd --long`.
    pub zstd_window_log: u32,
    /// Stored bytes of one table of contents. JSON of paths compresses to a sixth or less, so this exceeds the need of
    /// [`Self::table_json_bytes`].
    pub table_bytes: u64,
    /// Bytes of one table of contents as JSON: some 600,000 entries of 300 to 500 bytes, as in real images. Layers with
    /// a larger table are read completely.
    pub table_json_bytes: u64,
    /// Bytes of one package database: enough for a system with a whole distribution installed.
    pub database_bytes: u64,
    /// Bytes of one other stored document, such as the file list of a package. The longest known `RECORD` has 3 MiB.
    pub document_bytes: u64,
    /// Stored bytes of a document whose head is sufficient.
    pub document_head_bytes: u64,
    /// Compressed bytes of all documents stored for a layer: some 100,000 packages.
    pub documents_total: u64,
    /// Bytes of all facts stored for an image, of binaries and documents. Those of an image with 300,000 files take 20
    /// MB.
    pub facts_total: u64,
    /// Analysed binaries and scripts of one layer; whole distributions have under 50,000.
    pub layer_binaries: usize,
    /// Distinct warnings stored for one code and layer; the rest is counted.
    pub warnings_per_code: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            json_bytes: 8 << 20,
            index_depth: 8,
            documents_bytes: 64 << 20,
            index_descriptors: 10_000,
            layers: 2_048,
            archive_members: 20_000,
            archive_name_bytes: 16 << 20,
            archive_json_total: 16 << 20,
            layer_entries: 10_000_000,
            image_entries: 20_000_000,
            path_bytes: 32 << 10,
            pax_bytes: 1 << 20,
            sparse_blocks: 100_000,
            sparse_file_bytes: 16 << 40,
            inflated_bytes: 256 << 30,
            zstd_window_log: 27,
            table_bytes: 64 << 20,
            table_json_bytes: 256 << 20,
            database_bytes: 256 << 20,
            document_bytes: 8 << 20,
            document_head_bytes: 256 << 10,
            documents_total: 256 << 20,
            facts_total: 512 << 20,
            layer_binaries: 500_000,
            warnings_per_code: 20,
        }
    }
}
