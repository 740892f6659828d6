//! Copy bandwidth.

use super::Bandwidth;
use super::fault::Fault;
use super::resources::{Context, Copy, Event, Memory, Pinned, Stream};

/// Bytes of one copy: enough that the launch overhead is negligible.
const BYTES: usize = 256 << 20;
/// Below this size the result would measure launch overhead.
const LEAST: usize = 1 << 20;
/// Measured copies after one warm-up copy; the best counts.
const COPIES: usize = 5;

/// Measures copies to the device, from it, and on it.
///
/// # Errors
/// The driver reports an error, or there is too little free memory.
pub(super) fn measure(context: &Context<'_>, stream: &Stream<'_>) -> Result<Bandwidth, Fault> {
    let (free, _) = context.cuda.memory_info()?;
    let bytes = size(free);
    if bytes < LEAST {
        let message = format!("only {free} bytes of GPU memory are free: not enough to measure copies");
        return Err(Fault::own("no-memory", message));
    }
    let (host, device, other) =
        (Pinned::take(context, bytes)?, Memory::take(context, bytes)?, Memory::take(context, bytes)?);
    let events = (Event::create(context)?, Event::create(context)?);
    let best = |copy: &Copy<'_>| best(stream, &events, copy);
    let result = Ok(Bandwidth {
        host_to_device: best(&Copy::In(&device, &host))?,
        device_to_host: best(&Copy::Out(&host, &device))?,
        // Bytes read and bytes written both use the memory bus.
        device_to_device: best(&Copy::Within(&other, &device))?.map(|one_way| one_way * 2.0),
    });
    stream.wait()?;
    result
}

/// Copy size: at most a quarter of the free memory, because there are two buffers on the device and other processes may
/// need memory.
fn size(free: usize) -> usize {
    BYTES.min(free / 4)
}

/// The best of several copies in GB per second; `None` if the clock did not advance.
fn best(
    stream: &Stream<'_>,
    (begin, end): &(Event<'_>, Event<'_>),
    copy: &Copy<'_>,
) -> Result<Option<f64>, Fault> {
    let mut least = f64::INFINITY;
    for count in 0..=COPIES {
        stream.record(begin)?;
        stream.start_copy(copy)?;
        stream.record(end)?;
        end.wait()?;
        let seconds = end.seconds_since(begin)?;
        if count > 0 && seconds > 0.0 {
            least = least.min(seconds);
        }
    }
    Ok(least.is_finite().then(|| copy.bytes() as f64 / least / 1e9))
}

#[cfg(test)]
mod tests {
    use super::{BYTES, size};

    #[test]
    fn copies_leave_most_of_the_free_memory_alone() {
        assert_eq!(size(80 << 30), BYTES);
        assert_eq!(size(400 << 20), 100 << 20);
        assert_eq!(size(0), 0);
    }
}
