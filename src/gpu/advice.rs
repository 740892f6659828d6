//! What an error means on this machine, and what to do about it.

use super::absent::{NOT_OPEN, no_device, no_library};
use super::api::Cuda;
use super::child::STUB;
use super::codes;
use super::fault::Fault;
use super::machine::Machine;
use super::{GpuError, Stage};

/// The error of a step, in words.
pub(super) fn explain(
    fault: &Fault,
    (stage, device): (Stage, Option<u32>),
    machine: &Machine,
    cuda: Option<&Cuda>,
) -> GpuError {
    let (name, message, log) = match fault {
        Fault::Cuda { code, call } => {
            let (name, meaning) = words(*code, cuda);
            // By one name, however it was told.
            let name = if *code == STUB { "stub".to_owned() } else { name };
            (name, format!("{meaning} ({call} returned {code})"), None)
        }
        Fault::Compiler { code, log } => {
            let (name, meaning) = words(*code, cuda);
            (name, format!("{meaning} (cuModuleLoadDataEx returned {code})"), Some(log.clone()))
        }
        Fault::Missing(symbol) => (
            "too-old".to_owned(),
            format!(
                "the driver's library has no function {symbol}: it is older than CUDA 7.0, or no driver at all"
            ),
            None,
        ),
        Fault::Own { name, message } => ((*name).to_owned(), message.clone(), None),
    };
    let place = device.map_or_else(String::new, |device| format!("device {device}: "));
    let (message, hint) = (format!("{place}{message}"), hint(fault, stage, machine));
    GpuError { stage: stage.as_str().to_owned(), code: fault.code(), name, message, hint, log }
}

/// Name and meaning of a code: ours for those that are known, else the driver's.
fn words(code: i32, cuda: Option<&Cuda>) -> (String, String) {
    if let Some(known) = codes::known(code) {
        return (known.name.to_owned(), known.meaning.to_owned());
    }
    cuda.and_then(|cuda| cuda.error_texts(code)).unwrap_or_else(|| {
        (
            format!("CUDA_ERROR_{code}"),
            format!("the driver returned the error {code}, which it has no words for"),
        )
    })
}

/// What to do; `None` when nothing is known to help.
fn hint(fault: &Fault, stage: Stage, machine: &Machine) -> Option<String> {
    let hint = match fault {
        Fault::Missing(_) => "the driver is older than this program can use: install a newer one".into(),
        Fault::Own { name: "no-library", .. } => no_library(machine),
        Fault::Own { name: "stub", .. } => stub(machine),
        Fault::Own { name: "not-a-library", .. } => {
            "the file is damaged, for another processor, or a library that it needs is missing: install the driver's \
             libraries again, all of one version"
                .into()
        }
        Fault::Own { name: "wrong-numbers", .. } => {
            "do not trust this GPU: look for errors of its memory (`nvidia-smi -q -d ECC`, `dmesg | grep -i xid`), \
             take overclocking back, and test it with `dcgmi diag -r 3`"
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
            "other processes hold the GPU's memory: `nvidia-smi` shows them; end some, or take another GPU".into()
        }
        2 => "other processes hold memory (`nvidia-smi` shows them), or the container's own limit is too low".into(),
        3 => "start the check anew; a program that forks must not use CUDA before".into(),
        STUB => stub(machine),
        35 | 36 | 222 => driver_too_old(machine),
        46 => "another process has this GPU in exclusive mode, or it is switched off for computing: `nvidia-smi -q -d \
               COMPUTE` says which; `nvidia-smi -c DEFAULT` opens it to all"
            .into(),
        100 => no_device(machine),
        101 => invalid_device(machine),
        102 => "the licence server of the virtual GPU cannot be reached: see `nvidia-smi -q | grep -i licen`".into(),
        200 | 209 | 218 | 300 => {
            "the driver and its compiler do not go together, or the GPU is newer than the driver: install a newer \
             driver, all of its files of one version"
                .into()
        }
        221 => compiler(machine),
        223 => "unset CUDA_DISABLE_PTX_JIT and CUDA_DISABLE_JIT".into(),
        214 | 220 | 226 => {
            "the hardware has a fault: `nvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER` and `dmesg | grep -i xid` \
             tell which; reset the GPU, and replace it when it comes again"
                .into()
        }
        302 | 303 | 803 => mismatch(machine),
        700 | 714..=719 => {
            "the kernel of this check is right, so this is the GPU or its driver: `dmesg | grep -i xid` names the \
             fault; reset the GPU (`nvidia-smi --gpu-reset`), and replace it when it comes again"
                .into()
        }
        702 | 909 => "something else keeps the GPU busy, or it hangs: see `nvidia-smi` and `dmesg | grep -i xid`".into(),
        802 => "on machines with NVSwitch the fabric manager must run, in the driver's version: `systemctl status \
                nvidia-fabricmanager`; after it was started this can take a minute. With confidential computing the \
                GPUs must be set ready (`nvidia-smi conf-compute -srs 1`)"
            .into(),
        804 => {
            let away = compat_away(machine)
                .unwrap_or_else(|| "install the driver that the libraries belong to".to_owned());
            format!("{COMPAT_ONLY}; {away}")
        }
        805..=807 => "the daemon of MPS does not run, or runs for another user: start it (`nvidia-cuda-mps-control -d`), \
                      or unset CUDA_MPS_PIPE_DIRECTORY; in a container its folder and `--ipc=host` are needed"
            .into(),
        999 | 304 => unknown(machine),
        _ => return None,
    };
    Some(hint)
}

const COMPAT_ONLY: &str = "forward compatibility (the package cuda-compat) works on data-centre GPUs, some workstation \
                           GPUs and Jetson only";
/// What to do about a libcuda of the package cuda-compat; `None` when it is another one.
fn compat_away(machine: &Machine) -> Option<String> {
    let (folder, _) = machine.library.as_ref()?.rsplit_once('/')?;
    folder.split('/').any(|part| part == "compat").then(|| {
        format!(
            "take {folder} out of LD_LIBRARY_PATH and /etc/ld.so.conf.d, so that the driver's own libcuda is found"
        )
    })
}

fn stub(machine: &Machine) -> String {
    let away = "take the folder `stubs` of the toolkit out of LD_LIBRARY_PATH and /etc/ld.so.conf.d, so that the driver's \
                own libcuda is found";
    format!("{away}; {}", no_library(machine))
}

fn invalid_device(machine: &Machine) -> String {
    match (machine.asked, machine.devices) {
        (Some(asked), Some(count)) if asked >= count => {
            let numbers = match count {
                1 => "there is only device 0".to_owned(),
                _ => format!("there are devices 0 to {}", count.saturating_sub(1)),
            };
            format!(
                "device {asked} was asked for, and {numbers} here; CUDA_VISIBLE_DEVICES and the container decide which are visible"
            )
        }
        _ => "a GPU with MIG switched on needs instances (`nvidia-smi mig -lgi`); else reset the GPU".into(),
    }
}

fn driver_too_old(machine: &Machine) -> String {
    if let Some(away) = compat_away(machine) {
        return format!(
            "the driver in the kernel is too old for this libcuda; {away}, or install a newer driver"
        );
    }
    "install a newer driver; until then use an image with an older CUDA, or on data-centre GPUs the package cuda-compat"
        .into()
}

fn mismatch(machine: &Machine) -> String {
    if let Some(away) = compat_away(machine) {
        return format!(
            "this libcuda is that of cuda-compat, and the driver in the kernel is newer than it, or too old for it; \
             {away}"
        );
    }
    let module = machine.module_version.as_deref().unwrap_or("unknown");
    format!(
        "the module in the kernel has version {module}: libcuda must have the same. After an update of the driver start \
         the machine anew, or in a container the container; an image must hold no libcuda of its own"
    )
}

fn compiler(machine: &Machine) -> String {
    let what = "libnvidia-ptxjitcompiler.so.1 is not found; it must have the driver's version";
    if machine.container {
        return format!(
            "{what}. The container toolkit mounts it with the capability compute \
             (NVIDIA_DRIVER_CAPABILITIES=compute,utility); where the driver is mounted by other means, its folder must \
             be in LD_LIBRARY_PATH"
        );
    }
    format!("{what}: install the driver's libraries again")
}

fn unknown(machine: &Machine) -> String {
    if machine.control_node && !machine.nodes_open {
        return NOT_OPEN.to_owned();
    }
    if machine.control_node && !machine.uvm_node && !machine.wsl {
        return "there is no device /dev/nvidia-uvm, without which CUDA does not start: `nvidia-modprobe -u` on the \
                machine makes it; a container must be given it"
            .into();
    }
    if let Some(away) = compat_away(machine) {
        return format!("this libcuda is that of cuda-compat: {away}");
    }
    "`dmesg | grep -i -e xid -e nvrm` and `nvidia-smi` tell more: often a GPU has fallen off the bus, the machine was \
     suspended, or the module nvidia_uvm is not loaded (`modprobe nvidia_uvm`); starting the machine anew helps with most"
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
            (none(), asked, "the machine itself has it"),
            (none(), Machine { nixos: true, ..module.clone() }, "hardware.graphics.enable"),
            (none(), bare.clone(), "no NVIDIA GPU"),
            (none(), Machine { on_bus: true, ..bare.clone() }, "no driver"),
            (none(), Machine { wsl: true, ..bare.clone() }, "/usr/lib/wsl/lib"),
            (none(), container.clone(), "--gpus all"),
            (none(), pod.clone(), "nvidia.com/gpu"),
            (none(), utility, "NVIDIA_DRIVER_CAPABILITIES is \"utility\""),
            (none(), module.clone(), "libcuda.so.1, of the same version"),
            (Fault::own("stub", ""), container.clone(), "stubs"),
            (cuda(100), container, "docker run --gpus all"),
            (cuda(100), pod, "nvidia.com/gpu: 1"),
            (cuda(100), bare, "shows no NVIDIA GPU"),
            (cuda(100), module, "nvidia-modprobe -c 0 -u"),
            (
                cuda(100),
                of(|machine| machine.cuda_visible = Some(String::new())),
                "CUDA_VISIBLE_DEVICES is \"\"",
            ),
            (cuda(100), of(|machine| machine.nodes_open = false), "may not be opened"),
            (cuda(100), nodes.clone(), "MIG"),
            (
                cuda(101),
                of(|machine| (machine.asked, machine.devices) = (Some(3), Some(2))),
                "devices 0 to 1",
            ),
            (cuda(803), compat.clone(), "cuda-compat"),
            (cuda(803), of(|machine| machine.module_version = Some("535.1".into())), "535.1"),
            (cuda(804), compat, "take /usr/local/cuda-13/compat out"),
            (cuda(221), of(|machine| machine.container = true), "compute,utility"),
            (cuda(802), nodes.clone(), "nvidia-fabricmanager"),
            (cuda(805), nodes.clone(), "nvidia-cuda-mps-control"),
            (cuda(999), of(|machine| machine.uvm_node = false), "/dev/nvidia-uvm"),
            (cuda(304), of(|machine| machine.nodes_open = false), "may not be opened"),
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
