//! All transports, and the grammar of image references: that of containers/image, and bare paths.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::archive;
use super::context::OpenContext;
use super::context::Select;
use super::detect::schema_of;
use super::error::{Invalid, SourceError};
use super::image::Image;
use super::reference::{Reference, Transport, split_select, whole};
use crate::base::redact;
use crate::base::text::{elide_end, printable};

/// Every kind of source. Help, detection of paths, redaction and titles follow this order.
static TRANSPORTS: &[&Transport] = &[
    &super::oci::LAYOUT,
    &super::oci::ARCHIVE,
    &super::docker::ARCHIVE,
    &super::oci::DIR,
    &super::rootfs::ROOTFS,
    &super::registry::REGISTRY,
    &super::engine::ENGINE,
    &super::samples::SAMPLE,
    &ANY_ARCHIVE,
];

/// An archive without a prefix.
static ANY_ARCHIVE: Transport = Transport {
    name: "archive",
    prefixes: &[],
    form: "PATH",
    about: "any of these files and folders, detected by content",
    is_path: true,
    parse: whole,
    detect: |path| !path.is_dir(),
    open: open_archive,
};

/// The transport of a reference, and what follows its prefix.
fn split_prefix(text: &str) -> Option<(&'static Transport, &str)> {
    TRANSPORTS.iter().find_map(|transport| {
        let (length, _) = transport.prefix_of(text)?;
        Some((*transport, &text[length..]))
    })
}

/// Folders named after their format: the folder around them says which image it is.
pub const FORMAT_FOLDERS: [&str; 8] =
    ["oci", "oci-layout", "layout", "dir", "rootfs", "image.oci", "docker-archive", "oci-archive"];

/// The reference without the prefix of its transport, for titles and file names.
pub fn without_prefix(text: &str) -> &str {
    split_prefix(text).map_or(text, |(_, rest)| rest)
}

/// The reference with the prefix of a path in its own case, where it was typed in another (`Rootfs:/mnt`); `None` where
/// there is nothing to change.
pub fn prefix_in_case(text: &str) -> Option<String> {
    let prefixes =
        TRANSPORTS.iter().filter(|transport| transport.is_path).flat_map(|transport| transport.prefixes);
    let typed = |prefix: &&&str| {
        text.get(..prefix.len()).is_some_and(|typed| typed != **prefix && typed.eq_ignore_ascii_case(prefix))
    };
    let prefix = prefixes.into_iter().find(typed)?;
    Some(format!("{prefix}{}", &text[prefix.len()..]))
}

/// The reference for display: without user info in a URL, or before a host.
pub fn redacted(text: &str) -> String {
    redact::reference(text, |text| TRANSPORTS.iter().find_map(|transport| transport.prefix_of(text)))
}

/// The forms of references, for the help of the command line.
pub fn reference_forms() -> String {
    let mut help = "Image references:".to_owned();
    let rest = ("REF", "image in a registry, if no such path exists");
    let forms = TRANSPORTS.iter().map(|transport| (transport.form, transport.about));
    for (form, about) in forms.chain([rest]) {
        // Writing to a String cannot fail.
        write!(help, "\n  {form:<30} {about}").ok();
    }
    help
}

impl Reference {
    /// Parses a reference. Accesses the file system only to distinguish a path with a colon from a path with a tag, and
    /// a bare path from a name.
    ///
    /// # Errors
    /// Invalid reference.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let parsed = match split_prefix(text) {
            _ if text.is_empty() || text.contains('\0') => {
                Err(Invalid::from("empty or with a zero byte".to_owned()))
            }
            Some((transport, rest)) => match (transport.parse)(rest) {
                Ok(("", _)) => Err(Invalid::from("nothing after the transport".to_owned())),
                parsed => parsed.map(|(location, select)| (Some(transport), location, select)),
            },
            None => bare(text),
        };
        match parsed {
            Ok((transport, location, select)) => {
                Ok(Self { transport, location: location.into(), select, text: text.into() })
            }
            Err(Invalid { reason, hint }) => {
                Err(SourceError::Reference { text: redacted(&printable(text)), reason, hint })
            }
        }
    }
}

/// A path, or a name at a registry.
fn bare(text: &str) -> Result<(Option<&'static Transport>, &str, Select), Invalid> {
    let exists = |path: &str| Path::new(path).symlink_metadata().is_ok();
    if exists(text) {
        return Ok((None, text, Select::Only));
    }
    // A path followed by a name, if the path exists.
    if let Ok((location, select)) = split_select(text)
        && exists(location)
    {
        return Ok((None, location, select));
    }
    let archive = [".tar", ".tgz", ".tar.gz", ".tar.zst"].iter().any(|end| text.ends_with(end));
    if text.starts_with(['/', '.', '~']) || archive {
        return Ok((None, text, Select::Only));
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"/:.-_@".contains(&byte);
    if text.bytes().all(fits) && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Ok((Some(&super::registry::REGISTRY), text, Select::Only));
    }
    let paths = TRANSPORTS.iter().filter(|transport| transport.is_path && !transport.prefixes.is_empty());
    let forms: Vec<&str> = paths.filter_map(|transport| transport.form.split('[').next()).collect();
    let hint = format!("use {}, sample:devel, or a path", forms.join(", "));
    Err(Invalid::new("no such path, and not a valid image name", hint))
}

/// Opens an image: reads its manifest and config and locates its layers. Layer bytes are not read, except of a
/// compressed archive, which is streamed once completely.
///
/// # Errors
/// The reference, the source, the index or the manifest is unusable.
pub fn open(reference: &Reference, context: &mut OpenContext<'_>) -> Result<Image, SourceError> {
    let transport = match reference.transport {
        Some(transport) => transport,
        None => detected(&reference.location)?,
    };
    let mut image = (transport.open)(reference, context)?;
    if image.source.is_empty() {
        transport.name.clone_into(&mut image.source);
    }
    image.reference.clone_from(&reference.text);
    Ok(image)
}

/// The transport of a path, by content and never by name.
fn detected(location: &str) -> Result<&'static Transport, SourceError> {
    let path = Path::new(location);
    let object = printable(location);
    fs::metadata(path).map_err(|error| SourceError::open(&object, error))?;
    if let Some(schema) = schema_of(path) {
        return Err(document(object, &schema));
    }
    TRANSPORTS.iter().find(|transport| (transport.detect)(path)).copied().ok_or_else(|| {
        SourceError::NotAnImage {
            object,
            reason: "no index.json (OCI layout), no manifest.json (skopeo dir), and not a root filesystem"
                .into(),
            hint: Some("open any folder as one layer with rootfs:DIR".into()),
        }
    })
}

fn document(object: String, schema: &str) -> SourceError {
    let (what, hint) = if schema.starts_with("cutaway.report/") {
        ("a saved report", Some("pass the image that it was generated from"))
    } else if schema.starts_with("cutaway.compare/") {
        ("a saved comparison", None)
    } else {
        ("a document of Cutaway", None)
    };
    SourceError::NotAnImage {
        object,
        reason: format!("it is {what} ({})", printable(&elide_end(schema, 80))),
        hint: hint.map(str::to_owned),
    }
}

fn open_archive(reference: &Reference, context: &mut OpenContext<'_>) -> Result<Image, SourceError> {
    let files = archive::open(Path::new(&reference.location), context)?;
    if !["manifest.json", "repositories", "index.json"].iter().any(|name| files.has(name)) {
        let (reason, hint) = match files.fault() {
            Some(fault) => (
                format!("damaged archive: {fault}; no manifest.json or index.json before that"),
                "copy or save the archive again",
            ),
            None => (
                "neither manifest.json nor index.json in the archive".to_owned(),
                "unpack a root filesystem in a tar (docker export) and open it as rootfs:DIR",
            ),
        };
        let object = files.label().to_owned();
        return Err(SourceError::NotAnImage { object, reason, hint: Some(hint.into()) });
    }
    super::docker::open_either(&files, &context.chosen(&reference.select))
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn references_lose_their_user_info_only() {
        for (text, shown) in [
            ("u:HUNTER2@host/image", "<redacted>@host/image"),
            ("u:HUNTER2@host:5000/image:1@sha256:abc", "<redacted>@host:5000/image:1@sha256:abc"),
            ("u:a/HUNTER2@host/image", "<redacted>@host/image"),
            ("u:a@HUNTER2@host/image", "<redacted>@host/image"),
            ("HUNTER2@host/image", "<redacted>@host/image"),
            ("u:HUNTER2@host/image://b", "<redacted>@host/image://b"),
            (
                "u:HUNTER2@host/image@sha256:01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b",
                "<redacted>@host/image@sha256:01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b",
            ),
            (
                "u:HUNTER2@host.example/docker://v:HUNTER2@other/b",
                "<redacted>@host.example/docker://<redacted>@other/b",
            ),
            ("docker-daemon:u:x@h", "docker-daemon:<redacted>@h"),
            ("docker:u:x@h/i", "docker:<redacted>@h/i"),
            ("docker://u:x@h/i", "docker://<redacted>@h/i"),
        ] {
            assert_eq!(redacted(text), shown, "{text}");
        }
        for same in [
            "name@sha256:abc",
            "host:5000/name:1@sha256:abc",
            "docker-daemon:name@sha256:abc",
            "oci:dir@sha256:abc",
            "oci:dir:@sha256:abc",
            "oci-archive:/a/b@c.tar:1",
            "dir:a@b/c",
            "docker-archive:file.tar:@0",
            "./a@b/c",
            "a@b.tar",
            "sample:devel",
            "",
        ] {
            assert_eq!(redacted(same), same);
        }
    }
}
