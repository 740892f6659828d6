//! GPU code against the GPU architecture, and PTX against the driver.

use hashbrown::HashMap;

use super::driver::{Isa, Ptx};
use super::host::Host;
use crate::base::text::elide_middle;
use crate::cuda::compat::versions::{capability, listed};
use crate::cuda::compat::{CodeFile, Needs, Reason, RuleId, RunVerdict, Weight};
use crate::cuda::{Fit, fit, is_tegra};
use crate::formats::fatbin::{GpuKind, Suffix};

/// The part of a GPU code row that determines the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Row {
    kind: GpuKind,
    arch: u32,
    suffix: Option<Suffix>,
    isa: Option<(u16, u16)>,
}

/// Files of one owner with the same weight and the same code: same outcome on every GPU.
struct Group<'a> {
    first: &'a CodeFile,
    files: usize,
    rows: Vec<Row>,
    /// Whether all its code is architecture-specific (suffix `a`).
    specific: bool,
    /// Index of its owner.
    owner: usize,
    /// Description of the rows.
    has: String,
}

/// Grouping key of files: owner, weight, whether among alternative frameworks, lowest SM, rows.
type Alike<'a> = (&'a str, Weight, bool, Option<u32>, Vec<Row>);

/// The files with GPU code.
pub(super) struct Code<'a> {
    groups: Vec<Group<'a>>,
    /// Number of owners.
    owners: usize,
}

/// Outcome of a file on a GPU, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Outcome {
    /// SASS runs directly.
    Native,
    /// The driver JIT-compiles PTX.
    Jit,
    /// Only the forward-compatibility driver JIT-compiles the PTX.
    JitByCompat,
    /// Unknown whether the driver compiles the PTX.
    JitUntold,
    /// SASS for desktop GPUs of the same major version, on a Tegra board with CUDA 13 or later.
    DesktopOnBoard,
    /// The PTX is newer than the driver supports.
    TooNew,
    /// No code for this GPU.
    Never,
}

/// Result of the check of GPU code.
#[derive(Default)]
pub(super) struct CodeJudgement {
    pub(super) reasons: Vec<Reason>,
    /// Reasons that do not affect the verdict.
    pub(super) remarks: Vec<Reason>,
    /// Positive result, if all deciding files have SASS.
    pub(super) proof: Option<Proof>,
}

/// What all deciding files have in common.
pub(super) struct Proof {
    /// Sentence without names and without the full stop.
    pub(super) all: String,
    /// The same with file names.
    pub(super) files: String,
    /// Path of one of these files.
    pub(super) subject: String,
}

impl<'a> Code<'a> {
    pub(super) fn new(needs: &'a Needs) -> Self {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut places: HashMap<Alike<'a>, usize> = HashMap::new();
        let mut owners: HashMap<&str, usize> = HashMap::new();
        for file in needs.code.iter().filter(|file| !file.code.is_empty()) {
            let mut rows: Vec<Row> = file
                .code
                .iter()
                .filter(|row| matches!(row.kind, GpuKind::Sass | GpuKind::Ptx))
                .map(|row| Row { kind: row.kind, arch: row.arch, suffix: row.suffix, isa: row.isa })
                .collect();
            rows.sort_unstable();
            rows.dedup();
            let alike = (&*file.what, file.weight, file.among_frameworks, file.from_sm, rows.clone());
            let place = *places.entry(alike).or_insert(groups.len());
            if let Some(group) = groups.get_mut(place) {
                group.files += 1;
            } else {
                let specific = !rows.is_empty() && rows.iter().all(|row| row.suffix == Some(Suffix::A));
                let next = owners.len();
                let owner = *owners.entry(&file.what).or_insert(next);
                let has = rows_of(&rows);
                groups.push(Group { first: file, files: 1, rows, specific, owner, has });
            }
        }
        Self { groups, owners: owners.len() }
    }

    /// Checks all GPU code against a machine.
    pub(super) fn judge(&self, host: &Host<'_>, ptx: &Ptx) -> CodeJudgement {
        let sm = host.target.sm;
        let outcomes: Vec<Outcome> =
            self.groups.iter().map(|group| outcome(&group.rows, host, ptx)).collect();
        let mut covered = vec![false; self.owners];
        for (group, outcome) in self.groups.iter().zip(&outcomes) {
            if let Some(covered) = covered.get_mut(group.owner) {
                *covered |= *outcome <= Outcome::JitByCompat;
            }
        }
        let mut frameworks =
            self.groups.iter().zip(&outcomes).filter(|(group, _)| group.first.among_frameworks);
        let another_fits = frameworks.any(|(_, outcome)| *outcome <= Outcome::JitByCompat);
        let mut told: Vec<JudgedGroup<'_>> = Vec::new();
        let mut places: HashMap<(usize, Weight, Outcome), usize> = HashMap::new();
        for (group, outcome) in self.groups.iter().zip(outcomes) {
            // Architecture-specific files are opened only after a check of the GPU.
            let others = covered.get(group.owner).copied().unwrap_or(false);
            let lacks = outcome > Outcome::JitByCompat;
            let chosen = group.specific && lacks && others && group.first.weight != Weight::Decides;
            let left_out = group.first.from_sm.is_some_and(|from| sm < from);
            let weight = match group.first.weight {
                _ if chosen || left_out => Weight::Optional,
                // The image may run another framework that supports this GPU.
                Weight::Decides if lacks && group.first.among_frameworks && another_fits => Weight::MayDecide,
                weight => weight,
            };
            let place = *places.entry((group.owner, weight, outcome)).or_insert(told.len());
            match told.get_mut(place) {
                Some(known) => known.files += group.files,
                None => told.push(JudgedGroup { group, files: group.files, weight, outcome }),
            }
        }
        let decides = told.iter().any(|one| one.weight == Weight::Decides);
        let mut coded = CodeJudgement { proof: proof(&told, decides, sm), ..CodeJudgement::default() };
        for one in &told {
            if let Some(reason) = one.reason(sm, ptx, decides) {
                let list =
                    if reason.verdict == RunVerdict::Runs { &mut coded.remarks } else { &mut coded.reasons };
                list.push(reason);
            }
        }
        coded
    }
}

/// Groups of one owner with the same weight and outcome.
struct JudgedGroup<'a> {
    group: &'a Group<'a>,
    files: usize,
    weight: Weight,
    outcome: Outcome,
}

fn outcome(rows: &[Row], host: &Host<'_>, ptx: &Ptx) -> Outcome {
    let sm = host.target.sm;
    // Boards with CUDA 13 and later were observed to run it (nvidia-holoscan/holohub pull request 1687).
    let may_run_desktop = is_tegra(sm) && host.cuda >= Some((13, 0));
    let of = |row: &Row| match fit(sm, row.kind, row.arch, row.suffix) {
        Fit::Native => Outcome::Native,
        Fit::Jit => compiles(row.isa, ptx),
        Fit::Never => {
            let same_major = row.arch / 10 == sm / 10 && row.arch <= sm && !is_tegra(row.arch);
            let desktop = row.kind == GpuKind::Sass && row.suffix.is_none() && same_major;
            if desktop && may_run_desktop { Outcome::DesktopOnBoard } else { Outcome::Never }
        }
    };
    rows.iter().map(of).min().unwrap_or(Outcome::Never)
}

fn compiles(isa: Option<(u16, u16)>, ptx: &Ptx) -> Outcome {
    match (ptx.isa, isa) {
        (Isa::Open, _) => Outcome::Jit,
        (_, None) => Outcome::JitUntold,
        (Isa::UpTo(known) | Isa::AtLeast(known), Some(isa)) if isa <= known => Outcome::Jit,
        (_, Some(isa)) if ptx.compat.is_some_and(|compat| isa <= compat) => Outcome::JitByCompat,
        (Isa::AtLeast(_), Some(_)) => Outcome::JitUntold,
        (Isa::UpTo(_), Some(_)) => Outcome::TooNew,
    }
}

/// The common result of all deciding files; `None` unless all have SASS that runs on this GPU.
fn proof(told: &[JudgedGroup<'_>], decides: bool, sm: u32) -> Option<Proof> {
    let wanted = if decides { Weight::Decides } else { Weight::MayDecide };
    let deciding: Vec<&JudgedGroup<'_>> = told.iter().filter(|one| one.weight == wanted).collect();
    let subject = deciding.first()?.group.first.path.clone();
    if deciding.iter().any(|one| one.outcome != Outcome::Native) {
        return None;
    }
    let which = if decides { "All deciding files" } else { "All files with GPU code" };
    // SASS for 8.0 runs on 8.6.
    let is_exact = |row: &Row| row.kind == GpuKind::Sass && row.arch == sm;
    let sass = if deciding.iter().all(|one| one.group.rows.iter().any(is_exact)) {
        format!("SASS for sm_{sm}")
    } else {
        format!("SASS that runs on sm_{sm}")
    };
    let mut names: Vec<String> = deciding.iter().take(NAMED_OWNERS).map(|one| one.by_owner()).collect();
    // The other names are not formatted: files and targets may be many.
    names.resize(deciding.len(), String::new());
    Some(Proof {
        all: format!("{which} contain {sass}"),
        files: format!("{sass}: {}", listed(&names, NAMED_OWNERS)),
        subject,
    })
}

impl JudgedGroup<'_> {
    fn reason(&self, sm: u32, ptx: &Ptx, decides: bool) -> Option<Reason> {
        if self.outcome == Outcome::Native {
            return None;
        }
        let gpu = capability(sm);
        let (who, has) = (self.who(), &self.group.has);
        let verb = if self.files == 1 { "has" } else { "have" };
        let own = format!("{who} {verb} {has}");
        let isa = self.group.rows.iter().filter(|row| fit(sm, row.kind, row.arch, row.suffix) == Fit::Jit);
        let isa = isa.filter_map(|row| row.isa).min();
        let isa = isa.map_or_else(String::new, |(major, minor)| format!(" {major}.{minor}"));
        let built = format!("Use a build with SASS for sm_{sm}");
        let reason = match self.outcome {
            Outcome::Native => return None,
            Outcome::Jit => {
                let text = format!("{own}: the driver JIT-compiles the PTX for {gpu} at first start.");
                let counts = self.weight == Weight::Decides || self.weight == Weight::MayDecide && !decides;
                let verdict = if counts { RunVerdict::RunsWithJit } else { RunVerdict::Runs };
                let hint = format!(
                    "{built}, or keep ~/.nv/ComputeCache: a container with a read-only file system compiles at every \
                    start (CUDA_CACHE_PATH moves the cache)."
                );
                Reason::new(verdict, RuleId::GpuCode, text).with_hint(hint)
            }
            Outcome::JitByCompat => {
                let text = format!(
                    "{own}: for {gpu}, PTX{isa} is newer than {}; the forward-compatibility driver of the image \
                    compiles it.",
                    ptx.by
                );
                let verdict = if self.weight == Weight::Optional {
                    RunVerdict::Runs
                } else {
                    RunVerdict::RunsWithCompat
                };
                Reason::new(verdict, RuleId::PtxVersion, text)
                    .with_hint(format!("{built}, or install a later driver."))
            }
            Outcome::JitUntold => {
                let text = format!("{own}: unknown whether {} compiles its PTX{isa} for {gpu}.", ptx.by);
                Reason::new(self.at_worst(RunVerdict::Unknown), RuleId::PtxVersion, text)
                    .with_hint(format!("{built}."))
            }
            Outcome::DesktopOnBoard => {
                let text = format!("{own}: unknown whether this board runs code for desktop GPUs.");
                Reason::new(self.at_worst(RunVerdict::Unknown), RuleId::GpuCode, text)
                    .with_hint(format!("{built}."))
            }
            Outcome::TooNew => {
                let known = match ptx.isa {
                    Isa::UpTo((major, minor)) | Isa::AtLeast((major, minor)) => {
                        format!(" compiles PTX up to {major}.{minor}")
                    }
                    Isa::Open => " is older".to_owned(),
                };
                let text =
                    format!("{own}: for {gpu} it has only PTX{isa}, and {}{known}.{}", ptx.by, self.doubt());
                Reason::new(self.at_worst(RunVerdict::Fails), RuleId::PtxVersion, text)
                    .with_error(222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION")
                    .with_hint(format!("Install a later driver, or use a build with SASS for sm_{sm}."))
            }
            Outcome::Never => {
                let it = if self.files == 1 { "it has" } else { "they have" };
                let text =
                    format!("No code for compute capability {gpu} in {who}: {it} {has}.{}", self.doubt());
                let reason = Reason::new(self.at_worst(RunVerdict::Fails), RuleId::GpuCode, text);
                if reason.verdict == RunVerdict::Runs {
                    reason
                } else {
                    reason
                        .with_error(209, "CUDA_ERROR_NO_BINARY_FOR_GPU")
                        .with_hint(format!("{built}, or with PTX."))
                }
            }
        };
        Some(reason.about(&self.group.first.path))
    }

    /// The verdict of a negative outcome, limited by the weight of the files.
    fn at_worst(&self, verdict: RunVerdict) -> RunVerdict {
        match self.weight {
            Weight::Decides => verdict,
            Weight::MayDecide => verdict.min(RunVerdict::Unknown),
            Weight::Optional => RunVerdict::Runs,
        }
    }

    fn doubt(&self) -> &'static str {
        match self.weight {
            Weight::Decides => "",
            Weight::MayDecide => " Whether its kernels are launched is unknown.",
            Weight::Optional => " Its loader is assumed to choose by GPU.",
        }
    }

    /// Files with owner: `a.so and 2 more (torch 2.9.1)`.
    fn who(&self) -> String {
        match (self.files(), self.owner()) {
            (files, Some(owner)) => format!("{files} ({owner})"),
            (files, None) => files,
        }
    }

    /// Owner with files: `torch 2.9.1 (a.so and 2 more)`.
    fn by_owner(&self) -> String {
        match (self.files(), self.owner()) {
            (files, Some(owner)) => format!("{owner} ({files})"),
            (files, None) => files,
        }
    }

    fn files(&self) -> String {
        let name = elide_middle(self.name(), 60);
        match self.files {
            0 | 1 => name,
            files => format!("{name} and {} more", files - 1),
        }
    }

    /// Owner; `None` if equal to the file name.
    fn owner(&self) -> Option<String> {
        let what = &self.group.first.what;
        let what = what.strip_prefix("the ").unwrap_or(what);
        (what != self.name()).then(|| elide_middle(what, 80))
    }

    fn name(&self) -> &str {
        let path = &self.group.first.path;
        path.rsplit('/').next().unwrap_or(path)
    }
}

/// Maximum number of owners named in a positive result.
const NAMED_OWNERS: usize = 3;

/// Maximum number of architectures named; files of frameworks have up to a dozen.
const NAMED: usize = 8;

/// Description of the architectures in a file.
fn rows_of(rows: &[Row]) -> String {
    let of = |kind: GpuKind| {
        let prefix = if kind == GpuKind::Ptx { "compute" } else { "sm" };
        let mut all: Vec<(u32, Option<Suffix>)> =
            rows.iter().filter(|row| row.kind == kind).map(|row| (row.arch, row.suffix)).collect();
        all.dedup();
        let name = |(arch, suffix): &(u32, Option<Suffix>)| {
            let suffix = match suffix {
                None => "",
                Some(Suffix::A) => "a",
                Some(Suffix::F) => "f",
            };
            format!("{prefix}_{arch}{suffix}")
        };
        let mut names: Vec<String> = all.iter().take(NAMED).map(name).collect();
        let more = all.len().saturating_sub(NAMED);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        names.join(", ")
    };
    match (of(GpuKind::Sass), of(GpuKind::Ptx)) {
        (sass, ptx) if sass.is_empty() && ptx.is_empty() => "neither SASS nor PTX".to_owned(),
        (sass, ptx) if ptx.is_empty() => format!("SASS for {sass}, no PTX"),
        (sass, ptx) if sass.is_empty() => format!("PTX for {ptx}, no SASS"),
        (sass, ptx) => format!("SASS for {sass} and PTX for {ptx}"),
    }
}
