//! The GPU view: what it makes of checks and verdicts, and how people meet them.

mod meet;
mod process;
pub(crate) mod scene;

use cutaway::gpu::{Check, Depth, Graph, KernelVerdict};
use cutaway::gui::models::gpu::{
    Headline, LaunchCost, RequestedCheck, StepLine, StepState, Tone, error_text, stated_driver,
};

use self::scene::{begun, device, no_kernel, no_library, works};

const FULL: RequestedCheck = RequestedCheck { depth: Depth::Full, bandwidth: false, device: None };

#[test]
fn steps_to_come_stand_behind_those_that_were_done() {
    let states = |lines: &[StepLine]| lines.iter().map(|line| line.state).collect::<Vec<_>>();
    let lines = StepLine::all(&begun(3), Some(FULL));
    let (passed, rest) = lines.split_at(3);
    assert!(passed.iter().all(|line| line.state == StepState::Passed && line.us.is_some()));
    assert_eq!((rest[0].title.as_str(), rest[0].state), ("Read driver version", StepState::Running));
    assert!(rest[1..].iter().all(|line| line.state == StepState::Waiting && line.us.is_none()));
    assert_eq!(lines.last().unwrap().title, "Measure graph launches", "copies were not asked for");
    let copies = StepLine::all(&begun(3), Some(RequestedCheck { bandwidth: true, ..FULL }));
    assert_eq!(copies.last().unwrap().title, "Measure copies");

    // A step that the check leaves out is not waited for.
    let mut skips = begun(10);
    skips.steps.push(works().steps.swap_remove(12));
    assert!(StepLine::all(&skips, Some(FULL)).iter().all(|line| line.state == StepState::Passed));

    let mut two = begun(6);
    two.devices.push(device(1));
    let lines = StepLine::all(&two, Some(FULL));
    assert_eq!(lines[5].title, "GPU 0: create context");
    assert_eq!(lines[6].title, "GPU 0: compile kernel");
    assert_eq!(lines.last().unwrap().title, "GPU 1: measure graph launches");
    let failed = StepLine::all(&no_kernel(), None);
    assert_eq!(states(&failed)[6..], [StepState::Failed], "nothing is to come behind the end");
    assert_eq!(failed[6].spoken(), "Compile kernel, failed, 4.10 ms");
}

#[test]
fn what_came_of_a_check_is_said_in_a_sentence() {
    let said = |change: &dyn Fn(&mut Check)| {
        let mut check = works();
        change(&mut check);
        let Headline { tone, text } = Headline::new(&check);
        (tone, text)
    };
    let good = "This GPU works: all 1,048,583 values are correct.";
    assert_eq!(said(&|_| ()), (Tone::Good, good.to_owned()));
    let two = said(&|check| check.devices.push(device(1)));
    assert_eq!(two, (Tone::Good, "All 2 GPUs work: all 2,097,166 values are correct.".to_owned()));
    let wrong = said(&|check| {
        check.devices.push(device(1));
        check.devices[1].kernel_check.verdict = KernelVerdict::Fail;
    });
    assert_eq!(wrong, (Tone::Mixed, "1 of 2 GPUs work.".to_owned()));
    for (check, wanted) in [
        (no_library(), "No NVIDIA driver on this machine."),
        (no_kernel(), "The check failed at the step “Compile kernel”."),
        (Check::default(), "No usable GPU on this machine."),
    ] {
        let headline = Headline::new(&check);
        assert_eq!((headline.tone, headline.text.as_str()), (Tone::Bad, wanted));
    }
    let text = error_text(&no_kernel()).unwrap();
    for part in
        ["error: 222 CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "hint: ", "580.159.04", "Unsupported .version"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(error_text(&works()), None);
}

#[test]
fn launch_costs_are_told_for_a_loop_of_inference() {
    let cost = |stream, graph| {
        LaunchCost::new(&Graph {
            stream_us_per_launch: stream,
            graph_us_per_launch: graph,
            ..Graph::default()
        })
    };
    let usual = cost(5.67, 1.38).unwrap();
    assert_eq!(usual.factor, "4.1×");
    assert!(usual.sentence.contains("300 launches takes 1.7 ms"), "{}", usual.sentence);
    assert!(usual.sentence.contains("and 0.4 ms in a graph"), "both in one unit: {}", usual.sentence);
    let small = cost(0.2, 0.1).unwrap().sentence;
    assert!(small.contains("60 µs") && small.contains("30 µs"), "{small}");
    let none = cost(2.0, 2.0).unwrap();
    assert!(none.factor.is_empty() && none.sentence.starts_with("A graph saves nothing here"), "{none:?}");
    for (stream, graph) in [(0.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        assert_eq!(cost(stream, graph), None, "nothing sensible was measured");
    }
}

#[test]
fn drivers_are_typed_as_numbers() {
    assert_eq!(stated_driver(" "), Ok(None));
    for typed in ["580", "580.95", "580.95.05"] {
        assert_eq!(stated_driver(typed), Ok(Some(typed.to_owned())));
    }
    for typed in ["x", "580.", "580.1.2.3", "580,cc=9.0", "99999999999", "-1", "+5"] {
        assert!(stated_driver(typed).is_err(), "{typed}");
    }
}
