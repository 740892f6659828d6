//! What an error means on this machine, and how to fix it.

use super::absent::{NOT_OPEN, no_device, no_library};
use super::api::Cuda;
use super::codes::{self, STUB};
use super::fault::Fault;
use super::machine::Machine;
use super::{GpuError, Stage};

/// Describes the error of a step.
pub(super) fn explain(
    fault: &Fault,
    (stage, device): (Stage, Option<u32>),
    machine: &Machine,
    cuda: Option<&Cuda>,
) -> GpuError {
    let (name, message, log) = match fault {
        Fault::Cuda { code, call } => {
            let (name, meaning) = words(*code, cuda);
            // One name for a stub, however it was detected.
            let name = if *code == STUB { "stub".to_owned() } else { name };
            (name, format!("{meaning} ({call} returned {code})"), None)
        }
        Fault::Compiler { code, log } => {
            let (name, meaning) = words(*code, cuda);
            (name, format!("{meaning} (cuModuleLoadDataEx returned {code})"), Some(log.clone()))
        }
        Fault::Missing(symbol) => (
            "too-old".to_owned(),
            format!("the driver library has no function {symbol}: older than CUDA 7.0, or not a driver"),
            None,
        ),
        Fault::Own { name, message } => ((*name).to_owned(), message.clone(), None),
    };
    let place = device.map_or_else(String::new, |device| format!("device {device}: "));
    let (message, hint) = (format!("{place}{message}"), hint(fault, stage, machine));
    GpuError { stage: stage.as_str().to_owned(), code: fault.code(), name, message, hint, log }
}

/// Name and meaning of a code: from the built-in table, otherwise from the driver.
fn words(code: i32, cuda: Option<&Cuda>) -> (String, String) {
    if let Some(known) = codes::known(code) {
        return (known.name.to_owned(), known.meaning.to_owned());
    }
    cuda.and_then(|cuda| cuda.error_texts(code)).unwrap_or_else(|| {
        (format!("CUDA_ERROR_{code}"), format!("the driver returned error {code}, which has no description"))
    })
}

/// What to do; `None` without a known remedy.
fn hint(fault: &Fault, stage: Stage, machine: &Machine) -> Option<String> {
    let hint = match fault {
        Fault::Missing(_) => "the driver is too old: install a newer one".into(),
        Fault::Own { name: "no-library", .. } => no_library(machine),
        Fault::Own { name: "stub", .. } => stub(machine),
        Fault::Own { name: "not-a-library", .. } => {
            "the file is damaged, for another architecture, or lacks a dependency: reinstall the driver libraries, all \
            in one version"
                .into()
        }
        Fault::Own { name: "wrong-numbers", .. } => {
            "do not trust this GPU: check for memory errors (`nvidia-smi -q -d ECC`, `dmesg | grep -i xid`), undo \
            overclocking, and run `dcgmi diag -r 3`"
                .into()
        }
        Fault::Own { .. } => return None,
        Fault::Cuda { code, .. } | Fault::Compiler { code, .. } => return of_code(*code, stage, machine),
    };
    Some(hint)
}

fn of_code(code: i32, stage: Stage, machine: &Machine) -> Option<String> {
    let hint: String = match code {
        2 if stage == Stage::Context => {
            "other processes use the GPU memory: list them with `nvidia-smi`; stop some, or use another GPU".into()
        }
        2 => "other processes use memory (see `nvidia-smi`), or the container's limit is too low".into(),
        3 => "run the check again; a process must not fork after CUDA is initialized".into(),
        STUB => stub(machine),
        35 | 36 | 222 => driver_too_old(machine),
        46 => "another process uses this GPU in exclusive mode, or the compute mode is prohibited: see `nvidia-smi -q \
            -d COMPUTE`; `nvidia-smi -c DEFAULT` allows all processes"
            .into(),
        100 => no_device(machine),
        101 => invalid_device(machine),
        102 => "the vGPU license server is unreachable: see `nvidia-smi -q | grep -i licen`".into(),
        200 | 209 | 218 | 300 => {
            "driver and JIT compiler do not match, or the GPU is newer than the driver: install a newer driver, all \
            files in one version"
                .into()
        }
        221 => compiler(machine),
        223 => "unset CUDA_DISABLE_PTX_JIT and CUDA_DISABLE_JIT".into(),
        214 | 220 | 226 => {
            "hardware fault: see `nvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER` and `dmesg | grep -i xid`; reset \
            the GPU, and replace it if the fault recurs"
                .into()
        }
        302 | 303 | 803 => mismatch(machine),
        700 | 714..=719 => {
            "the kernel of this check is correct: the fault is in the GPU or its driver. See `dmesg | grep -i xid`; \
            reset the GPU (`nvidia-smi --gpu-reset`), and replace it if the fault recurs"
                .into()
        }
        702 | 909 => "the GPU is busy or hangs: see `nvidia-smi` and `dmesg | grep -i xid`".into(),
        802 => "machines with NVSwitch need the fabric manager in the driver's version: see `systemctl status \
            nvidia-fabricmanager`; it may take a minute after start. With confidential computing, set the GPUs ready \
            (`nvidia-smi conf-compute -srs 1`)"
            .into(),
        804 => {
            let away = compat_away(machine)
                .unwrap_or_else(|| "install the driver that matches the libraries".to_owned());
            format!("{COMPAT_ONLY}; {away}")
        }
        805..=807 => "the MPS daemon is not running, or runs as another user: start it (`nvidia-cuda-mps-control -d`), \
            or unset CUDA_MPS_PIPE_DIRECTORY; a container needs its folder and `--ipc=host`"
            .into(),
        999 | 304 => unknown(machine),
        _ => return None,
    };
    Some(hint)
}

const COMPAT_ONLY: &str = "forward compatibility (package cuda-compat) is supported on data center GPUs, some \
    workstation GPUs and Jetson only";
/// Hint if libcuda is from the package cuda-compat; `None` otherwise.
fn compat_away(machine: &Machine) -> Option<String> {
    let (folder, _) = machine.library.as_ref()?.rsplit_once('/')?;
    folder.split('/').any(|part| part == "compat").then(|| {
        format!(
            "remove {folder} from LD_LIBRARY_PATH and /etc/ld.so.conf.d, so that the driver's own libcuda is loaded"
        )
    })
}

fn stub(machine: &Machine) -> String {
    let away = "remove the toolkit's `stubs` folder from LD_LIBRARY_PATH and /etc/ld.so.conf.d, so that the driver's \
        own libcuda is loaded";
    format!("{away}; {}", no_library(machine))
}

fn invalid_device(machine: &Machine) -> String {
    match (machine.asked, machine.devices) {
        (Some(asked), Some(count)) if asked >= count => {
            let numbers = match count {
                1 => "the only device is 0".to_owned(),
                _ => format!("devices are 0 to {}", count.saturating_sub(1)),
            };
            format!(
                "device {asked} requested, but {numbers}; CUDA_VISIBLE_DEVICES and the container determine which are \
                visible"
            )
        }
        _ => "a GPU in MIG mode needs instances (`nvidia-smi mig -lgi`); otherwise reset the GPU".into(),
    }
}

fn driver_too_old(machine: &Machine) -> String {
    if let Some(away) = compat_away(machine) {
        return format!("the kernel module is too old for this libcuda; {away}, or install a newer driver");
    }
    "install a newer driver, or use an image with an older CUDA; on data center GPUs, the package cuda-compat also \
    helps"
        .into()
}

fn mismatch(machine: &Machine) -> String {
    if let Some(away) = compat_away(machine) {
        return format!(
            "this libcuda is from cuda-compat, and the kernel module is newer than it or too old for it; {away}"
        );
    }
    let module = machine.module_version.as_deref().unwrap_or("unknown");
    format!(
        "the kernel module has version {module}: libcuda must have the same version. After a driver update, reboot the \
        machine, or in a container restart the container; an image must not contain libcuda"
    )
}

fn compiler(machine: &Machine) -> String {
    let what = "libnvidia-ptxjitcompiler.so.1 not found; it must have the driver's version";
    if machine.container {
        return format!(
            "{what}. The container toolkit mounts it with the capability compute \
            (NVIDIA_DRIVER_CAPABILITIES=compute,utility); if the driver is mounted another way, its folder must be in \
            LD_LIBRARY_PATH"
        );
    }
    format!("{what}: reinstall the driver libraries")
}

fn unknown(machine: &Machine) -> String {
    if machine.control_node && !machine.nodes_open {
        return NOT_OPEN.to_owned();
    }
    if machine.control_node && !machine.uvm_node && !machine.wsl {
        return "no /dev/nvidia-uvm, which CUDA requires: create it on the host with `nvidia-modprobe -u`; pass it to \
            containers"
            .into();
    }
    if let Some(away) = compat_away(machine) {
        return format!("this libcuda is from cuda-compat: {away}");
    }
    "see `dmesg | grep -i -e xid -e nvrm` and `nvidia-smi`: common causes are a GPU fallen off the bus, a suspended \
    machine, or an unloaded nvidia_uvm module (`modprobe nvidia_uvm`); a reboot usually helps"
        .into()
}

#[cfg(test)]
mod tests {
    use super::{explain, hint};
    use crate::gpu::Stage;
    use crate::gpu::fault::Fault;
    use crate::gpu::machine::Machine;

    fn none() -> Fault {
        Fault::own("no-library", "")
    }

    fn cuda(code: i32) -> Fault {
        Fault::Cuda { code, call: "cuInit" }
    }

    #[test]
    fn the_hint_fits_the_machine() {
        let bare = Machine::default();
        let container = Machine { container: true, ..Machine::default() };
        let pod = Machine { kubernetes: true, ..container.clone() };
        let utility = Machine {
            control_node: true,
            nvml: true,
            capabilities: Some("utility".into()),
            ..container.clone()
        };
        let module = Machine {
            module: true,
            control_node: true,
            uvm_node: true,
            nodes_open: true,
            on_bus: true,
            ..Machine::default()
        };
        let nodes = Machine { gpu_nodes: 1, ..module.clone() };
        let compat =
            Machine { library: Some("/usr/local/cuda-13/compat/libcuda.so.580".into()), ..nodes.clone() };
        let of = |change: fn(&mut Machine)| {
            let mut machine = nodes.clone();
            change(&mut machine);
            machine
        };
        let asked = Machine { capabilities: Some("compute,utility".into()), ..utility.clone() };
        let cases: [(Fault, Machine, &str); 27] = [
            (none(), asked, "the host has it"),
            (none(), Machine { nixos: true, ..module.clone() }, "hardware.graphics.enable"),
            (none(), bare.clone(), "no NVIDIA GPU and no driver"),
            (none(), Machine { on_bus: true, ..bare.clone() }, "without a driver"),
            (none(), Machine { wsl: true, ..bare.clone() }, "/usr/lib/wsl/lib"),
            (none(), container.clone(), "--gpus all"),
            (none(), pod.clone(), "nvidia.com/gpu"),
            (none(), utility, "NVIDIA_DRIVER_CAPABILITIES is \"utility\""),
            (none(), module.clone(), "libcuda.so.1 in the same version"),
            (Fault::own("stub", ""), container.clone(), "stubs"),
            (cuda(100), container, "docker run --gpus all"),
            (cuda(100), pod, "nvidia.com/gpu: 1"),
            (cuda(100), bare, "no NVIDIA GPU found"),
            (cuda(100), module, "nvidia-modprobe -c 0 -u"),
            (
                cuda(100),
                of(|machine| machine.cuda_visible = Some(String::new())),
                "CUDA_VISIBLE_DEVICES is \"\"",
            ),
            (cuda(100), of(|machine| machine.nodes_open = false), "no permission to open"),
            (cuda(100), nodes.clone(), "MIG"),
            (
                cuda(101),
                of(|machine| (machine.asked, machine.devices) = (Some(3), Some(2))),
                "devices are 0 to 1",
            ),
            (cuda(803), compat.clone(), "cuda-compat"),
            (cuda(803), of(|machine| machine.module_version = Some("535.1".into())), "535.1"),
            (cuda(804), compat, "remove /usr/local/cuda-13/compat"),
            (cuda(221), of(|machine| machine.container = true), "compute,utility"),
            (cuda(802), nodes.clone(), "nvidia-fabricmanager"),
            (cuda(805), nodes.clone(), "nvidia-cuda-mps-control"),
            (cuda(999), of(|machine| machine.uvm_node = false), "/dev/nvidia-uvm"),
            (cuda(304), of(|machine| machine.nodes_open = false), "no permission to open"),
            (cuda(719), nodes, "xid"),
        ];
        for (fault, machine, part) in cases {
            let hint = hint(&fault, Stage::Init, &machine).unwrap();
            assert!(hint.contains(part), "{fault:?} of {machine:?}: {hint}");
        }
    }

    #[test]
    fn a_code_that_nobody_knows_is_still_told() {
        let error = explain(&cuda(4711), (Stage::Launch, None), &Machine::default(), None);
        assert_eq!((error.code, error.name.as_str(), error.hint), (Some(4711), "CUDA_ERROR_4711", None));
        let error = explain(&cuda(2), (Stage::Memory, Some(1)), &Machine::default(), None);
        assert_eq!((error.name.as_str(), error.stage.as_str()), ("CUDA_ERROR_OUT_OF_MEMORY", "memory"));
        assert!(error.message.starts_with("device 1: ") && error.message.contains("cuInit returned 2"));
    }
}
