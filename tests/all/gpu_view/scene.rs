//! Checks and verdicts made by hand, so that no GPU and no rule changes them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use cutaway::cuda::compat::{Judgement, Needs, Reason, Requires, RuleId, RunVerdict, TargetGpu};
use cutaway::gpu::{
    Bandwidth, Check, Depth, Device, Driver, GpuError, Graph, History, KernelCheck, KernelVerdict, Nvml, Run,
    Stage, Step, TriedLibrary,
};
use cutaway::gui::models::gpu::{Checker, Judge, MachineSetup};

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04";
/// When the newest run was made.
pub(crate) const NOW: u64 = 1_767_323_045;

fn step(name: Stage, us: u64, device: Option<u32>, detail: &str) -> Step {
    let detail = (!detail.is_empty()).then(|| detail.to_owned());
    Step { name, ok: true, us, device, detail }
}

fn driver() -> Driver {
    Driver {
        version: Some("580.159.04".into()),
        cuda_version: Some("13.0".into()),
        library_path: Some(LIBRARY.into()),
        found_by: Some("loader".into()),
    }
}

/// An H200 that does everything right.
pub(crate) fn device(index: u32) -> Device {
    Device {
        index,
        name: "NVIDIA H200".into(),
        compute_capability: "9.0".into(),
        memory_bytes: Some(143_771 << 20),
        multiprocessors: Some(132),
        uuid: Some(format!("GPU-5c1d7a3e-90f4-4b6e-8a52-3f7c1be0d46{index}")),
        mig: Some(false),
        integrated: Some(false),
        nvml: Some(Nvml {
            brand: Some("nvidia".into()),
            memory_used_bytes: Some(612 << 20),
            mig_mode: Some(false),
            compute_mode: Some("default".into()),
            ecc_uncorrected: Some(0),
            temperature_c: Some(34),
            fabric: Some("completed".into()),
        }),
        kernel_check: KernelCheck {
            verdict: KernelVerdict::Pass,
            module_load_us: Some(9_840),
            launch_us: Some(41),
            elements: Some(1_048_583),
            max_abs_error: Some(0.0),
            tolerance: Some(1e-6),
        },
        graph: Some(Graph {
            launches: 1_000,
            rounds: 20,
            stream_us_per_launch: 5.67,
            graph_us_per_launch: 1.38,
            speedup: 4.1,
            capture_us: Some(1_920),
        }),
        bandwidth_gb_s: Some(Bandwidth {
            host_to_device: Some(54.2),
            device_to_host: Some(55.1),
            device_to_device: Some(3_890.0),
        }),
    }
}

fn steps() -> Vec<Step> {
    let on = Some(0);
    vec![
        step(Stage::Start, 2_140, None, ""),
        step(Stage::Library, 11_300, None, LIBRARY),
        step(Stage::Init, 182_000, None, ""),
        step(Stage::Driver, 640, None, "580.159.04, CUDA 13.0"),
        step(Stage::Devices, 24_700, None, "1 device"),
        step(Stage::Context, 131_000, on, ""),
        step(Stage::Module, 9_840, on, ""),
        step(Stage::Memory, 3_310, on, "8.00 MiB"),
        step(Stage::Launch, 41, on, ""),
        step(Stage::Verify, 2_870, on, "1,048,583 numbers"),
        step(Stage::StreamLaunches, 118_000, on, "5.67 µs each"),
        step(Stage::GraphCapture, 1_920, on, ""),
        step(Stage::GraphLaunches, 29_400, on, "1.38 µs each"),
        step(Stage::Bandwidth, 412_000, on, ""),
    ]
}

/// A check of a machine with one H200.
pub(crate) fn works() -> Check {
    Check {
        available: true,
        driver: Some(driver()),
        steps: steps(),
        devices: vec![device(0)],
        error: None,
        tried: vec![TriedLibrary { path: "libcuda.so.1".into(), outcome: "taken".into() }],
        notes: vec!["The driver keeps compiled kernels in ~/.nv/ComputeCache.".into()],
        total_us: 930_000,
    }
}

/// The same as far as it has come after some of its steps.
pub(crate) fn begun(count: usize) -> Check {
    let whole = works();
    let steps: Vec<Step> = whole.steps.into_iter().take(count).collect();
    let devices = if count >= 5 { vec![Device { graph: None, ..device(0) }] } else { Vec::new() };
    Check { steps, devices, driver: Some(driver()), ..Check::default() }
}

/// No driver is there.
pub(crate) fn no_library() -> Check {
    let tried = |path: &str| TriedLibrary { path: path.into(), outcome: "not there".into() };
    Check {
        steps: vec![
            step(Stage::Start, 2_140, None, ""),
            Step { ok: false, ..step(Stage::Library, 830, None, "") },
        ],
        error: Some(GpuError {
            stage: "library".into(),
            code: None,
            name: "no-library".into(),
            message:
                "libcuda.so.1 is in no folder that the loader looks into: no NVIDIA driver is installed, or \
                      none is passed into this container"
                    .into(),
            hint: Some(
                "install the NVIDIA driver; in a container, start it with --gpus all or through the NVIDIA \
                 container toolkit"
                    .into(),
            ),
            log: None,
        }),
        tried: vec![
            tried("libcuda.so.1"),
            tried("/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
            tried("/usr/local/nvidia/lib64/libcuda.so.1"),
        ],
        total_us: 3_100,
        ..Check::default()
    }
}

/// The kernel cannot be compiled by the driver.
pub(crate) fn no_kernel() -> Check {
    let mut check = begun(6);
    check.steps.push(Step { ok: false, ..step(Stage::Module, 4_100, Some(0), "") });
    check.devices[0].kernel_check = KernelCheck { verdict: KernelVerdict::Skipped, ..KernelCheck::default() };
    check.error = Some(GpuError {
        stage: "module".into(),
        code: Some(222),
        name: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION".into(),
        message: "the driver cannot compile PTX of this version".into(),
        hint: Some("install a newer driver".into()),
        log: Some("ptxas application ptx input, line 9; fatal   : Unsupported .version 9.9".into()),
    });
    check
}

/// A checker that looks for the library and then gives `outcome`.
pub(crate) fn checker(outcome: Check) -> Checker {
    Arc::new(move |request, _, _| match request.child.depth {
        Depth::Library => found(&outcome),
        Depth::Devices | Depth::Full => outcome.clone(),
    })
}

/// What is known once the library was looked for.
fn found(whole: &Check) -> Check {
    let steps = whole.steps.iter().filter(|step| step.name <= Stage::Library).cloned().collect();
    let error = whole.error.clone().filter(|error| error.stage == "library");
    Check {
        steps,
        error,
        driver: whole.driver.clone(),
        tried: whole.tried.clone(),
        total_us: 4_000,
        ..Check::default()
    }
}

/// A checker whose whole check tells `partial` and then waits to be told to go on, or to be `stopped`.
pub(crate) fn held(partial: Check, stopped: Check, outcome: Check) -> (Checker, Sender<()>) {
    let (go, wait): (Sender<()>, Receiver<()>) = channel();
    let wait = Mutex::new(wait);
    let checker: Checker = Arc::new(move |request, cancel, news| {
        if request.child.depth == Depth::Library {
            return found(&outcome);
        }
        news(&partial);
        let wait = wait.lock().unwrap_or_else(PoisonError::into_inner);
        while !cancel.is_cancelled() {
            if wait.recv_timeout(std::time::Duration::from_millis(5)).is_ok() {
                return outcome.clone();
            }
        }
        stopped.clone()
    });
    (checker, go)
}

/// A machine that is checked by `checker` and keeps nothing.
pub(crate) fn setup(checker: Checker) -> MachineSetup {
    MachineSetup { checker, clock: || NOW, ..MachineSetup::default() }
}

/// A file with two earlier runs.
pub(crate) fn history(path: &std::path::Path) {
    let mut history = History::default();
    let mut older = works();
    older.driver.as_mut().unwrap().version = Some("570.195.03".into());
    older.devices[0].graph.as_mut().unwrap().stream_us_per_launch = 6.02;
    history.add(path, Run { unix_seconds: NOW - 40 * 86_400, check: older }).unwrap();
    history.add(path, Run { unix_seconds: NOW - 3 * 86_400, check: no_kernel() }).unwrap();
}

fn reason(verdict: RunVerdict, rule: RuleId, text: &str) -> Reason {
    Reason { verdict, rule, text: text.into(), subject: None, error: None, hint: None }
}

/// What a machine with this GPU and this driver makes of the image.
fn judgement(target: &TargetGpu) -> Judgement {
    let branch = target.driver.as_ref().and_then(|driver| driver.version.split('.').next()?.parse().ok());
    let reasons = match (target.sm, branch) {
        (..75, _) => vec![
            Reason {
                subject: Some("/usr/lib/python3/dist-packages/torch/lib/libtorch_cuda.so".into()),
                error: Some((209, "CUDA_ERROR_NO_BINARY_FOR_GPU")),
                hint: Some("Take a build of torch for CUDA 12.6, which has code for it.".into()),
                ..reason(
                    RunVerdict::Fails,
                    RuleId::GpuCode,
                    "torch 2.9.1 has no code for this GPU, and no PTX that its driver could compile.",
                )
            },
            reason(RunVerdict::Runs, RuleId::Driver, "The driver is as new as CUDA 13.0 asks for."),
        ],
        (_, Some(..580_u32)) => vec![reason(
            RunVerdict::RunsWithCompat,
            RuleId::ForwardCompat,
            "The driver is older than CUDA 13.0; the image brings cuda-compat 580.95.05.",
        )],
        (103.., _) => vec![reason(
            RunVerdict::RunsWithJit,
            RuleId::GpuCode,
            "The driver compiles PTX for this GPU when torch is loaded first.",
        )],
        (_, None) => vec![reason(RunVerdict::Unknown, RuleId::Driver, "Its driver is not known.")],
        _ => vec![reason(RunVerdict::Runs, RuleId::Driver, "The driver is as new as CUDA 13.0 asks for.")],
    };
    Judgement { verdict: reasons[0].verdict, why: reasons[0].text.clone(), reasons }
}

/// Verdicts that follow from compute capability and driver alone.
pub(crate) fn judge() -> Judge {
    Judge {
        needs: Arc::new(|_| {
            let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
            let requires = Requires {
                cuda: Some("13.0".into()),
                min_driver: Some("580.65.06".into()),
                min_driver_minor_compat: Some("580.65.06".into()),
                sass: names(&["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100"]),
                ptx: names(&["sm_103", "sm_120"]),
            };
            Some((Needs { uses_cuda: true, ..Needs::default() }, requires))
        }),
        judge: Arc::new(|_, targets, _| targets.iter().map(judgement).collect()),
    }
}
