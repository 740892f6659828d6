//! The measurements of a calibration.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::path::Path;
use std::time::Instant;

use super::{Calibration, CalibrationError, Effort, Measured, SCHEMA};
use crate::base::convert::in_memory;
use crate::formats::compression::Compression;
use crate::formats::input::decoder;
use crate::jobs::CancelToken;

/// Rounds of each measurement; the smallest and the largest result are the interval.
const ROUNDS: usize = 5;
/// Bytes of one write.
const BLOCK: usize = 1 << 20;
/// Bytes of one small file: the median size of files in Debian and Python packages is about 4 KiB.
const SMALL: usize = 4 << 10;
/// Files of one folder: Debian's `/usr` and Python packages have 3 to 10.
const FILES_IN_FOLDER: u32 = 5;
/// Folders of one folder.
const FOLDERS_IN_FOLDER: u32 = 10;
/// Largest zstd window that the reader of layers accepts without waiting.
const WINDOW_LOG: u32 = 23;

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
    // Removed at the end only: ext4 passes over the inodes of files that were just deleted, one by one.
    let files = |number: usize, sync: bool| {
        create(&inside.path().join(format!("files-{number}-{sync}")), small, effort.files, sync)
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
        #[cfg(target_os = "linux")]
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

/// Creates folders and files as an engine unpacks them: looks whether the name is taken, writes, sets owner, mode,
/// extended attributes and time. Folders count, since a file system spreads them over the disk: most of the time
/// belongs to them.
fn create(folder: &Path, content: &[u8], files: u32, sync: bool) -> io::Result<f64> {
    let start = Instant::now();
    fs::create_dir(folder)?;
    let mut made = 1_u32;
    for number in 0..files {
        let (of, place) = (number / FILES_IN_FOLDER, number % FILES_IN_FOLDER);
        let inside =
            folder.join((of / FOLDERS_IN_FOLDER).to_string()).join((of % FOLDERS_IN_FOLDER).to_string());
        if place == 0 {
            if of % FOLDERS_IN_FOLDER == 0 {
                unpack(inside.parent().unwrap_or(folder), None)?;
                made += 1;
            }
            unpack(&inside, None)?;
            made += 1;
        }
        unpack(&inside.join(place.to_string()), Some(content))?;
        made += 1;
    }
    if sync {
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(File::open(folder)?)?;
        #[cfg(not(target_os = "linux"))]
        rustix::fs::sync();
    }
    Ok(f64::from(made) / seconds(start))
}

/// Creates a file, or a folder without content.
fn unpack(path: &Path, content: Option<&[u8]>) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "a name in the measured folder is taken"));
    }
    let mode = if let Some(content) = content {
        File::create_new(path)?.write_all(content)?;
        0o644
    } else {
        fs::create_dir(path)?;
        0o755
    };
    // The owner it has: another one needs privileges, and takes as long.
    lchown(path, Some(rustix::process::getuid().as_raw()), Some(rustix::process::getgid().as_raw()))?;
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    // A file system without extended attributes refuses, as it refuses the engine.
    rustix::fs::llistxattr(path, &mut [0; 256][..]).ok();
    let epoch = rustix::fs::Timespec { tv_sec: 0, tv_nsec: 0 };
    let times = rustix::fs::Timestamps { last_access: epoch, last_modification: epoch };
    rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::sample;

    #[test]
    fn the_sample_compresses_as_libraries_do() {
        let content = sample(1 << 20);
        let ratio = zstd::encode_all(&content[..], 3).unwrap().len() as f64 / content.len() as f64;
        assert!((0.25..0.65).contains(&ratio), "{ratio}");
    }
}
