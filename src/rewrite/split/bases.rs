//! What a smaller final stage may start from.

use crate::base::convert::layer16;
use crate::cuda::{BaseImage, Flavor};
use crate::rewrite::propose::Input;

/// An image whose content is known from this one: its lowest layers, and packages of the layers above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Base {
    /// Its reference, with the registry and repository that the user wrote where it is a flavour of the same image.
    pub(super) reference: String,
    pub(super) flavor: Flavor,
    pub(super) layers: u16,
    /// Packages that it brings beside its layers; sorted.
    pub(super) packages: Vec<usize>,
    /// Whether it is what the final stage starts from today.
    pub(super) own: bool,
}

/// Bases from the smallest to the one of today. `from` is what the final stage starts from as the user wrote it,
/// with arguments filled in.
pub(super) fn bases(input: &Input<'_>, from: &str, base_layers: u16) -> Vec<Base> {
    let known = input.inventory.base.as_ref();
    let below = known.map(|base| base.below.as_slice()).unwrap_or_default();
    let mut bases = Vec::new();
    for lower in below.iter().filter(|lower| lower.layers < usize::from(base_layers)) {
        let mut base = Base {
            reference: as_written(&lower.reference, from, lower.flavor),
            flavor: lower.flavor,
            layers: layer16(lower.layers),
            packages: Vec::new(),
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
    let flavor = known.map_or(Flavor::None, |base| base.flavor);
    bases.push(Base {
        reference: from.to_owned(),
        flavor,
        layers: base_layers,
        packages: Vec::new(),
        own: true,
    });
    bases
}

/// The tag of the runtime image with cuDNN, when the base has cuDNN and more than that.
fn cudnn_tag(input: &Input<'_>, base: &BaseImage) -> Option<String> {
    base.cudnn_version.as_ref().filter(|_| base.flavor == Flavor::Devel)?;
    let toolkit = input.catalog.toolkit(base.cuda_version.as_deref()?)?;
    toolkit.image_tag("runtime", true, base.distribution.as_deref()?)
}

fn cudnn_packages(input: &Input<'_>) -> Vec<usize> {
    let packages = input.inventory.packages.iter().enumerate();
    let cudnn = packages.filter(|(_, package)| {
        matches!(package.manager, "dpkg" | "rpm")
            && input.catalog.component_of_package(&package.name).is_some_and(|known| known.name == "cudnn")
            && input.catalog.is_devel_package(package.manager, &package.name).is_none()
    });
    cudnn.map(|(place, _)| place).collect()
}

/// Flavours of one image lie in one repository: that of the user, be it a mirror or another spelling.
fn as_written(reference: &str, from: &str, flavor: Flavor) -> String {
    let (Some((_, tag)), false) = (reference.rsplit_once(':'), flavor == Flavor::None) else {
        return reference.to_owned();
    };
    let without_digest = from.split('@').next().unwrap_or(from);
    let repository = match without_digest.rsplit_once(':') {
        Some((repository, rest)) if !rest.contains('/') => repository,
        _ => without_digest,
    };
    if repository.is_empty() || repository.contains('$') {
        return reference.to_owned();
    }
    format!("{repository}:{tag}")
}
