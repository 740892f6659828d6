//! GPU-related facts of this machine without asking a driver; they determine the hints.

use std::env;
use std::fs;
use std::path::Path;

use rustix::fs::{Access, access};

/// Facts about the machine, or the container, of the check.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own; no two make a state")]
pub(super) struct Machine {
    /// In a container.
    pub(super) container: bool,
    /// In a Kubernetes pod.
    pub(super) kubernetes: bool,
    /// In WSL 2.
    pub(super) wsl: bool,
    /// On NixOS.
    pub(super) nixos: bool,
    /// `/dev/nvidiactl` exists (`/dev/dxg` in WSL).
    pub(super) control_node: bool,
    /// Number of `/dev/nvidia0`, `/dev/nvidia1`, ….
    pub(super) gpu_nodes: usize,
    /// `/dev/nvidia-uvm` exists.
    pub(super) uvm_node: bool,
    /// Whether the existing nodes may be opened.
    pub(super) nodes_open: bool,
    /// The NVIDIA kernel module is loaded.
    pub(super) module: bool,
    /// Version of the module, if known.
    pub(super) module_version: Option<String>,
    /// An NVIDIA GPU is on the PCI bus.
    pub(super) on_bus: bool,
    /// `libnvidia-ml.so.1` exists; the container toolkit mounts it by another capability than libcuda.
    pub(super) nvml: bool,
    /// `NVIDIA_DRIVER_CAPABILITIES`.
    pub(super) capabilities: Option<String>,
    /// `NVIDIA_VISIBLE_DEVICES`.
    pub(super) visible: Option<String>,
    /// `CUDA_VISIBLE_DEVICES`.
    pub(super) cuda_visible: Option<String>,
    /// Path of the opened library.
    pub(super) library: Option<String>,
    /// Requested device.
    pub(super) asked: Option<u32>,
    /// Number of devices reported by the driver.
    pub(super) devices: Option<u32>,
}

impl Machine {
    /// Examines this machine. Never blocks or fails: unreadable facts count as absent.
    pub(super) fn look() -> Self {
        let exists = |path: &str| Path::new(path).exists();
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let variable = |name: &str| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        let wsl = exists("/dev/dxg") || read("/proc/sys/kernel/osrelease").contains("microsoft");
        let gpus: Vec<_> = names("/dev")
            .filter(|name| {
                name.strip_prefix("nvidia")
                    .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
            })
            .collect();
        let control = if wsl { "/dev/dxg" } else { "/dev/nvidiactl" };
        // Checked without opening: opening an idle GPU starts it, which takes seconds. The check includes the device
        // rules of a container.
        let opens = |path: &str| access(path, Access::READ_OK | Access::WRITE_OK).is_ok();
        let kubernetes = env::var_os("KUBERNETES_SERVICE_HOST").is_some()
            || exists("/var/run/secrets/kubernetes.io")
            || read("/proc/self/cgroup").contains("kubepods");
        Self {
            container: kubernetes
                || exists("/.dockerenv")
                || exists("/run/.containerenv")
                || env::var_os("container").is_some()
                || contained(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo")),
            kubernetes,
            wsl,
            nixos: exists("/etc/NIXOS"),
            control_node: exists(control),
            gpu_nodes: gpus.len(),
            uvm_node: exists("/dev/nvidia-uvm"),
            nodes_open: !exists(control)
                || (opens(control) && gpus.iter().all(|name| opens(&format!("/dev/{name}")))),
            module: exists("/proc/driver/nvidia/version") || exists("/sys/module/nvidia"),
            module_version: module_version(&read("/proc/driver/nvidia/version")),
            on_bus: names("/sys/bus/pci/devices").any(|name| {
                let fact = |what: &str| read(&format!("/sys/bus/pci/devices/{name}/{what}"));
                // Class 03 is a display controller; it includes GPUs without a display.
                fact("vendor").trim() == "0x10de" && fact("class").starts_with("0x03")
            }),
            nvml: false,
            capabilities: variable("NVIDIA_DRIVER_CAPABILITIES"),
            visible: variable("NVIDIA_VISIBLE_DEVICES"),
            cuda_visible: variable("CUDA_VISIBLE_DEVICES"),
            library: None,
            asked: None,
            devices: None,
        }
    }

    /// Examines the machine again; keeps what is known of NVML, the library and the devices.
    pub(super) fn probe_again(&mut self) {
        let known = std::mem::take(self);
        *self = Self {
            nvml: known.nvml,
            library: known.library,
            asked: known.asked,
            devices: known.devices,
            ..Self::look()
        };
    }
}

fn names(folder: &str) -> impl Iterator<Item = String> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

/// Whether a process with these control groups and mounts is in a container: a container engine named its groups, or
/// its root is an overlay as engines mount it, unlike those of live systems and composefs. Version 2 of control groups
/// hides the names.
fn contained(cgroup: &str, mountinfo: &str) -> bool {
    let engines = ["docker", "kubepods", "containerd", "libpod", "crio", "lxc", "buildkit"];
    let overlay = |line: &str| {
        let Some((mount, what)) = line.split_once(" - ") else { return false };
        mount.split(' ').nth(4) == Some("/") && what.starts_with("overlay overlay ")
    };
    engines.iter().any(|engine| cgroup.contains(engine)) || mountinfo.lines().any(overlay)
}

/// The version in `/proc/driver/nvidia/version`. The text before it differs between the open and the proprietary
/// module.
fn module_version(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("NVRM version:"))?;
    let is_version = |word: &&str| {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        word.contains('.') && word.split('.').all(digits)
    };
    line.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{contained, module_version};

    #[test]
    fn the_version_of_both_modules_is_read() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n\
                      GCC version:  gcc version 12.2.0\n";
        let open =
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.126.09  Release Build  (root@b)\n";
        assert_eq!(module_version(closed).as_deref(), Some("535.104.05"));
        assert_eq!(module_version(open).as_deref(), Some("580.126.09"));
        assert_eq!(module_version("GCC version: 12.2.0"), None);
    }

    #[test]
    fn a_container_is_told_by_its_groups_or_its_root() {
        assert!(contained("0::/system.slice/docker-abc.scope", ""));
        assert!(contained("0::/", "603 542 0:52 / / rw,relatime - overlay overlay rw,lowerdir=/a"));
        assert!(!contained("0::/", "603 542 0:52 / /mnt rw,relatime - overlay overlay rw"));
        for source in ["/cow", "composefs"] {
            let root = format!("29 1 0:32 / / rw,relatime shared:1 - overlay {source} rw,lowerdir=/a");
            assert!(!contained("0::/user.slice", &root), "{source}");
        }
        assert!(!contained("0::/user.slice", "29 1 259:2 / / rw,relatime shared:1 - ext4 /dev/sda rw"));
    }
}
