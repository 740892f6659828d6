//! From a name to an image: index, platform, manifest, config.

use std::sync::Arc;

use oci_client::manifest::{
    IMAGE_MANIFEST_LIST_MEDIA_TYPE, IMAGE_MANIFEST_MEDIA_TYPE, OCI_IMAGE_INDEX_MEDIA_TYPE,
    OCI_IMAGE_MEDIA_TYPE,
};
use oci_spec::image::{Descriptor, MediaType};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, LINK};

use super::super::context::Chosen;
use super::super::error::SourceError;
use super::super::image::{Blob, Image};
use super::super::manifests::{self, Documents};
use super::blob::RemoteBlob;
use super::error::{Fault, TAGS};
use super::repository::Repository;
use super::retry::Retries;
use super::session::{Ask, Job, Session};
use super::transport::{Failure, wait_for};
use crate::base::digest::{Hasher, short};
use crate::base::text::printable;
use crate::base::{Digest, digest};

/// Header with the digest of a manifest (OCI distribution specification).
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");
/// Maximum tags and pages.
const MOST_TAGS: usize = 10_000;
const MOST_PAGES: usize = 100;
/// Bytes of one page of tags.
const PAGE_BYTES: u64 = 4 << 20;

/// Tags of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagList {
    /// In the registry's order.
    pub tags: Vec<String>,
    /// Whether the list is complete.
    pub complete: bool,
}

/// A document as received.
struct Document {
    bytes: Vec<u8>,
    digest: String,
    media_type: Option<String>,
}

/// The documents of a repository.
struct Remote<'a> {
    repository: Arc<Repository>,
    label: String,
    most: u64,
    job: Job<'a>,
}

/// Opens the image of a repository.
pub(super) fn open(repository: Repository, chosen: &Chosen<'_>, job: Job<'_>) -> Result<Image, SourceError> {
    let name = &repository.name;
    let tag = name.tag.as_ref().filter(|_| name.digest.is_none()).cloned();
    let label = match (&tag, &name.digest) {
        (Some(tag), _) => format!("{}:{tag}", repository.label()),
        (None, Some(digest)) => format!("{}@{digest}", repository.label()),
        (None, None) => repository.label(),
    };
    let remote = Remote { repository: Arc::new(repository), label, most: chosen.limits.json_bytes, job };
    let place = remote.repository.name.digest.clone().or(tag).unwrap_or_else(|| "latest".into());
    let document = remote.manifest(&place)?;
    let media_type = MediaType::from(document.media_type.as_deref().unwrap_or(OCI_IMAGE_MEDIA_TYPE));
    let digest: Digest = document
        .digest
        .parse()
        .map_err(|_| remote.repository.error(&place, Fault::WrongDigest("cannot be computed".into())))?;
    let descriptor = Descriptor::new(media_type, document.bytes.len() as u64, digest);
    let mut image =
        manifests::open_either(&remote, &remote.label, document.bytes, Some(&descriptor), chosen)?;
    image.tags = match &remote.repository.name.tag {
        Some(tag) => vec![format!("{}:{tag}", remote.repository.label())],
        None => Vec::new(),
    };
    Ok(image)
}

impl Remote<'_> {
    /// Fetches a manifest or index by its tag or digest, and verifies its digest.
    fn manifest(&self, place: &str) -> Result<Document, SourceError> {
        let accept = [
            OCI_IMAGE_INDEX_MEDIA_TYPE,
            IMAGE_MANIFEST_LIST_MEDIA_TYPE,
            OCI_IMAGE_MEDIA_TYPE,
            IMAGE_MANIFEST_MEDIA_TYPE,
        ];
        let headers = [(ACCEPT, accept.join(", "))];
        let by_digest = place.contains(':');
        let wanted = if by_digest { shortened(place) } else { format!("of tag {place}") };
        let wanted = format!("the manifest {wanted}");
        self.document(&format!("manifests/{place}"), &wanted, &headers, |bytes, said| {
            let claimed = if by_digest { Some(place) } else { said };
            // A login page may have status 200.
            if claimed.is_none() && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_err() {
                return Err(Fault::NotARegistry("not JSON".into()));
            }
            check(claimed, bytes)
        })
    }

    /// Reads a document; `check` computes its digest or rejects it.
    fn document(
        &self,
        path: &str,
        wanted: &str,
        headers: &[(HeaderName, String)],
        check: impl Fn(&[u8], Option<&str>) -> Result<String, Fault>,
    ) -> Result<Document, SourceError> {
        let ask = Ask { path, wanted, headers };
        let mut retries = Retries::new(&self.repository.times);
        let work = async |session: &Arc<Session>, retries: &mut Retries| loop {
            let mut answer = session.get(&ask, retries, self.job).await?;
            let header = |name: &HeaderName| {
                answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
            };
            let (said, media_type) = (header(&CONTENT_DIGEST), header(&CONTENT_TYPE));
            let bytes = match session.body(&mut answer, self.most, self.job).await {
                Ok(bytes) => bytes,
                Err(stop) => {
                    session.again(stop, wanted, retries, self.job).await?;
                    continue;
                }
            };
            let media_type =
                media_type.map(|text| text.split(';').next().unwrap_or_default().trim().to_owned());
            match check(&bytes, said.as_deref()) {
                Ok(digest) => return Ok(Document { bytes, digest, media_type }),
                Err(fault) => {
                    let error = session.error(wanted, Failure::of(fault)).await;
                    return Err(SourceError::Registry(Box::new(error)));
                }
            }
        };
        wait_for(self.repository.first(wanted, &mut retries, self.job, work)).flatten()
    }
}

/// Verifies `bytes` against `claimed` and returns their digest, in the same algorithm; SHA-256 without a claim.
fn check(claimed: Option<&str>, bytes: &[u8]) -> Result<String, Fault> {
    let Some(claimed) = claimed else { return Ok(digest::sha256_of(bytes)) };
    let hasher = claimed.parse::<Digest>().ok().as_ref().and_then(Hasher::for_digest);
    let Some(mut hasher) = hasher else {
        let claimed = printable(claimed);
        return Err(Fault::WrongDigest(format!("unsupported digest {claimed}")));
    };
    hasher.update(bytes);
    let found = hasher.finish();
    if found == claimed {
        return Ok(found);
    }
    Err(Fault::WrongDigest(format!("{found} instead of {claimed}")))
}

fn shortened(digest: &str) -> String {
    let algorithm = digest.split(':').next().unwrap_or_default();
    format!("{algorithm}:{}", short(digest))
}

impl Documents for Remote<'_> {
    fn label(&self) -> &str {
        &self.label
    }

    fn document(&self, descriptor: &Descriptor) -> Result<(String, Vec<u8>, bool), SourceError> {
        manifests::check_algorithm(descriptor.digest())?;
        let place = descriptor.digest().to_string();
        let document = self.manifest(&place)?;
        Ok((format!("manifest {} of {}", shortened(&place), self.repository.label()), document.bytes, true))
    }

    fn config(&self, descriptor: &Descriptor) -> Result<(String, Vec<u8>), SourceError> {
        manifests::check_algorithm(descriptor.digest())?;
        let place = descriptor.digest().to_string();
        let wanted = format!("config {}", shortened(&place));
        let right = |bytes: &[u8], _: Option<&str>| check(Some(&place), bytes);
        let document = Remote::document(self, &format!("blobs/{place}"), &wanted, &[], right)?;
        Ok((format!("{wanted} of {}", self.repository.label()), document.bytes))
    }

    fn layer(&self, descriptor: &Descriptor) -> Blob {
        match manifests::check_algorithm(descriptor.digest()) {
            Ok(())
                if manifests::is_foreign(descriptor)
                    && descriptor.urls().as_ref().is_some_and(|urls| !urls.is_empty()) =>
            {
                Blob::Missing(String::new())
            }
            Ok(()) => Blob::Remote(RemoteBlob::new(
                Arc::clone(&self.repository),
                descriptor.digest().clone(),
                descriptor.size(),
            )),
            Err(error) => Blob::Missing(error.to_string()),
        }
    }

    // A tag names the whole index; names inside it are from another repository.
    fn names(&self, _: &Descriptor) -> Vec<String> {
        Vec::new()
    }
}

/// Maximum length of a tag (OCI distribution specification).
const TAG_BYTES: usize = 128;

#[derive(serde::Deserialize)]
struct Page {
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// The tags of a repository.
pub(super) fn tags(repository: &Repository, job: Job<'_>) -> Result<TagList, SourceError> {
    let mut retries = Retries::new(&repository.times);
    let work = async |session: &Arc<Session>, retries: &mut Retries| {
        let mut tags: Vec<String> = Vec::new();
        let mut path = "tags/list?n=1000".to_owned();
        for _ in 0..MOST_PAGES {
            let ask = Ask { path: &path, wanted: TAGS, headers: &[] };
            let mut answer = session.get(&ask, retries, job).await?;
            let next = answer.headers().get(LINK).and_then(|link| link.to_str().ok()).and_then(next_query);
            let body = match session.body(&mut answer, PAGE_BYTES, job).await {
                Ok(body) => body,
                Err(stop) => {
                    session.again(stop, TAGS, retries, job).await?;
                    continue;
                }
            };
            let Ok(page) = serde_json::from_slice::<Page>(&body) else {
                let fault = Fault::NotARegistry("not a tag list".into());
                return Err(SourceError::Registry(Box::new(session.error(TAGS, Failure::of(fault)).await)));
            };
            let room = MOST_TAGS - tags.len();
            let found = page.tags.unwrap_or_default();
            let more = found.len() > room;
            let sound = found.into_iter().take(room).filter(|tag| tag.len() <= TAG_BYTES);
            tags.extend(sound.map(|tag| printable(&tag)));
            match next {
                Some(query) if !more && tags.len() < MOST_TAGS && !path.ends_with(&query) => {
                    path = format!("tags/list?{query}");
                }
                None if !more => return Ok(TagList { tags, complete: true }),
                _ => break,
            }
        }
        Ok(TagList { tags, complete: false })
    };
    // A mirror may have only some of the tags.
    wait_for(repository.last(TAGS, &mut retries, work)).flatten()
}

/// Query of the next page, from `Link: </v2/NAME/tags/list?n=…&last=…>; rel="next"`. Only the query is used, so the
/// next page is on the same server whatever the link names.
fn next_query(link: &str) -> Option<String> {
    link.split(',').find_map(|link| {
        let (target, params) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = params.split(';').any(|param| {
            let param = param.trim().to_ascii_lowercase();
            param == "rel=next" || param == "rel=\"next\""
        });
        let (_, query) = target.split_once('?')?;
        (is_next && !query.is_empty()).then(|| query.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{check, next_query};
    use crate::source::registry::Fault;

    #[test]
    fn the_next_page_is_found_in_relative_and_whole_links() {
        let query = next_query;
        assert_eq!(query("</v2/a/tags/list?last=b&n=2>; rel=\"next\"").as_deref(), Some("last=b&n=2"));
        assert_eq!(
            query("<https://other.example/v2/a/tags/list?last=b>;rel=next").as_deref(),
            Some("last=b")
        );
        assert_eq!(query("</x?a=1>; rel=\"prev\", </x?a=2>; rel=\"next\"").as_deref(), Some("a=2"));
        assert_eq!(query("</x?a=1>; rel=\"prev\""), None);
        assert_eq!(query("</v2/a/tags/list>; rel=\"next\""), None);
        assert_eq!(query("nonsense"), None);
    }

    #[test]
    fn bytes_that_are_not_those_of_the_digest_are_refused() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(check(Some(empty), b"").as_deref(), Ok(empty));
        assert_eq!(check(None, b"").as_deref(), Ok(empty));
        assert!(matches!(check(Some(empty), b"x"), Err(Fault::WrongDigest(_))));
        assert!(matches!(check(Some("md5:abc"), b""), Err(Fault::WrongDigest(_))));
    }
}
