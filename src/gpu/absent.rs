//! Why a driver or a GPU is not there, and what to do about it.

use super::machine::Machine;

/// What to do about devices that are there and may not be used.
pub(super) const NOT_OPEN: &str = "the devices /dev/nvidia* may not be opened: see their permissions, the groups of \
                                   this user, and the device rules of the container";

/// Why libcuda is not there.
pub(super) fn no_library(machine: &Machine) -> String {
    let capabilities = machine.capabilities.as_deref().unwrap_or_default();
    let compute = capabilities.split(',').any(|one| matches!(one.trim(), "compute" | "all"));
    if machine.wsl {
        return "in WSL 2 the driver is installed in Windows, which shows libcuda.so.1 in /usr/lib/wsl/lib: install or \
                update it there, then `wsl --shutdown`; in a container it takes `docker run --gpus all`"
            .into();
    }
    if machine.container && (machine.control_node || machine.nvml) {
        const SET: &str = "set NVIDIA_DRIVER_CAPABILITIES=compute,utility";
        let what = "the container has the GPU's devices or NVML but not libcuda";
        let set = if compute {
            format!("{what}, which NVIDIA_DRIVER_CAPABILITIES asks for: see that the machine itself has it")
        } else if capabilities.is_empty() {
            format!("{what}: {SET}")
        } else {
            format!("NVIDIA_DRIVER_CAPABILITIES is {capabilities:?}, which leaves libcuda out: {SET}")
        };
        return format!(
            "{set}; where the driver is mounted by other means (GKE), \
             its folder must be in LD_LIBRARY_PATH, such as /usr/local/nvidia/lib64"
        );
    }
    if machine.kubernetes {
        return "the pod has no GPU: give its container a limit `nvidia.com/gpu: 1`; the cluster needs NVIDIA's device \
                plugin and, but for GKE, the container toolkit on its nodes"
            .into();
    }
    if machine.container {
        return "the container was started without a GPU: `docker run --gpus all`, or `podman run --device \
                nvidia.com/gpu=all`; the machine needs the driver and nvidia-container-toolkit"
            .into();
    }
    if machine.nixos {
        return "NixOS has the driver's libraries in /run/opengl-driver/lib when its configuration has \
                `hardware.graphics.enable = true` and `services.xserver.videoDrivers = [ \"nvidia\" ]`"
            .into();
    }
    if machine.module || machine.control_node {
        return "the driver runs in the kernel, but its library for CUDA is not installed: install the package with \
                libcuda.so.1, of the same version (libnvidia-compute on Ubuntu, libcuda1 on Debian, \
                nvidia-driver-cuda on Fedora)"
            .into();
    }
    if machine.on_bus {
        return "there is an NVIDIA GPU, but no driver: install NVIDIA's driver".into();
    }
    "this machine shows no NVIDIA GPU and no driver; where there is one, install NVIDIA's driver".into()
}

/// Why the driver sees no GPU.
pub(super) fn no_device(machine: &Machine) -> String {
    if let Some(visible) = machine.cuda_visible.as_ref().filter(|_| machine.gpu_nodes > 0 || machine.wsl) {
        return format!("CUDA_VISIBLE_DEVICES is {visible:?}, which may hide every GPU: unset it");
    }
    if machine.container && machine.gpu_nodes == 0 && !machine.wsl {
        let set = match machine.visible.as_deref() {
            Some("" | "void" | "none") => "NVIDIA_VISIBLE_DEVICES asks for none: ",
            _ => "",
        };
        let how = if machine.kubernetes {
            "give the pod's container a limit `nvidia.com/gpu: 1`"
        } else {
            "start it with `docker run --gpus all`, or `podman run --device nvidia.com/gpu=all`"
        };
        return format!("the container has the driver's library but no device /dev/nvidia0: {set}{how}");
    }
    if machine.control_node && !machine.nodes_open {
        return NOT_OPEN.to_owned();
    }
    if machine.wsl {
        return "WSL 2 sees no GPU: update NVIDIA's driver in Windows and the kernel (`wsl --update`), then `wsl \
                --shutdown`"
            .into();
    }
    if machine.gpu_nodes == 0 && !machine.module {
        return if machine.on_bus {
            "there is a GPU, but the driver's module is not in the kernel: `modprobe nvidia`, and `dmesg | grep -i \
             nvrm` when that fails; after an update the machine must be started anew"
                .into()
        } else {
            "this machine shows no NVIDIA GPU".into()
        };
    }
    if machine.gpu_nodes == 0 {
        return "there is no device /dev/nvidia0: `nvidia-modprobe -c 0 -u` makes it".into();
    }
    "the driver's module has no GPU that works: `nvidia-smi` and `dmesg | grep -i -e nvrm -e xid` tell more; a GPU with \
     MIG switched on needs instances (`nvidia-smi mig -lgi`)"
        .into()
}
