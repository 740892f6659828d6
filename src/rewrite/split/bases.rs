//! Base images for a smaller final stage.

use std::collections::BTreeSet;

use hashbrown::HashSet;

use super::context::SplitContext;
use crate::base::convert::layer16;
use crate::cuda::links::Resolution;
use crate::cuda::{BaseImage, Flavor};
use crate::rewrite::input::Input;

/// An image whose content is known from this one: its lowest layers, and packages of upper layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Base {
    /// Its reference, with the user's registry and repository if it is a flavor of the same image.
    pub(super) reference: String,
    pub(super) flavor: Flavor,
    pub(super) layers: u16,
    /// Packages that it contains beyond its layers.
    pub(super) packages: BTreeSet<usize>,
    /// Folders whose files of the current base it contains, as far as no package has them; empty if it is no slim
    /// variant.
    pub(super) local: &'static [&'static [u8]],
    /// Whether it is the current base of the final stage.
    pub(super) own: bool,
}

impl Base {
    /// Whether it is the slim variant of Python, which has no Tk.
    pub(super) fn is_slim_python(&self) -> bool {
        self.local == OFFICIAL[0].folders
    }
}

/// Bases from the smallest to the current one. `from` is the reference in the user's `FROM`, with arguments filled in.
pub(super) fn bases(context: &SplitContext<'_>, from: &str) -> Vec<Base> {
    let (input, base_layers) = (context.input, context.base_layers);
    // Content between the recognised image and that of the FROM would be lost.
    let known = input.inventory.base.as_ref().filter(|base| base.layers == usize::from(base_layers));
    let below = known.map(|base| base.below.as_slice()).unwrap_or_default();
    let mut bases = Vec::new();
    for lower in below.iter().filter(|lower| lower.layers < usize::from(base_layers)) {
        let mut base = Base {
            reference: as_written(&lower.reference, from, lower.flavor),
            flavor: lower.flavor,
            layers: layer16(lower.layers),
            packages: BTreeSet::new(),
            local: &[],
            own: false,
        };
        bases.push(base.clone());
        if let Some(tag) =
            known.filter(|_| lower.flavor == Flavor::Runtime).and_then(|known| cudnn_tag(input, known))
        {
            base.reference = as_written(&format!("nvidia/cuda:{tag}"), from, lower.flavor);
            base.packages = cudnn_packages(input);
            bases.push(base);
        }
    }
    bases.extend(slim(context, from));
    let flavor = known.map_or(Flavor::None, |base| base.flavor);
    bases.push(Base {
        reference: from.to_owned(),
        flavor,
        layers: base_layers,
        packages: BTreeSet::new(),
        local: &[],
        own: true,
    });
    bases
}

/// The tag of the runtime image with cuDNN, if the base has cuDNN and more.
fn cudnn_tag(input: &Input<'_>, base: &BaseImage) -> Option<String> {
    base.cudnn_version.as_ref().filter(|_| base.flavor == Flavor::Devel)?;
    let toolkit = input.catalog.toolkit(base.cuda_version.as_deref()?)?;
    toolkit.image_tag("runtime", true, base.distribution.as_deref()?)
}

fn cudnn_packages(input: &Input<'_>) -> BTreeSet<usize> {
    let packages = input.inventory.packages.iter().enumerate();
    let cudnn = packages.filter(|(_, package)| {
        matches!(package.manager, "dpkg" | "rpm")
            && input.catalog.component_of_package(&package.name).is_some_and(|known| known.name == "cudnn")
            && input.catalog.is_devel_package(package.manager, &package.name).is_none()
    });
    cudnn.map(|(place, _)| place).collect()
}

/// Flavors of one image are in one repository: the user's, be it a mirror or another spelling.
fn as_written(reference: &str, from: &str, flavor: Flavor) -> String {
    let (Some((_, tag)), false) = (reference.rsplit_once(':'), flavor == Flavor::None) else {
        return reference.to_owned();
    };
    let without_digest = from.split('@').next().unwrap_or(from);
    let repository = match without_digest.rsplit_once(':') {
        Some((repository, rest)) if !rest.contains('/') => repository,
        _ => without_digest,
    };
    // Another repository may not have such tags.
    if repository.contains('$') || repository.rsplit('/').next() != Some("cuda") {
        return reference.to_owned();
    }
    format!("{repository}:{tag}")
}

/// Whether a file is Python's module for Tk. The slim variant has it, and not Tk: its build keeps what all other programs
/// and modules are linked with.
pub(super) fn is_of_tk(name: &[u8]) -> bool {
    name.starts_with(b"_tkinter.")
}

/// An official image with a slim variant: the same language on the distribution alone, with the libraries that its
/// programs need.
struct Official {
    repository: &'static str,
    /// Folders of the language.
    folders: &'static [&'static [u8]],
    /// Packages of the slim variant beside the libraries.
    packages: &'static [&'static str],
    /// The smallest number of parts that a version in a tag has.
    parts: usize,
    /// Whether the release of Debian precedes `slim` in a tag.
    release_first: bool,
}

const OFFICIAL: [Official; 2] = [
    // docker-library/python, Dockerfile-linux.template
    Official {
        repository: "python",
        folders: &[b"/usr/local/"],
        packages: &["ca-certificates", "netbase", "tzdata"],
        parts: 2,
        release_first: false,
    },
    // nodejs/docker-node, Dockerfile-slim.template
    Official {
        repository: "node",
        folders: &[b"/usr/local/", b"/opt/yarn-v", b"/home/node/"],
        packages: &[],
        parts: 1,
        release_first: true,
    },
];

/// The slim variant of a tag: `3.11-slim-bookworm` of `3.11-bookworm`.
fn slim_tag(official: &Official, tag: &str) -> Option<String> {
    let (version, release) = tag.split_once('-').map_or((tag, None), |(version, rest)| (version, Some(rest)));
    let is_number = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && version.split('.').filter(|part| !part.is_empty()).count() >= official.parts;
    let is_plain = release.is_none_or(|release| matches!(release, "bullseye" | "bookworm" | "trixie"));
    if !is_plain || !(is_number || official.release_first && matches!(version, "lts" | "current")) {
        return None;
    }
    Some(match release {
        Some(release) if official.release_first => format!("{version}-{release}-slim"),
        Some(release) => format!("{version}-slim-{release}"),
        None => format!("{version}-slim"),
    })
}

/// Whether a repository is the official one of this name, by itself or behind a mirror.
fn is_official(repository: &str, name: &str) -> bool {
    let folder = repository.strip_suffix(name).unwrap_or(repository);
    matches!(folder, "" | "library/" | "docker.io/") || folder.ends_with("/library/")
}

/// The slim variant of an official image.
fn slim(context: &SplitContext<'_>, from: &str) -> Option<Base> {
    let (repository, tag) = from.rsplit_once(':')?;
    let name = repository.rsplit('/').next()?;
    let official = OFFICIAL.iter().find(|official| official.repository == name)?;
    // Another image of that name may be one on the official one, of which something would be lost, unless it is recognised.
    let known = context.input.inventory.base.as_ref();
    if !is_official(repository, name)
        && known.is_none_or(|known| known.layers != usize::from(context.base_layers))
    {
        return None;
    }
    let tag = slim_tag(official, tag)?;
    let layers = match context.input.inventory.base.as_ref()?.below.first() {
        Some(lowest) if lowest.flavor == Flavor::None => layer16(lowest.layers),
        Some(_) => return None,
        // If the end of the base is unknown, so is everything below it: Debian is one layer.
        None => {
            let release = context.paths.lookup(b"/etc/os-release")?;
            (context.rootfs.node(release).layer() == 0 && context.base_layers > 1).then_some(1)?
        }
    };
    let links = &context.input.inventory.links;
    let is_local = |object: &crate::cuda::links::Object| {
        let node = context.rootfs.node(object.node);
        !is_of_tk(node.name())
            && (layers..context.base_layers).contains(&node.layer())
            && official.folders.iter().any(|folder| node.path().starts_with(folder))
    };
    let mut open: Vec<_> = links.objects.iter().filter(|object| is_local(object)).collect();
    let mut seen: HashSet<_> = open.iter().map(|object| object.node).collect();
    let mut packages: BTreeSet<usize> =
        official.packages.iter().filter_map(|name| context.by_name.get(*name).copied()).collect();
    while let Some(object) = open.pop() {
        packages.extend(context.system_owner(object.node));
        for found in object.needs.iter().flat_map(|need| &need.found) {
            if let Resolution::Found { object, .. } = found {
                let object = links.object(*object);
                if seen.insert(object.node) {
                    open.push(object);
                }
            }
        }
    }
    Some(Base {
        reference: format!("{repository}:{tag}"),
        flavor: Flavor::None,
        layers,
        packages: context.with_dependencies(packages),
        local: official.folders,
        own: false,
    })
}

#[cfg(test)]
mod tests {
    use super::is_official;

    #[test]
    fn an_image_of_the_same_name_is_another_one() {
        for repository in
            ["node", "library/node", "docker.io/node", "docker.io/library/node", "mirror.io/library/node"]
        {
            assert!(is_official(repository, "node"), "{repository}");
        }
        for repository in ["acme-library/node", "cimg/node", "mirror.io/node", "docker.io/acme/node"] {
            assert!(!is_official(repository, "node"), "{repository}");
        }
    }
}
