//! Earlier checks of this machine, stored in one small file by the caller.

use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::Check;
use crate::base::read_at::{open_regular, read_up_to};
use crate::base::save::save;

/// The schema of the file.
const HISTORY_SCHEMA: &str = "cutaway.gpu-history/1";
/// Maximum stored runs: enough to show a driver change or an intermittent failure.
const RUNS: usize = 50;
/// Maximum bytes of the file. A run of a machine with eight GPUs takes some 12 KiB.
const FILE_BYTES: usize = 2 << 20;

/// One check and its time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Seconds since 1970-01-01 UTC, by the clock of this machine.
    pub unix_seconds: u64,
    /// Result of the check.
    pub check: Check,
}

/// Earlier checks, the oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The runs.
    pub runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Read {
    schema: String,
    #[serde(default)]
    runs: Vec<Run>,
}

#[derive(Serialize)]
struct Written<'a> {
    schema: &'static str,
    runs: &'a [Run],
}

impl History {
    /// Reads the history at `path`. A missing file is an empty history, as is an unreadable or invalid one, with the
    /// reason. The next [`Self::add`] replaces such a file.
    pub fn load(path: &Path) -> (Self, Option<String>) {
        match Self::read(path) {
            Ok(history) => (history, None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Self::default(), None),
            Err(error) => {
                let reason = format!("cannot read the earlier GPU checks in {}: {error}", path.display());
                (Self::default(), Some(reason))
            }
        }
    }

    fn read(path: &Path) -> io::Result<Self> {
        let fault = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
        let bytes = read_up_to(open_regular(path)?, FILE_BYTES as u64)?;
        if bytes.len() > FILE_BYTES {
            return Err(fault(format!("larger than {FILE_BYTES} bytes")));
        }
        let read: Read = serde_json::from_slice(&bytes).map_err(|error| fault(error.to_string()))?;
        if read.schema != HISTORY_SCHEMA {
            return Err(fault(format!("schema {:?}, expected {HISTORY_SCHEMA:?}", read.schema)));
        }
        let mut history = Self { runs: read.runs };
        history.forget(RUNS);
        Ok(history)
    }

    /// Adds a run and writes the history to `path`; creates its folder if missing. The oldest runs are removed beyond
    /// 50, or if the file would exceed the size limit.
    ///
    /// # Errors
    /// System errors; the run is in this history anyway.
    pub fn add(&mut self, path: &Path, run: Run) -> io::Result<()> {
        self.runs.push(run);
        self.forget(RUNS);
        let mut bytes = self.bytes()?;
        while bytes.len() > FILE_BYTES && self.runs.len() > 1 {
            self.forget(self.runs.len() / 2);
            bytes = self.bytes()?;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        save(path, &bytes)
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(&Written { schema: HISTORY_SCHEMA, runs: &self.runs })?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Keeps the newest `count` runs.
    fn forget(&mut self, count: usize) {
        self.runs.drain(..self.runs.len().saturating_sub(count));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{FILE_BYTES, History, RUNS, Run};
    use crate::gpu::Check;

    fn run(unix_seconds: u64) -> Run {
        Run { unix_seconds, check: Check { available: true, ..Check::default() } }
    }

    #[test]
    fn runs_are_kept_in_order_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/gpu.json");
        let (mut history, reason) = History::load(&path);
        assert_eq!((history.runs.len(), reason), (0, None));
        for second in 0..RUNS as u64 + 3 {
            history.add(&path, run(second)).unwrap();
        }
        let (loaded, reason) = History::load(&path);
        assert_eq!((&loaded, reason), (&history, None));
        assert_eq!(loaded.runs.len(), RUNS);
        assert_eq!(loaded.runs[0], run(3));
    }

    #[test]
    fn a_broken_file_is_an_empty_history_with_a_reason_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gpu.json");
        let long = " ".repeat(FILE_BYTES + 1);
        for (text, part) in [
            ("{\"schema\":", "EOF"),
            ("{\"schema\":\"other/1\",\"runs\":[]}", "other/1"),
            (long.as_str(), "larger than"),
        ] {
            fs::write(&path, text).unwrap();
            let (history, reason) = History::load(&path);
            assert!(history.runs.is_empty());
            assert!(reason.as_deref().is_some_and(|reason| reason.contains(part)), "{reason:?}");
        }
        let (mut history, _) = History::load(&path);
        history.add(&path, run(7)).unwrap();
        assert_eq!(History::load(&path).0.runs, [run(7)]);
        assert!(History::load(folder.path()).1.is_some());
    }

    #[test]
    fn a_history_stays_short_enough_to_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gpu.json");
        let mut history = History::default();
        for second in 0..4 {
            let mut long = run(second);
            long.check.notes = vec!["n".repeat(FILE_BYTES / 3)];
            history.add(&path, long).unwrap();
        }
        let (loaded, reason) = History::load(&path);
        assert_eq!(reason, None);
        assert_eq!(loaded.runs.last().map(|run| run.unix_seconds), Some(3));
        assert_eq!(loaded, history);
    }
}
