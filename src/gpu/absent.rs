//! Messages and hints for a missing driver or GPU.

use super::machine::Machine;

/// Hint for device nodes that exist but may not be opened.
pub(super) const NOT_OPEN: &str = "no permission to open /dev/nvidia*: check file permissions, the user's groups, and \
    the device rules of the container";

/// Why libcuda is missing.
pub(super) fn no_library(machine: &Machine) -> String {
    let capabilities = machine.capabilities.as_deref().unwrap_or_default();
    let compute = capabilities.split(',').any(|one| matches!(one.trim(), "compute" | "all"));
    if machine.wsl {
        return "in WSL 2 the driver is installed in Windows, which provides libcuda.so.1 in /usr/lib/wsl/lib: install \
            or update it there, then run `wsl --shutdown`; containers need `docker run --gpus all`"
            .into();
    }
    if machine.container && (machine.control_node || machine.nvml) {
        const SET: &str = "set NVIDIA_DRIVER_CAPABILITIES=compute,utility";
        let what = "the container has the GPU's devices or NVML but not libcuda";
        let set = if compute {
            format!("{what}, although NVIDIA_DRIVER_CAPABILITIES requests it: check that the host has it")
        } else if capabilities.is_empty() {
            format!("{what}: {SET}")
        } else {
            format!("NVIDIA_DRIVER_CAPABILITIES is {capabilities:?}, which excludes libcuda: {SET}")
        };
        return format!(
            "{set}; if the driver is mounted another way (GKE), its folder must be in LD_LIBRARY_PATH, such as \
            /usr/local/nvidia/lib64"
        );
    }
    if machine.kubernetes {
        return "the pod has no GPU: set the limit `nvidia.com/gpu: 1`; the cluster needs NVIDIA's device plugin and, \
            except on GKE, the container toolkit on its nodes"
            .into();
    }
    if machine.container {
        return "the container was started without a GPU: use `docker run --gpus all` or `podman run --device \
            nvidia.com/gpu=all`; the host needs the driver and nvidia-container-toolkit"
            .into();
    }
    if machine.nixos {
        return "on NixOS, set `hardware.graphics.enable = true` and `services.xserver.videoDrivers = [ \"nvidia\" ]`; \
            the driver's libraries are then in /run/opengl-driver/lib"
            .into();
    }
    if machine.module || machine.control_node {
        return "the kernel module is loaded, but the CUDA driver library is not installed: install the package with \
            libcuda.so.1 in the same version (libnvidia-compute on Ubuntu, libcuda1 on Debian, nvidia-driver-cuda on \
            Fedora)"
            .into();
    }
    if machine.on_bus {
        return "NVIDIA GPU without a driver: install the NVIDIA driver".into();
    }
    "no NVIDIA GPU and no driver found; if there is a GPU, install the NVIDIA driver".into()
}

/// Why the driver reports no GPU.
pub(super) fn no_device(machine: &Machine) -> String {
    if let Some(visible) = machine.cuda_visible.as_ref().filter(|_| machine.gpu_nodes > 0 || machine.wsl) {
        return format!("CUDA_VISIBLE_DEVICES is {visible:?}, which may hide all GPUs: unset it");
    }
    if machine.container && machine.gpu_nodes == 0 && !machine.wsl {
        let set = match machine.visible.as_deref() {
            Some("" | "void" | "none") => "NVIDIA_VISIBLE_DEVICES requests no GPU: ",
            _ => "",
        };
        let how = if machine.kubernetes {
            "set the limit `nvidia.com/gpu: 1` for the pod's container"
        } else {
            "start it with `docker run --gpus all` or `podman run --device nvidia.com/gpu=all`"
        };
        return format!("the container has the driver library but no /dev/nvidia0: {set}{how}");
    }
    if machine.control_node && !machine.nodes_open {
        return NOT_OPEN.to_owned();
    }
    if machine.wsl {
        return "WSL 2 finds no GPU: update the NVIDIA driver in Windows and the kernel (`wsl --update`), then run `wsl \
            --shutdown`"
            .into();
    }
    if machine.gpu_nodes == 0 && !machine.module {
        return if machine.on_bus {
            "GPU found, but the kernel module is not loaded: run `modprobe nvidia`, and `dmesg | grep -i nvrm` if that \
            fails; reboot after a driver update"
                .into()
        } else {
            "no NVIDIA GPU found on this machine".into()
        };
    }
    if machine.gpu_nodes == 0 {
        return "no /dev/nvidia0: create it with `nvidia-modprobe -c 0 -u`".into();
    }
    "the kernel module has no working GPU: see `nvidia-smi` and `dmesg | grep -i -e nvrm -e xid`; a GPU in MIG mode \
    needs instances (`nvidia-smi mig -lgi`)"
        .into()
}
