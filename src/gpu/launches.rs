//! Launch latency: launches on a stream, and the same launches in a graph.

use std::time::{Duration, Instant};

use super::Graph;
use super::fault::Fault;
use super::graphs::Program;
use super::resources::{Kernel, Stream};

/// Launches of one round: about as many as in one inference step of a model, and fewer than the 1024 that a stream
/// queues before a launch blocks.
pub(super) const LAUNCHES: u32 = 1_000;
/// Measured rounds.
const ROUNDS: u32 = 30;
/// Unmeasured rounds before them: clocks rise, launch memory is allocated.
const WARM_UP: u32 = 3;

/// Launches one by one, so that later launches need no setup.
pub(super) fn warm_up(stream: &Stream<'_>, kernel: Kernel<'_>) -> Result<(), Fault> {
    (0..WARM_UP).try_for_each(|_| on_stream(stream, kernel).map(drop))
}

/// Launches into a stream that is being captured.
pub(super) fn capture(stream: &Stream<'_>, kernel: Kernel<'_>) -> Result<(), Fault> {
    (0..LAUNCHES).try_for_each(|_| stream.start_nothing(kernel))
}

/// Measures both in alternation, so that other load affects both equally.
pub(super) fn measure(stream: &Stream<'_>, kernel: Kernel<'_>, graph: &Program<'_>) -> Result<Graph, Fault> {
    for _ in 0..WARM_UP {
        in_graph(stream, graph)?;
    }
    let (mut streamed, mut replayed) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        streamed.push(on_stream(stream, kernel)?);
        replayed.push(in_graph(stream, graph)?);
    }
    let (stream_us, graph_us) = (per_launch(streamed), per_launch(replayed));
    Ok(Graph {
        launches: LAUNCHES,
        rounds: ROUNDS,
        stream_us_per_launch: stream_us,
        graph_us_per_launch: graph_us,
        // A clock that did not advance would give infinity, which JSON cannot represent.
        speedup: if graph_us > 0.0 { stream_us / graph_us } else { 0.0 },
        capture_us: None,
    })
}

fn on_stream(stream: &Stream<'_>, kernel: Kernel<'_>) -> Result<Duration, Fault> {
    let start = Instant::now();
    (0..LAUNCHES).try_for_each(|_| stream.start_nothing(kernel))?;
    stream.wait()?;
    Ok(start.elapsed())
}

fn in_graph(stream: &Stream<'_>, graph: &Program<'_>) -> Result<Duration, Fault> {
    let start = Instant::now();
    stream.start_graph(graph)?;
    stream.wait()?;
    Ok(start.elapsed())
}

/// Latency of one launch in the median round, in microseconds.
fn per_launch(rounds: Vec<Duration>) -> f64 {
    median(rounds).as_secs_f64() * 1e6 / f64::from(LAUNCHES)
}

/// The median; zero if there are none.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let half = times.len() / 2;
    let at = |place: usize| times.get(place).copied().unwrap_or_default();
    if times.len() % 2 == 1 { at(half) } else { (at(half.saturating_sub(1)) + at(half)) / 2 }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::median;

    #[test]
    fn the_median_lies_in_the_middle() {
        let of =
            |times: &[u64]| median(times.iter().copied().map(Duration::from_micros).collect()).as_micros();
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[5]), 5);
        assert_eq!(of(&[900, 1, 3]), 3);
        assert_eq!(of(&[4, 1, 2, 900]), 3);
    }
}
