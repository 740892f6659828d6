//! The findings to remove, the answers to open questions, and the sizes of the image after removal.

mod changes;

use std::collections::{BTreeMap, BTreeSet};

pub use self::changes::{PlanChanges, PlanError, SavedAnswer, SavedFinding, SavedPlan};
use super::value::{Finding, Findings, Share, User, Verdict};
use crate::base::words::words;
use crate::layer::LayerRead;

/// The answer to the question of a finding. Every question is phrased so that yes means: used, keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Answer {
    /// Yes: it is used and stays.
    Used,
    /// No: it can be removed.
    Unused,
}

words!(Answer {
    Used = "yes",
    Unused = "no",
});

impl Answer {
    /// The answer with this name, `yes` or `no`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|answer| answer.as_str() == name)
    }
}

/// Answers to questions as they were given, by id of the finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    given: BTreeMap<String, Answer>,
    /// Findings that are removed by their own name: no other question is answered with theirs.
    alone: BTreeSet<String>,
}

impl Answers {
    /// Answers the question of a finding. A no also answers the questions of [`Findings::answered_with`] that have no
    /// answer of their own.
    pub fn give(&mut self, id: String, answer: Answer) {
        self.alone.remove(&id);
        self.given.insert(id, answer);
    }

    /// Answers the question of a finding, and no other, with no.
    pub fn remove(&mut self, id: String) {
        self.given.insert(id.clone(), Answer::Unused);
        self.alone.insert(id);
    }

    /// Leaves the question of a finding open again.
    pub fn take_back(&mut self, id: &str) {
        self.given.remove(id);
        self.alone.remove(id);
    }

    /// The answer that was given for a finding.
    pub fn get(&self, id: &str) -> Option<Answer> {
        self.given.get(id).copied()
    }

    /// Whether a finding is removed by its own name: its question is not answered for others.
    pub fn is_alone(&self, id: &str) -> bool {
        self.alone.contains(id)
    }

    /// How many were given.
    pub fn len(&self) -> usize {
        self.given.len()
    }

    /// Whether none was given.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Keeps only answers for which `stays` is true.
    pub fn retain(&mut self, mut stays: impl FnMut(&str, Answer) -> bool) {
        self.given.retain(|id, answer| stays(id, *answer));
        self.alone.retain(|id| self.given.contains_key(id));
    }

    /// After all answers of a saved plan were given: each no that another one gives, too, follows from that one, so that
    /// its question is open again when that one changes. No question gets another answer than it had.
    pub(super) fn link(&mut self, findings: &Findings) {
        let given = &self.given;
        let is_exact = |id: &str| findings.answered_with(id).all(|one| given.contains_key(&one.id));
        self.alone.retain(|id| !is_exact(id));
        let of = |id: &str| findings.list.iter().position(|one| one.id == id);
        let is_given = |id: &str| self.get(id) == Some(Answer::Unused) && !self.alone.contains(id);
        let is_before = |leading: &Finding, one: &Finding| {
            leading.answers(one) && (!one.answers(leading) || of(&leading.id) < of(&one.id))
        };
        let leading: Vec<&Finding> = findings.list.iter().filter(|one| is_given(&one.id)).collect();
        let using = self.using(findings);
        let follows =
            |one: &Finding| is_unused(one, &using) && leading.iter().any(|leading| is_before(leading, one));
        let no = findings.list.iter().filter(|one| self.get(&one.id) == Some(Answer::Unused));
        let following: Vec<String> = no.filter(|one| follows(one)).map(|one| one.id.clone()).collect();
        for id in &following {
            self.take_back(id);
        }
    }

    /// Readers of which one was said to use something.
    fn using<'f>(&self, findings: &'f Findings) -> BTreeSet<&'f (Option<User>, String)> {
        let yes = self.given.iter().filter(|(_, answer)| **answer == Answer::Used);
        yes.filter_map(|(id, _)| findings.find(id)).flat_map(|one| &one.readers).collect()
    }

    /// Ids of findings whose question has no own answer, and is answered with that of another one. Of who was said to
    /// use something, nothing follows.
    fn following(&self, findings: &Findings) -> BTreeSet<String> {
        let using = self.using(findings);
        let is_no = |(id, answer): &(&String, &Answer)| {
            **answer == Answer::Unused && !self.alone.contains(id.as_str())
        };
        let leading = self.given.iter().filter(is_no);
        let with =
            leading.flat_map(|(id, _)| findings.answered_with(id)).filter(|one| is_unused(one, &using));
        let with = with.map(|one| one.id.clone());
        with.filter(|id| !self.given.contains_key(id)).collect()
    }
}

impl From<BTreeMap<String, Answer>> for Answers {
    fn from(given: BTreeMap<String, Answer>) -> Self {
        Self { given, alone: BTreeSet::new() }
    }
}

/// Findings to remove and answers to questions, by id of the finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    chosen: BTreeSet<String>,
    answers: Answers,
    /// Findings whose question is answered with that of another one: no.
    following: BTreeSet<String>,
}

/// The question of a removable finding.
#[derive(Clone, Copy, Debug)]
pub struct Question<'f> {
    /// The finding.
    pub finding: &'f Finding,
    /// The question.
    pub text: &'f str,
    /// Its answer; `None` while it is open.
    pub answer: Option<Answer>,
    /// The finding whose question, answered with no, answers this one, too. Both are open, or both are answered with no.
    pub answered_with: Option<&'f Finding>,
}

impl<'f> Question<'f> {
    /// Id of the finding whose question is asked.
    fn leading(&self) -> &'f str {
        &self.answered_with.unwrap_or(self.finding).id
    }
}

/// Sizes of the image after a plan is applied by never adding the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// Bytes of the merged view.
    pub merged_bytes: u64,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
    /// Blobs as stored. An estimate: each layer shrinks in proportion to its content. `None` when a blob's size is
    /// unknown.
    pub compressed_bytes: Option<u64>,
    /// Bytes that each layer loses, bottom first.
    pub layers: Vec<u64>,
}

impl Plan {
    /// All findings that are safe and have bytes of their own.
    pub fn of_safe(findings: &Findings) -> Self {
        Self::of(findings, |one| one.verdict == Verdict::Safe, Answers::default())
    }

    /// The findings that `chosen` accepts, and the unsure ones whose question is answered with no. Leaves out what
    /// cannot be removed, and what is removable only together with a finding that stays.
    pub fn of(findings: &Findings, mut chosen: impl FnMut(&Finding) -> bool, answers: Answers) -> Self {
        let following = answers.following(findings);
        let answer = |id: &str| answers.get(id).or(following.contains(id).then_some(Answer::Unused));
        let wanted = |one: &&Finding| match (is_removable(one), one.verdict, answer(&one.id)) {
            (false, ..) => false,
            (true, Verdict::Unsure, answer) => answer == Some(Answer::Unused),
            (true, ..) => chosen(one),
        };
        let mut chosen: BTreeSet<String> =
            findings.list.iter().filter(wanted).map(|one| one.id.clone()).collect();
        // Dependencies can be chained.
        while let Some(one) =
            findings.list.iter().find(|one| chosen.contains(&one.id) && !is_free(one, &chosen))
        {
            chosen.remove(&one.id);
        }
        Self { chosen, answers, following }
    }

    /// The answer to the question of a finding; `None` while the question is open.
    pub fn answer(&self, id: &str) -> Option<Answer> {
        self.answers.get(id).or(self.following.contains(id).then_some(Answer::Unused))
    }

    /// The open questions that a no to that of a finding would answer, too.
    pub fn would_follow<'f>(&self, findings: &'f Findings, id: &str) -> impl Iterator<Item = &'f Finding> {
        let using = self.answers.using(findings);
        let is_open = move |one: &&Finding| self.answer(&one.id).is_none() && is_unused(one, &using);
        findings.answered_with(id).filter(is_open)
    }

    /// The findings that are removed with the answer to another question.
    pub fn following<'f>(&self, findings: &'f Findings) -> impl Iterator<Item = &'f Finding> {
        findings.list.iter().filter(|one| self.following.contains(&one.id) && self.contains(&one.id))
    }

    /// The answers that were given; [`answer`](Self::answer) also has those that follow from them.
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Questions of removable findings: each before those that are answered with it, and what has most bytes together
    /// first.
    pub fn questions<'f>(&self, findings: &'f Findings) -> Vec<Question<'f>> {
        let asked: Vec<(&Finding, Option<Answer>)> = findings
            .list
            .iter()
            .filter(|one| is_removable(one) && one.question.is_some())
            .map(|one| (one, self.answer(&one.id)))
            .collect();
        let using = self.answers.using(findings);
        // Of questions about the same readers, the first one is asked.
        let is_before = |other: usize, place: usize| {
            let ((leading, answer), (one, same)) = (asked[other], asked[place]);
            answer == same
                && (answer.is_none() || self.following.contains(&one.id))
                && leading.answers(one)
                && is_unused(one, &using)
                && (other < place || !one.answers(leading))
        };
        let can_lead = |one: &Finding| !one.readers.is_empty() || !one.reading.is_empty();
        let with_readers: Vec<usize> = (0..asked.len()).filter(|place| can_lead(asked[*place].0)).collect();
        let follows = |place: &usize| with_readers.iter().any(|other| is_before(*other, *place));
        let leading: Vec<usize> = with_readers.iter().copied().filter(|place| !follows(place)).collect();
        let question = |(place, (finding, answer)): (usize, &(&'f Finding, Option<Answer>))| Question {
            finding,
            text: finding.question.as_deref().unwrap_or_default(),
            answer: *answer,
            answered_with: leading
                .iter()
                .find(|other| is_before(**other, place))
                .map(|other| asked[*other].0),
        };
        let mut questions: Vec<Question<'f>> = asked.iter().enumerate().map(question).collect();
        let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
        for one in &questions {
            *bytes.entry(one.leading()).or_default() += one.finding.bytes;
        }
        questions.sort_by_key(|one| {
            let all = bytes.get(one.leading()).copied();
            (std::cmp::Reverse(all), one.leading(), one.answered_with.is_some())
        });
        questions
    }

    /// Those without an answer.
    pub fn open_questions<'f>(&self, findings: &'f Findings) -> impl Iterator<Item = Question<'f>> {
        self.questions(findings).into_iter().filter(|one| one.answer.is_none())
    }

    /// Whether the plan removes a finding.
    pub fn contains(&self, id: &str) -> bool {
        self.chosen.contains(id)
    }

    /// Adds or removes a finding, whatever its verdict is.
    pub fn set(&mut self, id: &str, chosen: bool) {
        if chosen {
            self.chosen.insert(id.to_owned());
        } else {
            self.chosen.remove(id);
        }
    }

    /// The ids, in the order of `findings`, without those that no longer exist.
    pub fn ids<'f>(&self, findings: &'f Findings) -> Vec<&'f str> {
        findings.list.iter().map(|one| one.id.as_str()).filter(|id| self.contains(id)).collect()
    }

    /// Predicts the sizes after the plan. Every file belongs to one finding, so sums of findings are sums of files.
    pub fn predict(
        &self,
        findings: &Findings,
        merged_bytes: u64,
        layers: &[Option<&LayerRead>],
    ) -> Predicted {
        let removed = || findings.list.iter().filter(|one| self.contains(&one.id));
        let shares = || removed().flat_map(|finding| &finding.layers);
        let merged_lost: u64 = shares().map(|share| share.merged_bytes).sum();
        let lost = lost(shares());
        let of = |layer: usize| u16::try_from(layer).ok().and_then(|layer| lost.get(&layer)).copied();
        let content: u64 = layers.iter().flatten().map(|read| read.index.counts().content_bytes).sum();
        let all_lost: u64 = lost.values().map(|(bytes, _)| bytes).sum();
        let compressed = layers.iter().enumerate().map(|(number, read)| {
            let read = (*read)?;
            let (bytes, files) = of(number).unwrap_or_default();
            Some(shrunk(read.compressed_bytes?, read.uncompressed_bytes?, bytes, files))
        });
        Predicted {
            merged_bytes: merged_bytes.saturating_sub(merged_lost),
            content_bytes: content.saturating_sub(all_lost),
            compressed_bytes: compressed.sum(),
            layers: (0..layers.len()).map(|number| of(number).unwrap_or_default().0).collect(),
        }
    }
}

impl Findings {
    /// Findings whose question a no to that of another finding answers, too.
    pub fn answered_with<'f>(&'f self, id: &str) -> impl Iterator<Item = &'f Finding> {
        let answered = self.find(id);
        self.list.iter().filter(move |one| answered.is_some_and(|answered| answered.answers(one)))
    }
}

impl Finding {
    /// Whether a no to its question answers that of another finding, too: whoever may need the files of that one is
    /// among its readers, none of which runs, or among its files, which are removed.
    fn answers(&self, other: &Self) -> bool {
        let is_own = |user: &Option<User>| match user {
            Some(User::File(node)) => self.reading.binary_search(node).is_ok(),
            _ => false,
        };
        self.id != other.id
            && is_removable(other)
            && !other.readers.is_empty()
            && other
                .readers
                .iter()
                .all(|reader| self.readers.binary_search(reader).is_ok() || is_own(&reader.0))
    }
}

/// Whether none of the readers of a finding was said to use something.
fn is_unused(finding: &Finding, using: &BTreeSet<&(Option<User>, String)>) -> bool {
    !finding.readers.iter().any(|reader| using.contains(reader))
}

/// Whether a plan can contain a finding: it has bytes of its own, and is not required at run time.
pub(super) fn is_removable(finding: &Finding) -> bool {
    finding.verdict != Verdict::Needed && finding.bytes > 0
}

/// Whether all findings that one depends on are removed with it.
fn is_free(finding: &Finding, chosen: &BTreeSet<String>) -> bool {
    finding.rests_on.iter().all(|cause| chosen.contains(cause))
}

/// Bytes and files that each layer loses with these shares of findings.
pub fn lost<'s>(shares: impl IntoIterator<Item = &'s Share>) -> BTreeMap<u16, (u64, u64)> {
    let mut lost: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    for share in shares {
        let sum = lost.entry(share.layer).or_default();
        sum.0 += share.bytes;
        sum.1 += share.files;
    }
    lost
}

/// Bytes that files take in a tar: each also has a header and padding, 768 bytes on average.
pub fn tar_bytes(bytes: u64, files: u64) -> u64 {
    const BESIDE: u64 = 768;
    bytes.saturating_add(files.saturating_mul(BESIDE))
}

/// The size of a blob without this content; the rest is assumed to compress at the same ratio.
fn shrunk(compressed: u64, uncompressed: u64, bytes: u64, files: u64) -> u64 {
    let gone = tar_bytes(bytes, files).min(uncompressed);
    let left = u128::from(compressed) * u128::from(uncompressed - gone) / u128::from(uncompressed.max(1));
    u64::try_from(left).unwrap_or(compressed)
}
