//! Rates of this machine: decompression, writing, creating files, reading. Measured in a folder that is removed again.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use directories::ProjectDirs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::convert::in_memory;
use crate::base::read_at::{open_regular, read_up_to};
use crate::base::save::save;
use crate::cuda::catalog::{Interval, Node};
use crate::formats::compression::Compression;
use crate::formats::input::decoder;
use crate::jobs::{CancelToken, Cancelled};

/// Schema of stored calibrations.
pub const SCHEMA: &str = "cutaway.calibration/1";
/// The file with the rates, instead of `rates.json` in the user's configuration folder.
pub const FILE_VARIABLE: &str = "CUTAWAY_RATES_FILE";
/// Maximum bytes of a stored calibration; one has about 700.
const FILE_BYTES: u64 = 1 << 16;
/// Rounds of each measurement; the smallest and the largest result are the interval.
const ROUNDS: usize = 5;
/// Bytes of one write.
const BLOCK: usize = 1 << 20;
/// Bytes of one small file: the median size of files in Debian and Python packages is about 4 KiB.
const SMALL: usize = 4 << 10;
/// Largest zstd window that the reader of layers accepts without waiting.
const WINDOW_LOG: u32 = 23;

/// How much a calibration writes and decompresses.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Uncompressed bytes that each decoder produces in a round.
    pub content_bytes: u64,
    /// Bytes written in a round.
    pub write_bytes: u64,
    /// Files created in a round.
    pub files: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Self { content_bytes: 48 << 20, write_bytes: 256 << 20, files: 4000 }
    }
}

/// A measured interval: smallest and largest result of the rounds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Measured {
    /// Smallest result.
    pub low: f64,
    /// Largest result.
    pub high: f64,
}

/// Rates of this machine. MB is 10^6 bytes.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Calibration {
    /// Name and version of this schema.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of the program that measured.
    pub version: String,
    /// Folder in which was written.
    pub folder: String,
    /// Decompression of gzip by this program, one stream, in MB/s of output.
    pub gzip_inflate_mb_s: Measured,
    /// Decompression of zstd by this program, one stream, in MB/s of output.
    pub zstd_inflate_mb_s: Measured,
    /// Writing one large file: `low` until it is on the disk, `high` until the system has it.
    pub write_mb_s: Measured,
    /// Creating files of 4 KiB with mode and time, per second: `low` until all are on the disk, `high` until the system has them.
    pub files_per_s: Measured,
    /// Writing one small file until it is on the disk (fsync), in seconds.
    pub fsync_seconds: Measured,
    /// Reading one large file: `low` from the disk, `high` from memory.
    pub read_mb_s: Measured,
}

/// Why a calibration is not available.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// A measurement failed.
    #[error("cannot measure in {folder}: {source}")]
    Measure {
        /// The folder.
        folder: String,
        /// System error.
        source: io::Error,
    },
    /// No stored rates.
    #[error("no measured rates: {file} does not exist")]
    Missing {
        /// The expected file.
        file: String,
    },
    /// The file cannot be read or written.
    #[error("cannot access {file}: {source}")]
    File {
        /// The file.
        file: String,
        /// System error.
        source: io::Error,
    },
    /// The file is not a calibration.
    #[error("invalid rates in {file}: {message}")]
    Invalid {
        /// The file.
        file: String,
        /// Reason.
        message: String,
    },
    /// No home folder.
    #[error("no configuration folder: set {FILE_VARIABLE}")]
    NoHome,
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl CalibrationError {
    /// Advice for the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing { .. } | Self::Invalid { .. } => Some("run cutaway calibrate"),
            Self::Measure { .. } => Some("choose another folder with --dir"),
            _ => None,
        }
    }
}

/// The file with the rates of this machine: `$CUTAWAY_RATES_FILE`, else `rates.json` in the user's configuration
/// folder (XDG).
///
/// # Errors
/// No home folder.
pub fn rates_file() -> Result<PathBuf, CalibrationError> {
    if let Some(file) = std::env::var_os(FILE_VARIABLE).filter(|file| !file.is_empty()) {
        return Ok(file.into());
    }
    let folders = ProjectDirs::from("", "", "cutaway").ok_or(CalibrationError::NoHome)?;
    Ok(folders.config_dir().join("rates.json"))
}

impl Calibration {
    /// Reads stored rates.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, or has other contents.
    pub fn load(file: &Path) -> Result<Self, CalibrationError> {
        let name = file.display().to_string();
        let bytes = open_regular(file).and_then(|opened| read_up_to(opened, FILE_BYTES));
        let bytes = bytes.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => CalibrationError::Missing { file: name.clone() },
            _ => CalibrationError::File { file: name.clone(), source },
        })?;
        let invalid = |message: String| CalibrationError::Invalid { file: name.clone(), message };
        let read: Self = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        if read.schema != SCHEMA {
            return Err(invalid(format!("the schema is not {SCHEMA}")));
        }
        let valid = |one: &Measured| one.low > 0.0 && one.high >= one.low && one.high.is_finite();
        if !read.all().iter().all(valid) {
            return Err(invalid("rates must be positive, finite and ordered".to_owned()));
        }
        Ok(read)
    }

    /// Stores the rates; creates the folder.
    ///
    /// # Errors
    /// System errors.
    pub fn store(&self, file: &Path) -> Result<(), CalibrationError> {
        let name = file.display().to_string();
        let fault = |source| CalibrationError::File { file: name.clone(), source };
        if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(fault)?;
        }
        let json = serde_json::to_string_pretty(self).map_err(|error| fault(error.into()))?;
        save(file, format!("{json}\n").as_bytes()).map_err(fault)
    }

    /// The measured rate of a decoder, in the middle of its interval.
    pub(super) fn inflate(&self, codec: Compression) -> Option<f64> {
        let measured = match codec {
            Compression::Gzip => self.gzip_inflate_mb_s,
            Compression::Zstd => self.zstd_inflate_mb_s,
            Compression::None => return None,
        };
        Some((measured.low * measured.high).sqrt())
    }

    /// Replaces the rates of a node by the measured ones. Committing a layer takes between 2 and 20 fsyncs: containerd
    /// stores its metadata in bolt, which syncs twice for each of several transactions.
    pub(super) fn apply(&self, node: &mut Node) {
        let interval = |one: Measured| Interval { low: one.low, high: one.high };
        node.write_mb_s = interval(self.write_mb_s);
        node.files_per_s = interval(self.files_per_s);
        node.read_mb_s = interval(self.read_mb_s);
        node.layer_seconds =
            Interval { low: 2.0 * self.fsync_seconds.low, high: 20.0 * self.fsync_seconds.high };
    }

    fn all(&self) -> [Measured; 6] {
        [
            self.gzip_inflate_mb_s,
            self.zstd_inflate_mb_s,
            self.write_mb_s,
            self.files_per_s,
            self.fsync_seconds,
            self.read_mb_s,
        ]
    }
}

/// Measures this machine in a temporary folder inside `folder`, which should be on the disk of the container engine.
/// Takes some ten seconds. `tell` is called before each measurement.
///
/// # Errors
/// The folder cannot be written, or cancelled.
pub fn calibrate(
    folder: &Path,
    effort: Effort,
    cancel: &CancelToken,
    tell: &dyn Fn(&str),
) -> Result<Calibration, CalibrationError> {
    let shown = folder.display().to_string();
    let fault = |source| CalibrationError::Measure { folder: shown.clone(), source };
    let inside = tempfile::Builder::new().prefix(".cutaway-calibrate-").tempdir_in(folder).map_err(fault)?;
    let content = sample(effort.content_bytes);
    let rounds = |what: &str, round: &dyn Fn(usize) -> io::Result<f64>| {
        tell(what);
        let mut results = Vec::with_capacity(ROUNDS);
        for number in 0..ROUNDS {
            cancel.check()?;
            results.push(round(number).map_err(fault)?);
        }
        Ok::<Measured, CalibrationError>(Measured {
            low: results.iter().copied().fold(f64::INFINITY, f64::min),
            high: results.iter().copied().fold(0.0, f64::max),
        })
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    let gzip = gzip.write_all(&content).and_then(|()| gzip.finish()).map_err(fault)?;
    let zstd = zstd::encode_all(&content[..], 3).map_err(fault)?;
    let gzip_inflate_mb_s = rounds("gzip", &|_| inflate(&gzip, Compression::Gzip, content.len()))?;
    let zstd_inflate_mb_s = rounds("zstd", &|_| inflate(&zstd, Compression::Zstd, content.len()))?;
    let large = inside.path().join("large");
    let block = &content[..content.len().min(BLOCK)];
    let written = rounds("write", &|_| write(&large, block, effort.write_bytes, false))?;
    let synced = rounds("write and sync", &|_| write(&large, block, effort.write_bytes, true))?;
    let from_disk = rounds("read from disk", &|_| read(&large, false))?;
    let from_memory = rounds("read from memory", &|_| read(&large, true))?;
    let small = &block[..block.len().min(SMALL)];
    let files = |number: usize, sync: bool| {
        let folder = inside.path().join(format!("files-{number}-{sync}"));
        let rate = create(&folder, small, effort.files, sync);
        fs::remove_dir_all(&folder).and(rate)
    };
    let created = rounds("create files", &|number| files(number, false))?;
    let created_synced = rounds("create files and sync", &|number| files(number, true))?;
    let fsync_seconds = rounds("fsync", &|_| {
        let start = Instant::now();
        let mut file = File::create(inside.path().join("synced"))?;
        file.write_all(small)?;
        file.sync_all()?;
        Ok(seconds(start))
    })?;
    let span = |low: Measured, high: Measured| Measured {
        low: low.low.min(high.low),
        high: high.high.max(low.high),
    };
    Ok(Calibration {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: shown.clone(),
        gzip_inflate_mb_s,
        zstd_inflate_mb_s,
        write_mb_s: span(synced, written),
        files_per_s: span(created_synced, created),
        fsync_seconds,
        read_mb_s: span(from_disk, from_memory),
    })
}

/// Seconds since `start`, never zero.
fn seconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64().max(1e-9)
}

fn rate(bytes: u64, start: Instant) -> f64 {
    bytes as f64 / 1e6 / seconds(start)
}

/// Content that compresses to about half, as libraries do: text-like runs between bytes without pattern.
fn sample(bytes: u64) -> Vec<u8> {
    let mut content = Vec::with_capacity(in_memory(bytes));
    // xorshift64 (Marsaglia): the same content on every machine.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    while content.len() < in_memory(bytes) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let random = state.to_le_bytes();
        content.extend_from_slice(&random);
        // Seven words of a small vocabulary after eight random bytes.
        for byte in random {
            content.extend_from_slice([&b"mov "[..], b"call", b"\0\0\0\0", b"lea "][usize::from(byte & 3)]);
        }
        content.extend_from_slice(&random[..6]);
    }
    content.truncate(in_memory(bytes));
    content
}

fn inflate(compressed: &[u8], codec: Compression, expected: usize) -> io::Result<f64> {
    let start = Instant::now();
    let mut reader = decoder(compressed, codec, WINDOW_LOG)?;
    let mut buffer = vec![0; BLOCK];
    let mut passed = 0_u64;
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            count => passed += count as u64,
        }
    }
    if passed != expected as u64 {
        return Err(io::Error::other("the decoder returned another length"));
    }
    Ok(rate(passed, start))
}

fn write(file: &Path, block: &[u8], bytes: u64, sync: bool) -> io::Result<f64> {
    let start = Instant::now();
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(file)?;
    let mut written = 0;
    while written < bytes {
        file.write_all(block)?;
        written += block.len() as u64;
    }
    if sync {
        file.sync_all()?;
    }
    Ok(rate(written, start))
}

fn read(file: &Path, cached: bool) -> io::Result<f64> {
    let mut file = File::open(file)?;
    if !cached {
        // Advice only: on file systems that ignore it, the result is that of memory.
        file.sync_all()?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    }
    let mut buffer = vec![0; BLOCK];
    let start = Instant::now();
    let mut passed = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(rate(passed, start)),
            count => passed += count as u64,
        }
    }
}

fn create(folder: &Path, content: &[u8], files: u32, sync: bool) -> io::Result<f64> {
    const PER_FOLDER: u32 = 100;
    let start = Instant::now();
    let mut made = 0_u32;
    for number in 0..files {
        let inside = folder.join((number / PER_FOLDER).to_string());
        if number % PER_FOLDER == 0 {
            fs::create_dir_all(&inside)?;
            made += 1;
        }
        // As an unpacker does: content, mode, modification time.
        let mut file = File::create(inside.join(number.to_string()))?;
        file.write_all(content)?;
        file.set_permissions(Permissions::from_mode(0o644))?;
        file.set_modified(SystemTime::UNIX_EPOCH)?;
        made += 1;
    }
    if sync {
        rustix::fs::syncfs(File::open(folder)?)?;
    }
    Ok(f64::from(made) / seconds(start))
}

#[cfg(test)]
mod tests {
    use super::{Calibration, CalibrationError, Effort, calibrate, sample};
    use crate::jobs::CancelToken;

    #[test]
    fn what_is_measured_is_stored_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let effort = Effort { content_bytes: 1 << 16, write_bytes: 1 << 20, files: 20 };
        let measured = calibrate(folder.path(), effort, &CancelToken::new(), &|_| ()).unwrap();
        assert!(measured.all().iter().all(|one| one.low > 0.0 && one.high >= one.low));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
        let file = folder.path().join("new/rates.json");
        measured.store(&file).unwrap();
        assert_eq!(Calibration::load(&file).unwrap(), measured);
        std::fs::write(&file, std::fs::read_to_string(&file).unwrap().replace("calibration/1", "x/1"))
            .unwrap();
        assert!(matches!(Calibration::load(&file), Err(CalibrationError::Invalid { .. })));
        let missing = Calibration::load(&folder.path().join("none")).unwrap_err();
        assert_eq!(missing.hint(), Some("run cutaway calibrate"));
        let cancel = CancelToken::new();
        cancel.cancel();
        let stopped = calibrate(folder.path(), effort, &cancel, &|_| ());
        assert!(matches!(stopped, Err(CalibrationError::Cancelled(_))));
    }

    #[test]
    fn the_sample_compresses_as_libraries_do() {
        let content = sample(1 << 20);
        let ratio = zstd::encode_all(&content[..], 3).unwrap().len() as f64 / content.len() as f64;
        assert!((0.25..0.65).contains(&ratio), "{ratio}");
    }
}
