//! Selects an image from an index: by name, by digest, by platform.

use std::collections::BTreeSet;
use std::sync::Arc;

use oci_spec::image::Descriptor;

use super::context::Chosen;
use super::context::Select;
use super::error::SourceError;
use super::image::Image;
use crate::base::{Digest, Platform};

/// Maximum length of a name: a registry allows 255 bytes, a tag 128.
const NAME_BYTES: usize = 1024;
const REF_NAME: &str = "org.opencontainers.image.ref.name";
/// containerd's annotation with the full name of the image.
const CONTAINERD_NAME: &str = "io.containerd.image.name";
/// BuildKit marks attestations such as provenance with it; they are not images.
const REFERENCE_TYPE: &str = "vnd.docker.reference.type";

/// An image manifest listed in an index.
#[derive(Clone)]
pub(super) struct Offer {
    pub(super) descriptor: Descriptor,
    /// Names of the entry in the outermost index; they apply to all entries below it.
    pub(super) names: Arc<[String]>,
    /// Digests of the indexes it was found in.
    pub(super) within: Arc<[Digest]>,
}

/// The offers that have the selected name or digest.
pub(super) fn fitting<'o>(offers: &'o [Offer], select: &Select) -> Vec<&'o Offer> {
    match select {
        Select::Only => offers.iter().collect(),
        Select::Name(name) => {
            offers.iter().filter(|offer| offer.names.iter().any(|n| same_name(n, name))).collect()
        }
        Select::Digest(digest) => offers
            .iter()
            .filter(|offer| offer.descriptor.digest() == digest || offer.within.contains(digest))
            .collect(),
        Select::Place(place) => offers.iter().skip(*place).take(1).collect(),
    }
}

/// Selects one of the offers of the source `label`.
pub(super) fn choose(label: &str, offers: &[Offer], chosen: &Chosen<'_>) -> Result<Offer, SourceError> {
    let object = label.to_owned();
    let all_names = || -> Vec<String> {
        let names: BTreeSet<_> = offers
            .iter()
            .map(|offer| {
                offer.names.first().cloned().unwrap_or_else(|| format!("@{}", offer.descriptor.digest()))
            })
            .collect();
        names.iter().map(|name| crate::base::text::printable(name)).collect()
    };
    let fitting = fitting(offers, chosen.select);
    if fitting.is_empty() {
        if matches!(chosen.select, Select::Only) {
            return Err(SourceError::NotAnImage {
                object,
                reason: "its index names no image".into(),
                hint: None,
            });
        }
        let name = chosen.select.shown();
        return Err(SourceError::NoSuchImage { object, name, offered: all_names() });
    }
    let by_name: BTreeSet<&[String]> = fitting.iter().map(|offer| &*offer.names).collect();
    let digests: BTreeSet<&str> = fitting.iter().map(|offer| offer.descriptor.digest().as_ref()).collect();
    if matches!(chosen.select, Select::Only) && by_name.len() > 1 && digests.len() > 1 {
        return Err(SourceError::SeveralImages { object, names: all_names() });
    }
    // A digest names one manifest, unless it is that of an index.
    let exact = matches!(chosen.select, Select::Digest(digest) if fitting.iter().any(|o| o.descriptor.digest() == digest));
    let platforms: Vec<Option<Platform>> =
        fitting.iter().map(|offer| descriptor_platform(&offer.descriptor)).collect();
    if exact
        || (digests.len() == 1
            && (chosen.platform.is_none() && fitting[0].within.is_empty() || platforms[0].is_none()))
    {
        return Ok(fitting[0].clone());
    }
    let wanted = chosen.platform.cloned().unwrap_or_else(Platform::host);
    let fits: Vec<usize> = (0..fitting.len())
        .filter(|place| platforms[*place].as_ref().is_some_and(|offered| wanted.accepts(offered)))
        .collect();
    // Several variants may match: an exact match comes first, otherwise the first variant.
    let meant = |place: &&usize| platforms[**place].as_ref() == Some(&wanted);
    if let Some(first) = fits.iter().find(meant).or_else(|| fits.first()) {
        let same: BTreeSet<&str> = fits
            .iter()
            .filter(|place| platforms[**place] == platforms[*first])
            .map(|place| fitting[*place].descriptor.digest().as_ref())
            .collect();
        if same.len() > 1 {
            let names = same.iter().map(|digest| format!("@{digest}")).collect();
            return Err(SourceError::SeveralImages { object, names });
        }
        return Ok(fitting[*first].clone());
    }
    let offered: BTreeSet<String> = platforms
        .iter()
        .map(|platform| {
            platform
                .as_ref()
                .map_or_else(|| "unknown".into(), |p| crate::base::text::printable(&p.to_string()))
        })
        .collect();
    if platforms.iter().all(Option::is_none) {
        return Err(SourceError::SeveralImages { object, names: all_names() });
    }
    Err(SourceError::NoPlatform {
        object,
        wanted: wanted.to_string(),
        offered: offered.into_iter().collect(),
    })
}

pub(super) fn check_platform(
    image: &mut Image,
    object: &str,
    chosen: &Chosen<'_>,
) -> Result<(), SourceError> {
    let (Some(wanted), Some(offered)) = (chosen.platform, &image.platform) else { return Ok(()) };
    if wanted.accepts(offered) {
        return Ok(());
    }
    let offered = crate::base::text::printable(&offered.to_string());
    Err(SourceError::NoPlatform { object: object.into(), wanted: wanted.to_string(), offered: vec![offered] })
}

/// A name matches as a whole, or by its tag: layouts have `latest` or `example.org/app:latest`.
fn same_name(name: &str, wanted: &str) -> bool {
    name == wanted || name.rsplit_once(':').is_some_and(|(_, tag)| tag == wanted && !tag.contains('/'))
}

pub(super) fn names(descriptor: &Descriptor) -> Vec<String> {
    let Some(annotations) = descriptor.annotations() else { return Vec::new() };
    let mut names: Vec<String> = [REF_NAME, CONTAINERD_NAME]
        .iter()
        .filter_map(|key| annotations.get(*key))
        .filter(|name| name.len() <= NAME_BYTES)
        .cloned()
        .collect();
    names.dedup();
    names
}

pub(super) fn is_attestation(descriptor: &Descriptor) -> bool {
    let marked = descriptor.annotations().as_ref().is_some_and(|all| all.contains_key(REFERENCE_TYPE));
    let platform = descriptor_platform(descriptor);
    marked || platform.is_some_and(|p| p.os == "unknown" && p.architecture == "unknown")
}

pub(super) fn descriptor_platform(descriptor: &Descriptor) -> Option<Platform> {
    let platform = descriptor.platform().as_ref()?;
    Some(Platform {
        os: platform.os().to_string(),
        architecture: platform.architecture().to_string(),
        variant: platform.variant().clone().filter(|variant| !variant.is_empty()),
    })
}
