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
    /// The digest, which takes precedence over the tag.
    pub(super) digest: Option<String>,
}

impl Name {
    /// Parses a name; the error repeats nothing of the text, which may contain user info.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.contains("://") {
            return Err("remove the scheme, such as https://".into());
        }
        let has_user = text.split('/').next().is_some_and(|host| host.contains('@')) && text.contains('/');
        if has_user {
            return Err("remove user and password; log in instead".into());
        }
        // Otherwise a host name would become a repository on Docker Hub.
        let first = text.split(['/', ':', '@']).next().unwrap_or_default();
        if !text.contains('/') && (first.contains('.') || first == "localhost") {
            return Err("a host without a repository".into());
        }
        let name: oci_client::Reference = text.parse().map_err(|error| format!("{error}"))?;
        Ok(Self {
            host: name.registry().to_owned(),
            repository: name.repository().to_owned(),
            tag: name.tag().map(str::to_owned),
            digest: name.digest().map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn names_are_completed_as_docker_does() {
        let parts = |text: &str| {
            let name = Name::parse(text).expect("a name");
            (name.host, name.repository, name.tag)
        };
        let of = |host: &str, repository: &str, tag: &str| (host.into(), repository.into(), Some(tag.into()));
        assert_eq!(parts("ubuntu"), of("docker.io", "library/ubuntu", "latest"));
        for host in ["127.0.0.1:5000", "localhost:5000", "registry.example", "registry.example:443"] {
            assert!(Name::parse(host).is_err(), "{host}");
        }
        assert_eq!(parts("team/app:1"), of("docker.io", "team/app", "1"));
        assert_eq!(parts("localhost/app"), of("localhost", "app", "latest"));
        assert_eq!(parts("localhost:5000/a/b:v1.2"), of("localhost:5000", "a/b", "v1.2"));
        assert_eq!(parts("127.0.0.1:5000/a"), of("127.0.0.1:5000", "a", "latest"));
    }

    #[test]
    fn a_digest_may_stand_alone_or_beside_a_tag() {
        let alone = Name::parse(&format!("ghcr.io/a/b@{DIGEST}")).expect("a name");
        assert_eq!((alone.tag, alone.digest.as_deref()), (None, Some(DIGEST)));
        let both = Name::parse(&format!("ghcr.io/a/b:1@{DIGEST}")).expect("a name");
        assert_eq!((both.tag.as_deref(), both.digest.as_deref()), (Some("1"), Some(DIGEST)));
    }

    #[test]
    fn what_is_no_name_has_a_reason_that_repeats_nothing() {
        for text in
            ["user:hunter2@host/app", "https://user:hunter2@host/app", "Host/App", "a b", "x@sha256:12", ""]
        {
            let reason = Name::parse(text).expect_err("no name");
            assert!(!reason.is_empty() && !reason.contains("hunter2"), "{text}: {reason}");
        }
    }
}
