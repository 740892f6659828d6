use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;

/// How many workers a job uses: one per core that this process may run on.
pub fn workers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Runs `work` and turns a panic into its message.
///
/// # Errors
/// The message of the panic.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".to_owned())
    })
}

/// Runs `work` on every item, in the order given, on up to `workers` threads, and returns when all
/// are done. Put the longest first. A panic is the caller's matter: see [`catch_panic`].
pub fn run_all<I: Send>(items: Vec<I>, workers: usize, work: impl Fn(I) + Sync) {
    let threads = workers.min(items.len()).max(1);
    let queue = Mutex::new(items.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let drain = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(drain);
        }
        drain();
    });
}

/// Runs `work` on every item like [`run_all`]; the results are in the order of the items.
pub fn map_all<I: Send, T: Send>(items: Vec<I>, workers: usize, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> = items.iter().map(|_| Mutex::new(None)).collect();
    run_all(items.into_iter().zip(&results).collect(), workers, |(item, result)| {
        let done = work(item);
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
    });
    // Each has one: a panic of `work` has been passed on.
    results
        .into_iter()
        .filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// Runs `work` on stretches of at least `least` items, side by side; the results are in the order of the items.
pub fn map_stretches<I: Sync, T: Send>(
    items: &[I],
    least: usize,
    work: impl Fn(&[I]) -> Vec<T> + Sync,
) -> Vec<T> {
    let workers = workers();
    // Several for each worker: some take longer than others.
    let length = items.len().div_ceil(4 * workers).max(least).max(1);
    if items.len() <= length {
        return work(items);
    }
    map_all(items.chunks(length).collect(), workers, work).into_iter().flatten().collect()
}

/// Runs `work` on every item like [`run_all`], the longest first, but that the last worker takes the shortest first:
/// beside long items, results of short ones come early.
pub fn run_from_both_ends<I: Send>(items: Vec<I>, workers: usize, work: impl Fn(I) + Sync) {
    let threads = workers.min(items.len()).max(1);
    let queue = Mutex::new(VecDeque::from(items));
    let drain = |shortest: bool| {
        let next = || {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            if shortest { queue.pop_back() } else { queue.pop_front() }
        };
        while let Some(item) = next() {
            work(item);
        }
    };
    let drain = &drain;
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(move || drain(false));
        }
        drain(true);
    });
}

/// Runs `there` on a new thread and `here` on this one, and returns when both are done. Propagates panics.
pub fn both<A: Send, B>(there: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let there = scope.spawn(there);
        let here = here();
        (there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), here)
    })
}

/// Runs `work` on a detached thread.
///
/// # Errors
/// If the thread cannot be created.
pub fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}
