//! What is said of an image on a machine, held against what NVIDIA's documents say: each case names the document
//! that its expectation was read from. Expectations come from there, never from what the engine says.

mod code;
mod drivers;
mod starts;

use cutaway::base::Platform;
use cutaway::cuda::GpuCode;
use cutaway::cuda::catalog::Catalog;
use cutaway::cuda::compat::{
    CodeFile, CompatDriver, CudaNeed, CudaVersion, LoaderFolder, Needs, OwnDriver, RuleId, RunVerdict,
    TargetGpu, UsedCudnn, Weight, judge, parse_target,
};
use cutaway::formats::fatbin::{Compression, GpuKind, Suffix};

const GUIDE: &str = "CUDA C++ Programming Guide, application compatibility";
const FAMILY: &str = "CUDA Programming Guide, architecture- and family-specific features; ptxas 13.0 --help";
const PTX_ISA: &str = "PTX ISA, release history; cuda.h, CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
const TOOLKITS: &str = "CUDA Toolkit release notes, table of toolkit and driver versions";
const MINOR: &str = "CUDA compatibility, minor version compatibility";
const FORWARD: &str = "CUDA compatibility, forward compatibility";
const HOOK: &str = "nvidia-container-toolkit, cmd/nvidia-cdi-hook/cudacompat";
const GPUS: &str = "driver release notes, supported GPUs";
const REQUIRE: &str = "libnvidia-container, src/dsl.c; nvidia/cuda Dockerfiles, NVIDIA_REQUIRE_CUDA";
const GKE: &str = "container-engine-accelerators, GPU device plugin: no container runtime of NVIDIA";
const SAME_BRANCH: &str = "tried: 580.95.05 on driver 580.159.04 of an H200 ends with error 803";
const CUDNN: &str = "cuDNN support matrix";

/// What runs has one sentence about code and driver: the rule is that of the driver, or that of the code where nothing
/// is said of a driver.
const PASSES: &[RuleId] = &[RuleId::GpuCode, RuleId::Driver, RuleId::MinorVersion];
/// The driver is too old for the toolkit: which of the three rules says so does not matter.
const TOO_OLD: &[RuleId] = &[RuleId::Driver, RuleId::MinorVersion, RuleId::ForwardCompat];
/// Something is not known: either the rule that lacks it says so, or the one for it.
const NOT_KNOWN: &[RuleId] = &[RuleId::Driver, RuleId::Requirement, RuleId::PtxVersion, RuleId::Incomplete];

/// One image on one machine.
struct Case {
    name: &'static str,
    needs: Needs,
    target: TargetGpu,
    verdict: RunVerdict,
    /// Rules of which one must say it.
    rules: Vec<RuleId>,
    /// What its sentence must hold: one of the words, apart by `|`.
    word: &'static str,
    /// The code that CUDA gives then.
    error: Option<u32>,
    source: &'static str,
}

/// Begins a case: an image on a target as the command line writes it.
fn on(name: &'static str, image: Image, target: &str) -> Case {
    let target = parse_target(Catalog::builtin(), target).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (verdict, rules) = (RunVerdict::Runs, vec![]);
    Case { name, needs: image.0, target, verdict, rules, word: "", error: None, source: "" }
}

impl Case {
    fn is(
        self,
        verdict: RunVerdict,
        rules: impl Into<Rules>,
        word: &'static str,
        source: &'static str,
    ) -> Self {
        Self { verdict, rules: rules.into().0, word, source, ..self }
    }

    fn runs(self, rules: impl Into<Rules>, source: &'static str) -> Self {
        self.is(RunVerdict::Runs, rules, "", source)
    }

    fn fails(self, rules: impl Into<Rules>, word: &'static str, source: &'static str) -> Self {
        self.is(RunVerdict::Fails, rules, word, source)
    }

    fn error(self, code: u32) -> Self {
        Self { error: Some(code), ..self }
    }

    /// As NVML has it.
    fn brand(mut self, brand: &str) -> Self {
        self.target.brand = Some(brand.to_owned());
        self
    }

    /// What is wrong with the engine's answer, if anything.
    fn faults(&self) -> Vec<String> {
        let judgement = judge(&self.needs, &self.target, Catalog::builtin());
        let reasons = &judgement.reasons;
        let mut faults = Vec::new();
        if judgement.verdict != self.verdict {
            faults.push(format!("{} instead of {}", judgement.verdict.as_str(), self.verdict.as_str()));
        }
        if !reasons.is_sorted_by(|one, next| one.verdict >= next.verdict) {
            faults.push("reasons are not sorted, the worst first".to_owned());
        }
        if reasons.first().is_none_or(|first| first.verdict != judgement.verdict) {
            faults.push("the verdict is not that of the first reason".to_owned());
        }
        if !reasons.iter().any(|one| one.verdict == judgement.verdict && one.text == judgement.why) {
            faults.push("`why` is no reason for the verdict".to_owned());
        }
        let said = reasons.iter().find(|reason| {
            reason.verdict == self.verdict
                && self.rules.contains(&reason.rule)
                && self.word.split('|').any(|word| reason.text.to_lowercase().contains(&word.to_lowercase()))
        });
        match said {
            None => faults.push(format!("no reason of {:?} with {:?} says so", self.rules, self.word)),
            Some(reason) if self.error.is_some() && reason.error.map(|error| error.0) != self.error => {
                faults.push(format!("error {:?} instead of {:?}", reason.error, self.error));
            }
            // Only one thing speaks against an image here: it must be the one that is said first.
            Some(reason) if self.verdict == RunVerdict::Fails && reason.text != judgement.why => {
                faults.push("another reason comes first".to_owned());
            }
            Some(_) => {}
        }
        if !faults.is_empty() {
            faults.extend(reasons.iter().map(|reason| {
                let (verdict, rule) = (reason.verdict.as_str(), reason.rule.as_str());
                format!("  {verdict} by {rule}: {} {:?}", reason.text, reason.error)
            }));
        }
        faults
    }
}

/// One rule, or several of which one must say it.
struct Rules(Vec<RuleId>);

impl From<RuleId> for Rules {
    fn from(rule: RuleId) -> Self {
        Self(vec![rule])
    }
}

impl From<&[RuleId]> for Rules {
    fn from(rules: &[RuleId]) -> Self {
        Self(rules.to_vec())
    }
}

/// What an image needs, built up by what it has.
#[derive(Clone)]
struct Image(Needs);

/// A program built with a toolkit, with code such as `sm_90a compute_80@8.4`.
fn built(cuda: &str, code: &str) -> Image {
    let needs = Needs {
        platform: Some("linux/amd64".parse().unwrap()),
        uses_cuda: true,
        versions: vec![version(cuda, true)],
        ..Needs::default()
    };
    Image(needs).file("/app/main", Weight::Decides, code)
}

fn version(cuda: &str, firm: bool) -> CudaNeed {
    CudaNeed {
        version: CudaVersion::parse(cuda).unwrap(),
        who: "libcudart".to_owned(),
        subject: "/app/main".to_owned(),
        evidence: "the program links it".to_owned(),
        firm,
    }
}

/// `sm_90a`, `compute_80@8.4` (with the version of the PTX), `lto_90`.
fn code_of(text: &str) -> GpuCode {
    let (text, isa) = text.split_once('@').map_or((text, None), |(text, isa)| (text, Some(isa)));
    let (kind, arch) = text.split_once('_').unwrap();
    let number = arch.trim_end_matches(['a', 'f']);
    GpuCode {
        arch: number.parse().unwrap(),
        suffix: match &arch[number.len()..] {
            "a" => Some(Suffix::A),
            "f" => Some(Suffix::F),
            _ => None,
        },
        kind: match kind {
            "sm" => GpuKind::Sass,
            "compute" => GpuKind::Ptx,
            _ => GpuKind::Lto,
        },
        isa: isa.map(|isa| {
            let (major, minor) = isa.split_once('.').unwrap();
            (major.parse().unwrap(), minor.parse().unwrap())
        }),
        compression: Compression::None,
        entries: 1,
        bytes: 1024,
        without_kernel: 0,
        uncompressed_bytes: 1024,
    }
}

impl Image {
    fn file(mut self, path: &str, weight: Weight, code: &str) -> Self {
        self.0.code.push(CodeFile {
            path: path.to_owned(),
            what: path.rsplit('/').next().unwrap().to_owned(),
            weight,
            evidence: "a case of the table".to_owned(),
            among_frameworks: false,
            from_sm: None,
            code: code.split_whitespace().map(code_of).collect(),
        });
        self
    }

    /// Callers of the last file do without it below this architecture.
    fn since(mut self, sm: u32) -> Self {
        self.0.code.last_mut().unwrap().from_sm = Some(sm);
        self
    }

    /// Nothing says which CUDA it was built for: the runtime is in the program itself.
    fn unversioned(mut self) -> Self {
        self.0.versions.clear();
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.0.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The processor that it is for.
    fn processor(mut self, architecture: &str) -> Self {
        let platform: Platform = format!("linux/{architecture}").parse().unwrap();
        self.0.platform = Some(platform);
        self
    }

    /// Something in it was built for this version, and may not be used.
    fn perhaps(mut self, cuda: &str) -> Self {
        self.0.versions.insert(0, version(cuda, false));
        self
    }

    /// A forward-compatibility driver, with the drivers of its note.
    fn compat(mut self, cuda: (u32, u32), branch: u32, drivers: Option<&[u32]>) -> Self {
        self.0.compat.push(CompatDriver {
            path: format!("/usr/local/cuda-{}.{}/compat/libcuda.so.{branch}.95.05", cuda.0, cuda.1),
            cuda: Some(cuda),
            branch: Some(branch),
            drivers: drivers.map(<[u32]>::to_vec),
            // As real notes have them: the brands of NVML without GeForce and Titan.
            devices: if drivers.is_some() { vec![1, 2, 7, 8, 9, 10, 11, 12, 13, 14] } else { vec![] },
            forced_by: None,
        });
        self
    }

    /// It stands on every program's loader path.
    fn forced(mut self) -> Self {
        let compat = self.0.compat.last_mut().unwrap();
        compat.forced_by = Some("ENV LD_LIBRARY_PATH".to_owned());
        let folder = compat.path.rsplit_once('/').unwrap().0.to_owned();
        self.folder(&folder)
    }

    fn folder(mut self, path: &str) -> Self {
        let by = "ENV LD_LIBRARY_PATH".to_owned();
        self.0.loader_folders.push(LoaderFolder { path: path.to_owned(), by });
        self
    }

    fn stub(mut self) -> Self {
        let folder = "/usr/local/cuda/lib64/stubs";
        let (path, by) = (format!("{folder}/libcuda.so.1"), "ENV LD_LIBRARY_PATH".to_owned());
        self.0.own_drivers.push(OwnDriver { path, stub: true, by });
        self.folder(folder)
    }

    fn cudnn(mut self, version: &str, cuda: u32, firm: bool) -> Self {
        let major = version.split('.').next().unwrap();
        self.0.cudnn.push(UsedCudnn {
            version: version.to_owned(),
            path: format!("/usr/lib/x86_64-linux-gnu/libcudnn.so.{major}"),
            cuda_major: Some(cuda),
            firm,
        });
        self
    }

    fn incomplete(mut self) -> Self {
        self.0.incomplete = Some("layer 3 could not be read".to_owned());
        self
    }
}

#[test]
fn verdicts_are_those_of_the_documents() {
    let cases: Vec<Case> = [code::cases(), drivers::cases(), starts::cases()].into_iter().flatten().collect();
    assert!(cases.len() >= 100, "{}", cases.len());
    let mut names: Vec<&str> = cases.iter().map(|case| case.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "two cases have one name");
    let mut wrong = Vec::new();
    for case in &cases {
        assert!(!case.source.is_empty() && !case.rules.is_empty(), "{}", case.name);
        let faults = case.faults();
        if !faults.is_empty() {
            wrong.push(format!("{} [{}]\n    {}", case.name, case.source, faults.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn every_machine_can_be_named_and_gke_has_those_of_its_cloud() {
    let catalog = Catalog::builtin();
    let named = |id: &str| parse_target(catalog, id).unwrap_or_else(|error| panic!("{id}: {error}"));
    for target in catalog.targets() {
        assert_eq!(Some(named(&target.id).sm), target.sm(), "{}", target.id);
    }
    let mut on_gke = 0;
    for machine in catalog.machines() {
        let sm = catalog.target(&machine.target).unwrap().sm();
        for size in &machine.sizes {
            for id in [size.id.clone(), size.id.to_ascii_uppercase()] {
                let target = named(&id);
                assert_eq!((Some(target.sm), target.gpus.as_deref()), (sm, Some(size.gpus.as_str())), "{id}");
                assert_eq!(target.driver_folder, None, "{id}");
            }
            if let Some(rest) = size.id.strip_prefix("gcp:") {
                on_gke += 1;
                let target = named(&format!("gke:{rest}"));
                assert_eq!((target.id.as_str(), Some(target.sm)), (format!("gke:{rest}").as_str(), sm));
                assert_eq!(target.driver_folder.as_deref(), Some("/usr/local/nvidia/lib64"), "{rest}");
                // GKE starts machines of the cloud, so that what drives one drives the other.
                assert_eq!(target.driver, named(&size.id).driver, "{rest}");
            }
        }
    }
    assert!(on_gke > 30, "{on_gke}");
    let grace = named("gke:a4x-highgpu-4g");
    assert_eq!((grace.architecture.as_deref(), grace.gpus.as_deref()), (Some("arm64"), Some("4")));
    assert_eq!(named("aws:g5g.xlarge").architecture.as_deref(), Some("arm64"));
    let grid = named("azure:Standard_NV18ads_A10_v5");
    assert_eq!(grid.driver.map(|driver| driver.version).as_deref(), Some("550"));
}
