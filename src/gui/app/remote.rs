//! Registries and engines: permissions, logins, tags, engine images.

use std::collections::{BTreeMap, BTreeSet};

use super::{App, Phase, Tab};
use crate::base::text::printable;
use crate::gui::models::remote::{
    LocalImages, RemoteSetup, TagList, is_loopback, registry_of, repository, with_tag,
};
use crate::gui::panels::{Login, Secret};
use crate::settings::MOST_HOSTS;
use crate::source::{Credential, Reference, redacted};

/// State of registries and engines, and the dialog that is open.
pub(crate) struct Remote {
    pub(crate) setup: RemoteSetup,
    pub(crate) images: LocalImages,
    pub(crate) tags: Option<TagsDialog>,
    pub(crate) login: Option<Login>,
    /// Whether the button that allows had the focus since the question came up.
    pub(crate) focused: bool,
    /// Hosts allowed until the window closes, besides the saved ones.
    hosts: BTreeSet<String>,
    /// Logins by host; [`crate::source::Logins`] defines their lifetime.
    users: BTreeMap<String, String>,
    /// Hosts with a login.
    logged_in: BTreeSet<String>,
}

/// The dialog that lists tags.
pub(crate) struct TagsDialog {
    /// The reference as it was given.
    pub(crate) text: String,
    /// The redacted repository.
    pub(crate) shown: String,
    pub(crate) host: String,
    pub(crate) list: TagList,
    /// Whether the registry is not allowed yet.
    pub(crate) pending: bool,
    reference: Reference,
}

/// What is done again after a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// Reading the image of this tab.
    Tab(u64),
    /// Listing tags.
    Tags,
}

/// The permission question for a host.
pub(crate) struct Question {
    pub(crate) host: String,
    /// The requested action.
    pub(crate) wanted: String,
    /// The tab that waits; `None` when it is the list of tags.
    pub(crate) tab: Option<u64>,
    /// A local image with the same name: its reference, and the engine.
    pub(crate) local: Option<(String, String)>,
}

impl Remote {
    pub(super) fn new(setup: RemoteSetup) -> Self {
        Self {
            setup,
            images: LocalImages::default(),
            tags: None,
            login: None,
            focused: false,
            hosts: BTreeSet::new(),
            users: BTreeMap::new(),
            logged_in: BTreeSet::new(),
        }
    }

    /// Whether one of the dialogs is open.
    pub(crate) fn has_dialog(&self) -> bool {
        self.tags.is_some() || self.login.is_some()
    }

    /// Whether a login is kept.
    pub(crate) fn has_logins(&self) -> bool {
        !self.logged_in.is_empty()
    }
}

impl App {
    /// Whether a registry is allowed without a question.
    fn allows(&self, host: &str) -> bool {
        !self.settings.ask
            || is_loopback(host)
            || self.remote.hosts.contains(host)
            || self.settings.allowed.iter().any(|allowed| allowed == host)
    }

    /// Lets tabs go on whose host may be contacted, and takes what engines and registries answered.
    pub(super) fn poll_remote(&mut self) {
        for at in 0..self.tabs.len() {
            let Some(host) = self.tabs.get(at).and_then(Tab::pending_host).map(str::to_owned) else {
                continue;
            };
            if !is_loopback(&host) && self.tabs.get(at).is_some_and(|tab| tab.asked_already) {
                self.remote.hosts.insert(host.clone());
            }
            if self.allows(&host)
                && let Some(tab) = self.tabs.get_mut(at)
            {
                tab.go_on();
            }
        }
        self.remote.images.poll();
        let waker = self.waker();
        let allowed = self.remote.tags.as_ref().is_some_and(|tags| tags.pending && self.allows(&tags.host));
        if let Some(tags) = &mut self.remote.tags {
            if allowed {
                tags.pending = false;
                let (reference, access) = (tags.reference.clone(), self.options.access.clone());
                tags.list.ask(&self.remote.setup.tags, reference, access, &waker);
            }
            tags.list.poll();
        }
    }

    /// The open permission question.
    pub(crate) fn question(&self) -> Option<Question> {
        if let Some(tags) = self.remote.tags.as_ref().filter(|tags| tags.pending) {
            let wanted = tags.shown.clone();
            return Some(Question { host: tags.host.clone(), wanted, tab: None, local: None });
        }
        let pending_host = |tab: &&Tab| tab.pending_host().is_some();
        let front = self.front_tab().filter(pending_host);
        let tab = front.or_else(|| self.tabs.iter().find(pending_host))?;
        let wanted = tab.shown.clone();
        let rows = self.remote.images.rows();
        let local = rows.iter().find(|row| row.named && row.name == tab.text);
        let local = local.map(|row| (row.reference.clone(), row.engine.clone()));
        Some(Question { host: tab.pending_host()?.to_owned(), wanted, tab: Some(tab.id), local })
    }

    /// Allows a host; the choice is saved.
    pub(crate) fn allow(&mut self, host: &str) {
        self.change_settings(|settings| {
            settings.allowed.retain(|allowed| allowed != host);
            if settings.allowed.len() >= MOST_HOSTS {
                settings.allowed.remove(0);
            }
            settings.allowed.push(host.to_owned());
        });
        self.remote.hosts.insert(host.to_owned());
        self.poll_remote();
        self.context.request_repaint();
    }

    /// Denies a host: closes what was to be opened from it.
    pub(crate) fn refuse(&mut self, tab: Option<u64>) {
        let Some(id) = tab else {
            self.remote.tags = None;
            return;
        };
        let text = self.tabs.iter().find(|tab| tab.id == id).map(|tab| tab.text.clone());
        self.close(id);
        if let Some(text) = text.filter(|_| self.front.is_none()) {
            self.start.put(text);
        }
    }

    /// Lists the images of the engines.
    pub(crate) fn list_engines(&mut self) {
        if !self.settings.list_engines {
            return;
        }
        let waker = self.waker();
        self.remote.images.refresh(&self.remote.setup, &waker);
    }

    /// The reference whose tags can be listed: in the field of the start screen, or of the image in front.
    pub(crate) fn tags_of(&self) -> Option<(String, Reference, String)> {
        let text = self.front_tab().map_or_else(|| self.start.typed(), |tab| tab.text.clone());
        let host = self.front_tab().map(|tab| tab.host.is_some());
        if host == Some(false) || redacted(&text) != text {
            return None;
        }
        let (reference, host) = registry_of(&text)?;
        Some((text, reference, host))
    }

    /// Lists the tags of the repository in the field, or of the image in front.
    pub(crate) fn list_tags(&mut self) {
        let Some((text, reference, host)) = self.tags_of() else { return };
        let shown = printable(repository(&text));
        self.remote.tags =
            Some(TagsDialog { text, shown, host, reference, list: TagList::default(), pending: true });
        self.poll_remote();
        self.context.request_repaint();
    }

    /// Puts a tag into the reference in the field.
    pub(crate) fn take_tag(&mut self, tag: &str) {
        let Some(tags) = self.remote.tags.take() else { return };
        self.show_start();
        self.start.put(with_tag(&tags.text, tag));
    }

    /// Opens the dialog to log in: to this host, or to one that is typed.
    pub(crate) fn ask_login(&mut self, host: Option<&str>, retry: Option<Retry>) {
        let user = host.and_then(|host| self.remote.users.get(host)).cloned().unwrap_or_default();
        self.remote.login = Some(Login::new(host, user, retry));
    }

    /// Stores a login until the window closes, and retries what failed without it.
    pub(crate) fn log_in(&mut self, host: String, user: String, password: Secret, retry: Option<Retry>) {
        let credential = Credential::Password { user: user.clone(), password: password.into_text() };
        self.options.access.logins.set(&host, credential);
        self.remote.logged_in.insert(host.clone());
        self.remote.users.insert(host, user);
        match retry {
            Some(Retry::Tab(id)) => self.again(id),
            Some(Retry::Tags) => {
                if let Some(tags) = &mut self.remote.tags {
                    tags.pending = true;
                }
                self.poll_remote();
            }
            None => {}
        }
    }

    /// Forgets the logins of this session.
    pub(crate) fn forget_logins(&mut self) {
        for host in std::mem::take(&mut self.remote.logged_in) {
            self.options.access.logins.forget(&host);
        }
        self.remote.users.clear();
    }

    /// Clears the allowed hosts.
    pub(crate) fn forget_hosts(&mut self) {
        self.remote.hosts.clear();
        self.change_settings(|settings| settings.allowed.clear());
    }

    /// Whether a host is remembered.
    pub(crate) fn has_hosts(&self) -> bool {
        !self.remote.hosts.is_empty() || !self.settings.allowed.is_empty()
    }

    /// Opens the login dialog for a tab that failed without a login.
    pub(crate) fn login_for(&mut self, id: u64) {
        let failed = self.tabs.iter().find(|tab| tab.id == id).map(|tab| &tab.phase);
        if let Some(Phase::Failed(failure)) = failed
            && let Some(host) = failure.login.clone()
        {
            self.ask_login(Some(&host), Some(Retry::Tab(id)));
        }
    }

    /// Opens the engine's image instead of the one that waits for permission.
    pub(crate) fn open_local(&mut self, tab: Option<u64>, reference: &str) {
        if let Some(id) = tab {
            self.close(id);
        }
        self.open(reference);
    }
}
