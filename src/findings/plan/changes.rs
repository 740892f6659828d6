//! Changes to the default plan: by options and by a saved plan.

use std::collections::{BTreeMap, BTreeSet};

use super::{Answer, Answers, Plan, is_removable};
use crate::base::text::{elide_end, elide_middle};
use crate::findings::policy::near;
use crate::findings::value::{Finding, Findings, Verdict};

/// Maximum ids listed in an error.
const NAMED: usize = 8;
/// Maximum characters of an id, a title or a question in a message.
const SHOWN: usize = 160;

/// Changes requested by the user, on top of a saved plan or of all safe findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanChanges {
    /// The plan to start from; `None` for all safe findings.
    pub saved: Option<SavedPlan>,
    /// Findings to remove. For an unsure one this answers its question, and no other, with no.
    pub remove: Vec<String>,
    /// Findings to keep. For an unsure one this answers its question with yes.
    pub keep: Vec<String>,
    /// Answers to questions. A no also answers the questions of [`Findings::answered_with`] that have no own answer.
    pub answers: Vec<(String, Answer)>,
    /// Whether `remove` may name findings that are required at run time.
    pub force: bool,
}

/// A saved plan: untrusted until it is applied to findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedPlan {
    /// Manifest digest of the image that it was made for.
    pub manifest_digest: Option<String>,
    /// Config digest of that image.
    pub config_digest: Option<String>,
    /// The findings to remove.
    pub findings: Vec<SavedFinding>,
    /// The answers to questions.
    pub answers: Vec<SavedAnswer>,
}

/// A finding of a saved plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedFinding {
    /// Its location in the document, such as `findings[2]`.
    pub place: String,
    /// Its id when the plan was saved.
    pub id: String,
    /// Its title when the plan was saved. Ids are numbered by size: the title distinguishes findings of one rule.
    pub title: Option<String>,
}

/// An answer of a saved plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedAnswer {
    /// The finding.
    pub finding: SavedFinding,
    /// The question that was answered.
    pub question: Option<String>,
    /// The answer.
    pub answer: Answer,
}

/// Why a plan cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Two requests contradict each other.
    #[error("conflicting requests for finding {id}: {first} and {second}")]
    Conflict {
        /// The finding.
        id: String,
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// The image has no finding with this id.
    #[error("no such finding: {id}")]
    Unknown {
        /// The id.
        id: String,
        /// Ids that look like it.
        near: Vec<String>,
        /// Ids of the image.
        known: Vec<String>,
        /// Ids beyond those in `known`.
        more: usize,
    },
    /// The finding is required at run time.
    #[error("cannot remove finding {id}: required at run time: {reason}")]
    Needed {
        /// The finding.
        id: String,
        /// Why it is required.
        reason: String,
    },
    /// The finding has no files of its own.
    #[error("cannot remove finding {id}: it has no files of its own")]
    NoFiles {
        /// The finding.
        id: String,
        /// Its rule.
        rule: &'static str,
    },
    /// The finding has no question.
    #[error("cannot answer finding {id}: its verdict is {}, it has no question", .verdict.label())]
    NoQuestion {
        /// The finding.
        id: String,
        /// Its verdict.
        verdict: Verdict,
    },
    /// The finding is removable only together with one that stays.
    #[error("cannot remove finding {id} alone: it is removable only together with {cause}, which is kept")]
    RestsOn {
        /// The finding.
        id: String,
        /// The one that stays.
        cause: String,
    },
    /// The id belongs to another finding than when the plan was saved.
    #[error("finding {id} is now {now:?}; the plan has {saved:?}")]
    Renamed {
        /// The id.
        id: String,
        /// Title of the finding that has the id now.
        now: String,
        /// Title in the plan.
        saved: String,
    },
    /// The question of a finding changed since it was answered.
    #[error("the question of finding {id} is now {now:?}; the plan answers {saved:?}")]
    OtherQuestion {
        /// The finding.
        id: String,
        /// Its question.
        now: String,
        /// The question in the plan.
        saved: String,
    },
    /// An entry of a saved plan is invalid.
    #[error("{place}: {source}")]
    Saved {
        /// Where in the document.
        place: String,
        /// What is wrong.
        source: Box<PlanError>,
    },
}

impl PlanError {
    /// What to try next.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unknown { near, .. } if !near.is_empty() => {
                format!("similar findings: {}", near.join(", "))
            }
            Self::Unknown { known, .. } if known.is_empty() => "this image has no findings".to_owned(),
            Self::Unknown { known, more: 0, .. } => format!("findings of this image: {}", known.join(", ")),
            Self::Unknown { known, more, .. } => {
                format!("findings of this image: {}, and {more} more", known.join(", "))
            }
            Self::NoFiles { rule, .. } => format!("`cutaway explain {rule}` shows the fix"),
            Self::NoQuestion { id, verdict: Verdict::Safe } => {
                format!("use --keep {id} to keep its files")
            }
            Self::RestsOn { cause, .. } => format!("remove {cause} too"),
            Self::Renamed { .. } | Self::OtherQuestion { .. } => {
                "the image or the rules changed since the plan was saved: create a new plan".to_owned()
            }
            Self::Saved { source, .. } => return source.hint(),
            Self::Conflict { .. } | Self::Needed { .. } | Self::NoQuestion { .. } => return None,
        })
    }
}

impl SavedPlan {
    /// Whether the plan was made for the image with these digests; `None` when unknown. One image has several
    /// manifests, depending on how it is stored, and one config.
    pub fn is_for(&self, manifest: Option<&str>, config: Option<&str>) -> Option<bool> {
        let same = |saved: &Option<String>, now: Option<&str>| Some(saved.as_deref()? == now?);
        let (manifest, config) = (same(&self.manifest_digest, manifest), same(&self.config_digest, config));
        if manifest == Some(true) { manifest } else { config.or(manifest) }
    }
}

impl PlanChanges {
    /// Checks for contradicting requests; needs no findings.
    ///
    /// # Errors
    /// [`PlanError::Conflict`].
    pub fn check(&self) -> Result<(), PlanError> {
        let mut seen: BTreeMap<&str, Vec<(bool, &'static str)>> = BTreeMap::new();
        let removals = self.remove.iter().map(|id| (id, false, "--remove"));
        let kept = self.keep.iter().map(|id| (id, true, "--keep"));
        let answers = self.answers.iter().map(|(id, answer)| match answer {
            Answer::Used => (id, true, "--answer yes"),
            Answer::Unused => (id, false, "--answer no"),
        });
        for (id, keeps, option) in removals.chain(kept).chain(answers) {
            let of_id = seen.entry(id).or_default();
            if let Some(&(_, first)) = of_id.iter().find(|(other, _)| *other != keeps) {
                return Err(PlanError::Conflict { id: shown(id), first, second: option });
            }
            of_id.push((keeps, option));
        }
        Ok(())
    }

    /// The plan for an image.
    ///
    /// # Errors
    /// A finding is not there, is another one, cannot be removed or has no question, or requests contradict each
    /// other.
    pub fn apply(&self, findings: &Findings) -> Result<Plan, PlanError> {
        self.check()?;
        let mut chosen: BTreeSet<&str> = BTreeSet::new();
        let mut answers = Answers::default();
        if let Some(saved) = &self.saved {
            let places = Places::new(findings);
            for entry in &saved.findings {
                let found = places.find(entry).and_then(|one| removable(one).map(|()| one));
                let one = found.map_err(|error| at(&entry.place, error))?;
                chosen.insert(&one.id);
                if one.verdict == Verdict::Unsure {
                    answers.remove(one.id.clone());
                }
            }
            for entry in &saved.answers {
                let one = answered(&places, entry).map_err(|error| at(&entry.finding.place, error))?;
                match entry.answer {
                    Answer::Used => answers.give(one.id.clone(), Answer::Used),
                    Answer::Unused => answers.remove(one.id.clone()),
                }
            }
            answers.link(findings);
        } else {
            chosen.extend(
                findings.list.iter().filter(|one| one.verdict == Verdict::Safe).map(|one| one.id.as_str()),
            );
        }
        for id in &self.keep {
            let one = known(findings, id)?;
            chosen.remove(one.id.as_str());
            if one.verdict == Verdict::Unsure {
                answers.give(one.id.clone(), Answer::Used);
            }
        }
        let mut forced = Vec::new();
        for id in &self.remove {
            let one = known(findings, id)?;
            if self.force && one.verdict == Verdict::Needed && one.bytes > 0 {
                forced.push(one.id.as_str());
                continue;
            }
            removable(one)?;
            chosen.insert(&one.id);
            if one.verdict == Verdict::Unsure {
                answers.remove(one.id.clone());
            }
        }
        for (id, answer) in &self.answers {
            let one = known(findings, id)?;
            question(one)?;
            answers.give(one.id.clone(), *answer);
        }
        let mut plan = Plan::of(findings, |one| chosen.contains(one.id.as_str()), answers);
        for id in forced {
            plan.set(id, true);
        }
        let left_out = self.remove.iter().find(|id| !plan.contains(id));
        match left_out.and_then(|id| findings.find(id)) {
            Some(one) => {
                let cause =
                    one.rests_on.iter().find(|cause| !plan.contains(cause)).cloned().unwrap_or_default();
                Err(PlanError::RestsOn { id: one.id.clone(), cause })
            }
            None => Ok(plan),
        }
    }
}

/// Findings by id.
struct Places<'f> {
    findings: &'f Findings,
    by_id: BTreeMap<&'f str, &'f Finding>,
}

impl<'f> Places<'f> {
    fn new(findings: &'f Findings) -> Self {
        Self { findings, by_id: findings.list.iter().map(|one| (one.id.as_str(), one)).collect() }
    }

    /// The finding that a saved plan refers to: id and title match, or exactly one finding of the same rule and verdict
    /// has the title.
    fn find(&self, entry: &SavedFinding) -> Result<&'f Finding, PlanError> {
        let with_id = self.by_id.get(entry.id.as_str()).copied();
        let Some(title) = &entry.title else {
            return with_id.ok_or_else(|| unknown(self.findings, &entry.id));
        };
        if let Some(one) = with_id.filter(|one| one.title == *title) {
            return Ok(one);
        }
        let mut parts = entry.id.splitn(3, ':');
        let kind = (parts.next(), parts.next());
        let same =
            |one: &&Finding| (Some(one.rule.id), Some(one.verdict.as_str())) == kind && one.title == *title;
        let mut same = self.findings.list.iter().filter(same);
        match (same.next(), same.next(), with_id) {
            (Some(one), None, _) => Ok(one),
            (_, _, Some(one)) => {
                Err(PlanError::Renamed { id: one.id.clone(), now: shown(&one.title), saved: shown(title) })
            }
            (_, _, None) => Err(unknown(self.findings, &entry.id)),
        }
    }
}

/// The finding of a saved answer, if its question is still the same.
fn answered<'f>(places: &Places<'f>, entry: &SavedAnswer) -> Result<&'f Finding, PlanError> {
    let one = places.find(&entry.finding)?;
    let now = question(one)?;
    match &entry.question {
        Some(saved) if saved != now => {
            Err(PlanError::OtherQuestion { id: one.id.clone(), now: shown(now), saved: shown(saved) })
        }
        _ => Ok(one),
    }
}

fn at(place: &str, error: PlanError) -> PlanError {
    PlanError::Saved { place: place.to_owned(), source: Box::new(error) }
}

fn known<'f>(findings: &'f Findings, id: &str) -> Result<&'f Finding, PlanError> {
    findings.find(id).ok_or_else(|| unknown(findings, id))
}

fn unknown(findings: &Findings, id: &str) -> PlanError {
    let ids = || findings.list.iter().map(|one| one.id.as_str());
    let owned = |ids: Vec<&str>| ids.into_iter().map(str::to_owned).collect();
    PlanError::Unknown {
        id: shown(id),
        near: owned(near(id, ids())),
        known: owned(ids().take(NAMED).collect()),
        more: ids().count().saturating_sub(NAMED),
    }
}

fn removable(finding: &Finding) -> Result<(), PlanError> {
    let id = finding.id.clone();
    match finding.verdict {
        _ if is_removable(finding) => Ok(()),
        Verdict::Needed => Err(PlanError::Needed { id, reason: elide_end(&finding.reason, 4 * SHOWN) }),
        Verdict::Safe | Verdict::Unsure => Err(PlanError::NoFiles { id, rule: finding.rule.id }),
    }
}

fn question(finding: &Finding) -> Result<&str, PlanError> {
    let none = || PlanError::NoQuestion { id: finding.id.clone(), verdict: finding.verdict };
    finding.question.as_deref().ok_or_else(none)
}

fn shown(text: &str) -> String {
    elide_middle(text, SHOWN)
}
