//! What the window asks the library for, in a process whose environment names the engines of the test.

use std::process::Command;

use serde_json::{Value, json};

use super::scene::Machine;

/// Says what a child process is to do.
const TASK: &str = "CUTAWAY_TEST_ENGINE_TASK";

/// What the library answers in a process with this environment.
pub fn ask(machine: &Machine, environment: &[(&str, &str)], task: &str) -> Value {
    let (_, room) = module_path!().split_once("::").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("{room}::the_library_answers"), "--nocapture"]).env(TASK, task);
    machine.settle(&mut command, environment);
    let run = machine.watch(command);
    assert!(run.code == 0 && run.stdout.contains("1 passed"), "{}{}", run.stdout, run.stderr);
    let answer = run.stdout.split("ANSWER ").nth(1).and_then(|rest| rest.lines().next());
    serde_json::from_str(answer.expect("an answer")).unwrap()
}

#[test]
fn the_library_answers() {
    // Only where a test asks, which names the engines and a home folder.
    let Ok(task) = std::env::var(TASK) else { return };
    let answer = match task.split_once(' ').unwrap_or((task.as_str(), "")) {
        ("list", _) => list(),
        ("holds", name) => json!(cutaway::source::engine::holds(name, &cutaway::jobs::CancelToken::new())),
        ("cancel", reference) => cancel(reference),
        _ => panic!("no such task: {task}"),
    };
    println!("\nANSWER {answer}");
}

fn list() -> Value {
    let started = std::time::Instant::now();
    let listing = cutaway::source::engine::list(&cutaway::jobs::CancelToken::new());
    let images: Vec<Value> = listing
        .images
        .iter()
        .map(|image| {
            json!({
                "engine": image.engine, "reference": image.reference, "id": image.id, "tags": image.tags,
                "bytes": image.bytes, "created": image.created
            })
        })
        .collect();
    let tried: Vec<String> = listing.tried.iter().map(ToString::to_string).collect();
    json!({"images": images, "tried": tried, "milliseconds": started.elapsed().as_secs_f64() * 1000.0})
}

/// Cancels an analysis once bytes have come, and tells how long it took to end, and how.
fn cancel(reference: &str) -> Value {
    use cutaway::analysis::{Options, analyze};
    use cutaway::jobs::{CancelToken, Progress};
    use std::thread;
    use std::time::{Duration, Instant};

    let (cancel, progress) = (CancelToken::new(), Progress::default());
    let (token, counters) = (cancel.clone(), progress.clone());
    let canceller = thread::spawn(move || {
        while counters.snapshot().bytes_read == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(200));
        token.cancel();
        Instant::now()
    });
    let reference = cutaway::source::Reference::parse(reference).unwrap();
    let result = analyze(&reference, &Options::default(), &cancel, &progress, &|_| {});
    let ended = Instant::now();
    let asked = canceller.join().unwrap();
    let counted = progress.snapshot();
    json!({
        "milliseconds": ended.saturating_duration_since(asked).as_secs_f64() * 1000.0,
        "error": result.err().map(|error| error.to_string()),
        "total": counted.bytes_total, "passed": counted.bytes_passed,
    })
}
