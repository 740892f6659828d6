//! Names at registries: `[HOST[:PORT]/]REPOSITORY[:TAG][@DIGEST]`, normalised as docker does.

/// A name at a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// Host and port as in the reference; `docker.io` when there is none.
    pub(super) host: String,
    /// Path of the repository, `library/` included.
    pub(super) repository: String,
    /// The tag; `latest` when there is neither tag nor digest.
    pub(super) tag: Option<String>,
    /// The digest, which is what counts beside a tag.
    pub(super) digest: Option<String>,
}

impl Name {
    /// Parses a name; the reason when it is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let name: oci_client::Reference = text.parse().map_err(|error| format!("{error}"))?;
        Ok(Self {
            host: name.registry().to_owned(),
            repository: name.repository().to_owned(),
            tag: name.tag().map(str::to_owned),
            digest: name.digest().map(str::to_owned),
        })
    }
}
