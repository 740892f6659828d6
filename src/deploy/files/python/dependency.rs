//! Dependencies as files name them, and what the catalogue knows of them.

use crate::cuda::catalog::{Catalog, NvccUse, PythonCuda, normalized_python_name};
use crate::deploy::files::node::Position;

/// Who installs a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::deploy::files) enum Manager {
    Pip,
    Conda,
    Apt,
}

/// A dependency in a file.
#[derive(Clone, Debug)]
pub(in crate::deploy::files) struct Dependency {
    pub(in crate::deploy::files) manager: Manager,
    /// Name, for pip as in PEP 503.
    pub(in crate::deploy::files) name: String,
    /// Extras of a pip dependency.
    pub(in crate::deploy::files) extras: String,
    /// Version without operator if it is one exact version.
    pub(in crate::deploy::files) version: Option<String>,
    pub(in crate::deploy::files) at: Position,
    /// Path of the key.
    pub(in crate::deploy::files) key: String,
}

impl Dependency {
    /// A dependency by name and version requirement, such as `torch` and `==2.9.1`. A wheel by URL is left out: it
    /// builds nothing.
    pub(in crate::deploy::files) fn new(
        manager: Manager,
        name: &str,
        requirement: &str,
        at: Position,
        key: &str,
    ) -> Option<Self> {
        if requirement.contains(".whl") {
            return None;
        }
        let name = name.split([';', '@']).next().unwrap_or(name);
        let (name, extras) = match name.split_once('[') {
            Some((name, extras)) => (name, extras.split(']').next().unwrap_or_default()),
            None => (name, ""),
        };
        let requirement = requirement.split(';').next().unwrap_or_default().trim();
        let version = requirement.trim_start_matches(['=', ' ']);
        let exact = !version.is_empty()
            && version.starts_with(|c: char| c.is_ascii_digit())
            && !version.contains([',', '*', ' ']);
        let name = name.trim();
        let name =
            if manager == Manager::Pip { normalized_python_name(name) } else { name.to_ascii_lowercase() };
        Some(Self {
            manager,
            name,
            extras: extras.to_ascii_lowercase(),
            version: exact.then(|| version.to_owned()),
            at,
            key: key.to_owned(),
        })
    }

    /// A line of a requirements list: `torch==2.9.1`, `jax[cuda12]>=0.4`.
    pub(in crate::deploy::files) fn of_line(
        manager: Manager,
        line: &str,
        at: Position,
        key: &str,
    ) -> Option<Self> {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '-']) {
            return None;
        }
        let inner = line.find(']').map_or(0, |end| end + 1);
        let end = line
            .get(inner..)
            .and_then(|rest| rest.find(['=', '<', '>', '!', '~', ' ', ';']))
            .map_or(line.len(), |at| inner + at);
        let (name, requirement) = line.split_at(end);
        // Conda names channels: `pytorch::pytorch`.
        let name = name.rsplit("::").next().unwrap_or(name);
        Self::new(manager, name, requirement, at, key)
    }

    pub(super) fn shown(&self) -> String {
        let version = self.version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
        format!("{}{version}", self.name)
    }

    /// Whether its CUDA libraries come from wheels, the base image, or are linked in.
    pub(super) fn cuda(&self, catalog: &Catalog) -> Option<PythonCuda> {
        if self.manager != Manager::Pip {
            return None;
        }
        let extra = |names: &[&str]| self.extras.split(',').any(|extra| names.contains(&extra.trim()));
        match self.name.as_str() {
            "tensorflow" => return extra(&["and-cuda"]).then_some(PythonCuda::Wheels),
            "jax" => {
                return if extra(&["cuda12", "cuda13", "cuda"]) {
                    Some(PythonCuda::Wheels)
                } else {
                    extra(&["cuda12-local", "cuda13-local"]).then_some(PythonCuda::Base)
                };
            }
            _ => {}
        }
        // The build for the CPU has no CUDA.
        if self.version.as_ref().is_some_and(|version| version.ends_with("+cpu")) {
            return None;
        }
        match catalog.python_package(&self.name)?.cuda? {
            PythonCuda::Base if extra(&["cuda", "ctk"]) => Some(PythonCuda::Wheels),
            cuda => Some(cuda),
        }
    }

    pub(super) fn nvcc(&self, catalog: &Catalog) -> Option<NvccUse> {
        (self.manager == Manager::Pip).then(|| catalog.python_package(&self.name))??.nvcc
    }

    /// Whether it installs CUDA libraries or tools by another manager than pip.
    pub(super) fn is_toolkit(&self) -> bool {
        match self.manager {
            Manager::Pip => false,
            Manager::Conda => {
                matches!(
                    self.name.as_str(),
                    "cudatoolkit" | "cudatoolkit-dev" | "pytorch-cuda" | "cudnn" | "cuda"
                ) || self.name.starts_with("cuda-")
            }
            Manager::Apt => {
                self.name == "nvidia-cuda-toolkit"
                    || ["cuda-", "libcudnn", "libcublas", "libnccl"]
                        .iter()
                        .any(|start| self.name.starts_with(start))
            }
        }
    }
}
