//! Interprets the end of a child.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use super::Stage;
use super::merge::Merge;

/// How a child ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// It could not be started.
    CannotStart(io::Error),
    /// It ended by itself, or by a signal.
    Ended(ExitStatus),
    /// It reported all results, and then did not exit.
    Lingered,
    /// It did not answer in time and was killed.
    TimedOut(Duration),
    /// Cancelled; it was killed.
    Cancelled,
    /// It wrote more than the limit and was killed.
    TooMuch,
    /// The system does not report its status.
    Lost(io::Error),
}

/// Adds the meaning of a child's end to its check. `strange` is the first line of its output that is not a message,
/// `tail` the end of its standard error.
pub(super) fn blame(merge: &mut Merge, ending: &Ending, strange: Option<&str>, tail: Option<String>) {
    if merge.ended {
        let note = match ending {
            Ending::Lingered => "The check finished, but its process did not exit: blocked in the driver.",
            Ending::Ended(status) if status.signal().is_some() => {
                "The check finished; its process crashed afterwards, while the driver was unloaded."
            }
            _ => return,
        };
        merge.check.notes.push(note.to_owned());
        return;
    }
    let (stage, device) = merge.stage();
    let place = device.map_or_else(String::new, |device| format!(" on device {device}"));
    let during = format!("during the step `{}`{place}", stage.as_str());
    let (name, message, hint) = match ending {
        Ending::CannotStart(error) => (
            "cannot-start",
            format!("cannot start the check process: {error}"),
            Some("check that the file of this program still exists and is executable, and that the process limit is not \
                reached".to_owned()),
        ),
        Ending::Cancelled => ("cancelled", format!("the check was cancelled {during}"), None),
        Ending::TimedOut(limit) => (
            "timed-out",
            format!("the check exceeded {} s and was stopped {during}", limit.as_secs_f64()),
            Some(hint_of_silence(stage)),
        ),
        Ending::TooMuch => garbage(strange.unwrap_or_default(), &during),
        Ending::Lost(error) => {
            ("no-answer", format!("the check process was lost {during}: {error}"), None)
        }
        Ending::Lingered => ("no-answer", format!("the check process stopped answering {during}"), None),
        Ending::Ended(status) => match (status.signal(), strange) {
            (Some(signal), _) => (
                "crashed",
                format!("the check process was killed by {} {during}", signal_name(signal)),
                hint_of_signal(signal, stage),
            ),
            (None, Some(what)) => garbage(what, &during),
            (None, None) => {
                let code = status.code().map_or_else(String::new, |code| format!(" with exit code {code}"));
                ("no-answer", format!("the check process exited{code} without a result {during}"), None)
            }
        },
    };
    merge.fail(name, message, hint, tail);
}

const STRANGE_PROGRAM: &str = "another program writes to its output: look for LD_PRELOAD and for tools that the driver \
    injects";

fn garbage(what: &str, during: &str) -> (&'static str, String, Option<String>) {
    let message = format!("unexpected output of the check process {during}: {what}");
    ("garbage", message, Some(STRANGE_PROGRAM.to_owned()))
}

fn hint_of_silence(stage: Stage) -> String {
    match stage {
        Stage::Start | Stage::Library => {
            "the library is on storage that does not answer, or the machine is overloaded: try again".to_owned()
        }
        Stage::Bandwidth | Stage::Verify => "the machine is overloaded: try again".to_owned(),
        _ => "the driver hangs: see `dmesg | grep -i -e nvrm -e xid` and `nvidia-smi`; restart what uses the GPU, reset \
            it (`nvidia-smi --gpu-reset`) or reboot"
            .to_owned(),
    }
}

fn hint_of_signal(signal: i32, stage: Stage) -> Option<String> {
    let hint = match signal {
        // SIGHUP, SIGINT and SIGTERM are deliberate.
        1 | 2 | 15 => return None,
        9 => "killed from outside, usually out of memory: see `dmesg` and the memory limit of the container"
            .to_owned(),
        4 => "the library is built for another processor".to_owned(),
        24 => "the CPU time limit is too low: see `ulimit -t`".to_owned(),
        31 => "the container or a sandbox blocks a system call of the driver: check its seccomp profile".to_owned(),
        _ if stage == Stage::Start => "try again; if it persists, the file of this program is damaged".to_owned(),
        _ => "the driver library or its installation is faulty: check that all files have one version (`nvidia-smi` \
            prints `driver/library version mismatch` if not), and reinstall it"
            .to_owned(),
    };
    Some(hint)
}

/// Name of a signal. Numbers are those of Linux, equal on `x86_64` and `aarch64`.
pub(super) fn signal_name(signal: i32) -> String {
    let words = match signal {
        1 => "SIGHUP (terminal closed)",
        2 => "SIGINT (interrupted)",
        4 => "SIGILL (illegal instruction)",
        5 => "SIGTRAP (trap)",
        6 => "SIGABRT (aborted)",
        7 => "SIGBUS (bus error)",
        8 => "SIGFPE (arithmetic error)",
        9 => "SIGKILL (killed)",
        11 => "SIGSEGV (segmentation fault)",
        13 => "SIGPIPE (broken pipe)",
        14 => "SIGALRM (alarm)",
        15 => "SIGTERM (terminated)",
        24 => "SIGXCPU (CPU time limit exceeded)",
        31 => "SIGSYS (forbidden system call)",
        _ => return format!("signal {signal}"),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;
    use std::time::{Duration, Instant};

    use super::{Ending, blame};
    use crate::gpu::merge::Merge;
    use crate::gpu::protocol::Message;
    use crate::gpu::{Check, Depth, Stage};

    fn after(messages: Vec<Message>, ending: &Ending, strange: Option<&str>) -> Check {
        let mut merge = Merge::new(Instant::now());
        for message in messages {
            merge.take(message);
        }
        blame(&mut merge, ending, strange, Some("last words".into()));
        merge.finish(Depth::Full)
    }

    fn ended(raw: i32) -> Ending {
        Ending::Ended(ExitStatus::from_raw(raw))
    }

    #[test]
    fn every_bad_end_has_a_name_and_the_step_that_it_came_in() {
        let init = || vec![Message::Begin { stage: Stage::Init, device: None }];
        for (ending, strange, name, part) in [
            (ended(11), None, "crashed", "SIGSEGV"),
            (ended(64), Some("hello"), "crashed", "signal 64"),
            (ended(3 << 8), None, "no-answer", "exit code 3"),
            (ended(0), None, "no-answer", "exit code 0"),
            (ended(0), Some("hello"), "garbage", "hello"),
            (Ending::TimedOut(Duration::from_millis(1500)), None, "timed-out", "1.5 s"),
            (Ending::Cancelled, None, "cancelled", "`init`"),
            (Ending::TooMuch, Some("much"), "garbage", "much"),
        ] {
            let check = after(init(), &ending, strange);
            let error = check.error.unwrap();
            assert_eq!((error.name.as_str(), error.stage.as_str()), (name, "init"), "{ending:?}");
            assert!(error.message.contains(part), "{}", error.message);
            assert_eq!(error.log.as_deref(), Some("last words"));
        }
    }

    #[test]
    fn a_driver_is_not_blamed_for_what_somebody_else_ended() {
        let hint = |raw| {
            let init = vec![Message::Begin { stage: Stage::Init, device: None }];
            after(init, &ended(raw), None).error.unwrap().hint
        };
        for signal in [1, 2, 15] {
            assert_eq!(hint(signal), None, "signal {signal}");
        }
        assert!(hint(31).is_some_and(|hint| hint.contains("seccomp")));
        assert!(hint(11).is_some_and(|hint| hint.contains("driver")));
    }

    #[test]
    fn what_happens_after_the_answer_is_a_note() {
        for ending in [Ending::Lingered, ended(6)] {
            let check = after(vec![Message::End], &ending, None);
            assert_eq!((check.error, check.notes.len()), (None, 1), "{ending:?}");
        }
        assert!(after(vec![Message::End], &ended(0), Some("a driver's greeting")).notes.is_empty());
    }
}
