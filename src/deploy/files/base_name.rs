//! What the name of an image says about its CUDA content.

use crate::cuda::Flavor;
use crate::cuda::compat::CudaVersion;

/// What an image reference says about the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseName {
    /// Repository without the default registry.
    pub repository: String,
    /// Tag; empty without one.
    pub tag: String,
    /// CUDA version in the tag or repository.
    pub cuda: Option<CudaVersion>,
    /// Flavor in the tag; `None` if the name has none.
    pub flavor: Option<Flavor>,
    /// Whether it contains torch.
    pub torch: bool,
    /// Whether it is known to have no CUDA: a distribution or a language image.
    pub plain: bool,
}

/// Repositories without CUDA: distributions and language images.
const PLAIN: [&str; 16] = [
    "debian",
    "ubuntu",
    "alpine",
    "python",
    "fedora",
    "almalinux",
    "rockylinux",
    "busybox",
    "node",
    "golang",
    "rust",
    "gcc",
    "buildpack-deps",
    "centos",
    "amazonlinux",
    "gcr.io/distroless/python3-debian12",
];

impl BaseName {
    /// Reads a reference such as `nvidia/cuda:12.1.1-devel-ubuntu22.04`.
    pub fn parse(reference: &str) -> Self {
        let named = reference.trim().split('@').next().unwrap_or_default();
        let named = named.strip_prefix("docker://").unwrap_or(named);
        let (repository, tag) = match named.rsplit_once(':') {
            // A colon before the last slash is that of a port.
            Some((repository, tag)) if !tag.contains('/') => (repository, tag),
            _ => (named, ""),
        };
        let repository = ["docker.io/", "index.docker.io/", "library/"]
            .into_iter()
            .fold(repository, |rest, prefix| rest.strip_prefix(prefix).unwrap_or(rest));
        let is_cuda = repository == "nvidia/cuda" || repository.ends_with("/nvidia/cuda");
        let cuda = if is_cuda {
            tag.split('-').next().filter(|first| first.contains('.')).and_then(CudaVersion::parse)
        } else {
            after_cuda(tag).or_else(|| after_cuda(repository))
        };
        let has = |word: &str| tag.split(['-', '_', '.']).any(|part| part == word);
        let flavor = match (cuda, is_cuda) {
            (None, false) => None,
            _ if has("devel") => Some(Flavor::Devel),
            _ if has("runtime") => Some(Flavor::Runtime),
            _ if has("base") && is_cuda => Some(Flavor::Base),
            _ => None,
        };
        Self {
            torch: repository == "pytorch/pytorch" || repository.ends_with("nvidia/pytorch"),
            plain: PLAIN.contains(&repository),
            repository: repository.to_owned(),
            tag: tag.to_owned(),
            cuda,
            flavor,
        }
    }

    /// Whether it has the CUDA libraries, with nvcc or without: base images of Azure ML with CUDA in their name.
    pub fn has_libraries(&self) -> bool {
        self.cuda.is_some() && self.repository.starts_with("mcr.microsoft.com/azureml/")
    }

    /// The same image in another flavor, for images of NVIDIA.
    pub fn in_flavor(&self, flavor: &str) -> Option<String> {
        let (old, _) = [("devel", Flavor::Devel), ("runtime", Flavor::Runtime)]
            .into_iter()
            .find(|(_, known)| self.flavor == Some(*known))?;
        let tag: Vec<&str> =
            self.tag.split('-').map(|part| if part == old { flavor } else { part }).collect();
        Some(format!("{}:{}", self.repository, tag.join("-")))
    }
}

/// The version after `cuda` in a name: 12.1 in `2.1.0-cuda12.1-cudnn8-runtime`.
fn after_cuda(text: &str) -> Option<CudaVersion> {
    let (_, rest) = text.split_once("cuda")?;
    let rest = rest.trim_start_matches(['-', '_', ':']);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let version = rest.get(..end).unwrap_or_default();
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| CudaVersion::parse(version)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_cuda_and_flavor() {
        let cases = [
            ("nvidia/cuda:12.1.1-devel-ubuntu22.04", Some((12, Some(1))), Some(Flavor::Devel), false),
            (
                "docker.io/nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu20.04",
                Some((11, Some(8))),
                Some(Flavor::Runtime),
                false,
            ),
            (
                "nvcr.io/nvidia/cuda:13.0.2-base-ubuntu24.04@sha256:00",
                Some((13, Some(0))),
                Some(Flavor::Base),
                false,
            ),
            ("pytorch/pytorch:2.1.0-cuda12.1-cudnn8-devel", Some((12, Some(1))), Some(Flavor::Devel), false),
            (
                "mcr.microsoft.com/azureml/openmpi4.1.0-cuda11.8-cudnn8-ubuntu22.04:latest",
                Some((11, Some(8))),
                None,
                false,
            ),
            ("debian:bookworm-slim", None, None, true),
            ("docker.io/library/python:3.12-slim", None, None, true),
            ("localhost:5000/app", None, None, false),
            ("cuda", None, None, false),
            ("", None, None, false),
        ];
        for (reference, cuda, flavor, plain) in cases {
            let name = BaseName::parse(reference);
            assert_eq!(name.cuda.map(|cuda| (cuda.major, cuda.minor)), cuda, "{reference}");
            assert_eq!((name.flavor, name.plain), (flavor, plain), "{reference}");
        }
    }

    #[test]
    fn the_runtime_flavor_keeps_the_rest_of_the_tag() {
        let name = BaseName::parse("nvidia/cuda:12.1.1-cudnn8-devel-ubuntu22.04");
        assert_eq!(
            name.in_flavor("runtime").as_deref(),
            Some("nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04")
        );
        assert_eq!(BaseName::parse("debian:12").in_flavor("runtime"), None);
    }
}
