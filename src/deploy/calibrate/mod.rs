//! Rates of this machine: decompression, writing, creating files, reading. Measured in a folder that is removed again.

mod measure;

use std::path::{Path, PathBuf};
use std::{fs, io};

use directories::ProjectDirs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::read_at::{open_regular, read_up_to};
use crate::base::save::save;
use crate::cuda::catalog::{Interval, Node};
use crate::formats::compression::Compression;
use crate::jobs::Cancelled;

pub use measure::calibrate;

/// Schema of stored calibrations.
pub const SCHEMA: &str = "cutaway.calibration/1";
/// The file with the rates, instead of `rates.json` in the user's configuration folder.
pub const FILE_VARIABLE: &str = "CUTAWAY_RATES_FILE";
/// Maximum bytes of a stored calibration; one has about 700.
const FILE_BYTES: u64 = 1 << 16;
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
    /// Creating folders and files of 4 KiB with owner, mode, attributes and time, per second: `low` until all are on the disk, `high` until the system has them.
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

    /// Replaces the rates of a node by the measured ones, files times the speed of its engine. Committing a layer takes between 2 and 20 fsyncs: containerd
    /// stores its metadata in bolt, which syncs twice for each of several transactions.
    pub(super) fn apply(&self, node: &mut Node) {
        let interval = |one: Measured| Interval { low: one.low, high: one.high };
        node.write_mb_s = interval(self.write_mb_s);
        let (files, engine) = (self.files_per_s, node.engine_files);
        node.files_per_s = Interval { low: files.low * engine.low, high: files.high * engine.high };
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

#[cfg(test)]
mod tests {
    use super::{Calibration, CalibrationError, Effort, calibrate};
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
}
