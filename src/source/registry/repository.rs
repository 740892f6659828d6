//! A repository with its mirrors and the registry itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::super::access::{Access, Tried};
use super::super::error::SourceError;
use super::credentials;
use super::error::{Fault, RegistryError};
use super::name::Name;
use super::retry::{Retries, Times};
use super::session::{Job, Session};
use super::settings::{self, Endpoint};
use crate::jobs::Progress;

/// A repository and its locations.
pub(super) struct Repository {
    pub(super) name: Name,
    pub(super) times: Times,
    access: Access,
    places: Vec<Mirror>,
    /// To write: the repositories of the same registry that blobs are mounted from.
    mounts: Option<Vec<String>>,
    faults: Vec<Tried>,
}

struct Mirror {
    endpoint: Endpoint,
    session: Mutex<Option<Arc<Session>>>,
    /// A mirror that failed and is not tried again.
    given_up: AtomicBool,
}

impl Repository {
    pub(super) fn new(name: Name, access: &Access, progress: &Progress) -> Result<Self, SourceError> {
        let places = settings::places(&name.host, &name.repository, name.digest.is_some());
        for fault in &places.faults {
            progress.tell(fault.to_string());
        }
        let repository = Self {
            times: Times::from_env(),
            access: access.clone(),
            places: places
                .endpoints
                .into_iter()
                .map(|endpoint| Mirror {
                    endpoint,
                    session: Mutex::default(),
                    given_up: AtomicBool::new(false),
                })
                .collect(),
            mounts: None,
            faults: places.faults,
            name,
        };
        match places.blocked {
            Some(why) => Err(repository.error("anything", Fault::Settings(why))),
            None => Ok(repository),
        }
    }

    /// The repository for writing. Blobs may be mounted from `sources` of the same registry.
    pub(super) fn for_push(mut self, sources: Vec<String>) -> Self {
        self.mounts = Some(sources);
        self
    }

    /// Name for messages.
    pub(super) fn label(&self) -> String {
        format!("{}/{}", self.name.host, self.name.repository)
    }

    pub(super) fn error(&self, wanted: &str, fault: Fault) -> SourceError {
        SourceError::Registry(Box::new(RegistryError {
            host: self.name.host.clone(),
            repository: self.name.repository.clone(),
            wanted: wanted.to_owned(),
            fault,
            said: None,
            tried: self.faults.clone(),
        }))
    }

    /// Runs `work` at the first usable location. `retries` apply to the registry itself.
    pub(super) async fn first<T>(
        &self,
        wanted: &str,
        retries: &mut Retries,
        job: Job<'_>,
        work: impl AsyncFn(&Arc<Session>, &mut Retries) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let mut tried = self.faults.clone();
        let Some((last, mirrors)) = self.places.split_last() else {
            return Err(self.error(wanted, Fault::Settings("no location known that has it".into())));
        };
        for place in mirrors.iter().filter(|place| !place.given_up.load(Ordering::Relaxed)) {
            let session = match self.session(place) {
                Ok(session) => session,
                Err(fault) => {
                    place.give_up(&fault.to_string(), &mut tried, job);
                    continue;
                }
            };
            match work(&session, &mut Retries::for_mirror(&self.times)).await {
                Err(SourceError::Registry(error)) => {
                    // A missing object does not disqualify the mirror.
                    if error.fault == Fault::NotFound {
                        tried.push(Tried { way: place.way(), result: error.why() });
                    } else {
                        place.give_up(&error.why(), &mut tried, job);
                    }
                }
                done => return done,
            }
        }
        let session = self.session(last).map_err(|fault| self.error(wanted, fault))?;
        work(&session, retries).await.map_err(|error| match error {
            SourceError::Registry(mut error) => {
                error.tried.splice(0..0, tried);
                SourceError::Registry(error)
            }
            other => other,
        })
    }

    /// Runs `work` at the registry itself, not at mirrors.
    pub(super) async fn last<T>(
        &self,
        wanted: &str,
        retries: &mut Retries,
        work: impl AsyncFn(&Arc<Session>, &mut Retries) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let Some(last) = self.places.last() else {
            return Err(self.error(wanted, Fault::Settings("no location known that has it".into())));
        };
        let session = self.session(last).map_err(|fault| self.error(wanted, fault))?;
        work(&session, retries).await
    }

    /// Excludes the location of this session, unless it is the registry itself.
    pub(super) fn give_up(&self, session: &Arc<Session>, why: &str, job: Job<'_>) {
        let is_it = |place: &&Mirror| {
            let known = place.session.lock().unwrap_or_else(PoisonError::into_inner);
            known.as_ref().is_some_and(|known| Arc::ptr_eq(known, session))
        };
        if let Some(place) = self.places.iter().find(is_it).filter(|place| place.endpoint.mirror) {
            place.give_up(why, &mut Vec::new(), job);
        }
    }

    fn session(&self, place: &Mirror) -> Result<Arc<Session>, Fault> {
        let mut session = place.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = session.as_ref() {
            return Ok(Arc::clone(session));
        }
        let endpoint = &place.endpoint;
        // The actual host: a login is for the host that receives it, even if settings redirect to another one.
        let host = match endpoint.host.as_str() {
            settings::DOCKER_HUB => "docker.io",
            host => host,
        };
        let search = credentials::search(host, &endpoint.repository, &self.access);
        let made = Session::new(host, endpoint, search, &self.access, self.times)?;
        let made = Arc::new(match &self.mounts {
            Some(sources) => made.for_push(sources),
            None => made,
        });
        *session = Some(Arc::clone(&made));
        Ok(made)
    }
}

impl Mirror {
    fn way(&self) -> String {
        format!("mirror {}", self.endpoint.host)
    }

    fn give_up(&self, why: &str, tried: &mut Vec<Tried>, job: Job<'_>) {
        let gone = Tried { way: self.way(), result: why.to_owned() };
        job.progress.tell(format!("{gone}; continuing without it"));
        tried.push(gone);
        self.given_up.store(true, Ordering::Relaxed);
    }
}
