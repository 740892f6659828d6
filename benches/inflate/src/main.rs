//! Measures, in CPU seconds of this process, what no analysis of a compressed image can go below:
//! inflating the layers with one backend, and hashing the blobs.

use std::env;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::process::ExitCode;

use sha2::{Digest, Sha256};

const USAGE: &str = "usage: inflate-bench inflate|sha|both FILE.gz...";
const BUFFER: usize = 256 << 10;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let (inflate, hash) = match mode.to_str() {
        Some("inflate") => (true, false),
        Some("sha") => (false, true),
        Some("both") => (true, true),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let (mut compressed, mut plain) = (0, 0);
    for path in arguments {
        let result = File::open(&path).and_then(|file| {
            let mut source = Hashing { inner: file, hasher: hash.then(Sha256::new), bytes: 0 };
            if inflate {
                plain += drain(&mut decoder(&mut source))?;
            }
            // What is left: everything when only hashing.
            drain(&mut source)?;
            compressed += source.bytes;
            if let Some(hasher) = source.hasher {
                std::hint::black_box(hasher.finalize());
            }
            Ok(())
        });
        if let Err(error) = result {
            eprintln!("error: {}: {error}", path.display());
            return ExitCode::from(2);
        }
    }
    let (user, system) = cpu_seconds();
    println!(
        "{} {}: cpu {:.3} (user {user:.3}, system {system:.3}), {compressed} bytes in, {plain} out",
        backend(),
        mode.display(),
        user + system
    );
    ExitCode::SUCCESS
}

fn backend() -> &'static str {
    if cfg!(feature = "isal") {
        "isal"
    } else if cfg!(feature = "zlib-ng") {
        "zlib-ng"
    } else {
        "zlib-rs"
    }
}

#[cfg(not(feature = "isal"))]
fn decoder<'a>(source: impl Read + 'a) -> impl Read + 'a {
    flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(BUFFER, source))
}

#[cfg(feature = "isal")]
fn decoder<'a>(source: impl Read + 'a) -> impl Read + 'a {
    isal::read::Decoder::new(BufReader::with_capacity(BUFFER, source), isal::Codec::Gzip)
}

struct Hashing<R> {
    inner: R,
    hasher: Option<Sha256>,
    bytes: u64,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buffer[..count]);
        }
        self.bytes += count as u64;
        Ok(count)
    }
}

fn drain(source: &mut impl Read) -> io::Result<u64> {
    let mut buffer = vec![0; BUFFER];
    let mut total = 0;
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(count) => total += count as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn cpu_seconds() -> (f64, f64) {
    // SAFETY: getrusage fills the structure it is given, which is plain data.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}
