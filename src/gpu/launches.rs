//! What a launch costs: many on a stream, and the same many in a graph.

use std::time::{Duration, Instant};

use super::Graph;
use super::fault::Fault;
use super::graphs::Program;
use super::resources::{Kernel, Stream};

/// Launches of one round: about what one step of a model in inference makes, and fewer than the 1024 that a stream
/// holds before a launch has to wait.
pub(super) const LAUNCHES: u32 = 1_000;
/// Rounds that count.
const ROUNDS: u32 = 30;
/// Rounds before those: clocks rise, memory for launches is set up.
const WARM_UP: u32 = 3;

/// Launches one by one, so that those that follow find everything set up.
pub(super) fn warm_up(stream: &Stream<'_>, kernel: Kernel<'_>) -> Result<(), Fault> {
    (0..WARM_UP).try_for_each(|_| on_stream(stream, kernel).map(drop))
}

/// Launches into a stream that is being captured.
pub(super) fn capture(stream: &Stream<'_>, kernel: Kernel<'_>) -> Result<(), Fault> {
    (0..LAUNCHES).try_for_each(|_| stream.start_nothing(kernel))
}

/// Times both, turn by turn, so that whatever else the machine does meets both alike.
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
        // A clock that did not move would make infinity, which JSON does not have.
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

/// One launch of the median round, in microseconds.
fn per_launch(rounds: Vec<Duration>) -> f64 {
    median(rounds).as_secs_f64() * 1e6 / f64::from(LAUNCHES)
}

/// The middle one, or the mean of the two in the middle; zero of none.
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
