mod code;
mod driver;
mod place;

use super::{Judge, judge};
use crate::base::Platform;
use crate::cuda::GpuCode;
use crate::cuda::catalog::{Catalog, GpuClass};
use crate::cuda::compat::{
    CodeFile, CompatDriver, CudaNeed, CudaVersion, DriverFrom, Judgement, LoaderFolder, Needs, OwnDriver,
    RuleId, RunVerdict, TargetDriver, TargetGpu, UsedCudnn, Weight, requires,
};
use crate::formats::fatbin::{Compression, GpuKind, Suffix};

use RunVerdict::{Fails, Runs, RunsWithCompat, RunsWithJit, Unknown};

fn row(kind: GpuKind, arch: u32, suffix: Option<Suffix>, isa: Option<(u16, u16)>) -> GpuCode {
    GpuCode {
        arch,
        suffix,
        kind,
        isa,
        compression: Compression::None,
        entries: 1,
        bytes: 100,
        without_kernel: 0,
        uncompressed_bytes: 100,
    }
}

fn sass(arch: u32) -> GpuCode {
    row(GpuKind::Sass, arch, None, None)
}

fn ptx(arch: u32, isa: (u16, u16)) -> GpuCode {
    row(GpuKind::Ptx, arch, None, Some(isa))
}

fn file(what: &str, path: &str, weight: Weight, code: Vec<GpuCode>) -> CodeFile {
    CodeFile {
        path: path.into(),
        what: what.into(),
        weight,
        evidence: String::new(),
        from_sm: None,
        among_frameworks: false,
        code,
    }
}

fn app(code: Vec<GpuCode>) -> CodeFile {
    file("the application", "/app/server", Weight::Decides, code)
}

fn need(version: &str, firm: bool) -> CudaNeed {
    CudaNeed {
        version: CudaVersion::parse(version).unwrap(),
        who: format!("torch 2.9.1+cu{version}"),
        subject: "torch".into(),
        evidence: String::new(),
        firm,
    }
}

/// An image built for this CUDA version, with this code.
fn image(version: &str, code: Vec<GpuCode>) -> Needs {
    Needs {
        platform: Some("linux/amd64".parse().unwrap()),
        uses_cuda: true,
        versions: vec![need(version, true)],
        code: vec![app(code)],
        ..Needs::default()
    }
}

fn with_compat(needs: Needs, cuda: (u32, u32), branch: u32, drivers: Option<&[u32]>) -> Needs {
    let compat = CompatDriver {
        path: format!("/usr/local/cuda-{}.{}/compat/libcuda.so.{branch}.65.06", cuda.0, cuda.1),
        cuda: Some(cuda),
        branch: Some(branch),
        drivers: drivers.map(<[u32]>::to_vec),
        ..CompatDriver::default()
    };
    Needs { compat: vec![compat], ..needs }
}

fn forced(mut needs: Needs) -> Needs {
    for compat in &mut needs.compat {
        compat.forced_by = Some("ENV LD_LIBRARY_PATH".into());
    }
    needs
}

fn gpu(sm: u32, class: GpuClass, driver: &str) -> TargetGpu {
    TargetGpu {
        id: "test".into(),
        name: "GPU".into(),
        sm,
        class: Some(class),
        driver: (!driver.is_empty())
            .then(|| TargetDriver { version: driver.into(), from: DriverFrom::Stated }),
        ..TargetGpu::default()
    }
}

fn server(sm: u32, driver: &str) -> TargetGpu {
    gpu(sm, GpuClass::DataCenter, driver)
}

fn geforce(sm: u32, driver: &str) -> TargetGpu {
    gpu(sm, GpuClass::Geforce, driver)
}

#[track_caller]
fn told(needs: &Needs, target: &TargetGpu, verdict: RunVerdict) -> Judgement {
    let judgement = judge(needs, target, Catalog::builtin());
    assert_eq!(judgement.verdict, verdict, "{judgement:#?}");
    assert_eq!(judgement.why, judgement.reasons[0].text, "{judgement:#?}");
    assert!(judgement.reasons.is_sorted_by(|one, other| one.verdict >= other.verdict), "{judgement:#?}");
    for reason in &judgement.reasons {
        assert!(reason.text.ends_with('.') && !reason.text.contains(".."), "{}", reason.text);
        assert!(!reason.text.contains("  "), "{}", reason.text);
    }
    judgement
}

#[track_caller]
fn by(needs: &Needs, target: &TargetGpu, verdict: RunVerdict, rule: RuleId) -> Judgement {
    let judgement = told(needs, target, verdict);
    assert_eq!(judgement.reasons[0].rule, rule, "{judgement:#?}");
    judgement
}

#[test]
fn what_runs_says_what_was_proven() {
    let judgement = told(&image("12.4", vec![sass(80)]), &server(86, "550.54.14"), Runs);
    assert_eq!(
        judgement.why,
        "All deciding files contain SASS that runs on sm_86. Driver 550.54.14 supports CUDA 12.4."
    );
    let usual = TargetGpu {
        driver: Some(TargetDriver { version: "550".into(), from: DriverFrom::Usual }),
        ..server(80, "")
    };
    let judgement = told(&image("12.4", vec![sass(80)]), &usual, Runs);
    assert!(
        judgement.why.contains("Driver 550 (typical for this target) supports CUDA"),
        "{}",
        judgement.why
    );
}

#[test]
fn without_cuda_it_runs_and_what_was_not_read_may_need_more() {
    by(&Needs::default(), &server(80, "550.54.14"), Runs, RuleId::NoCuda);
    let unread = |needs: Needs| Needs { incomplete: Some("layer 3 could not be read".into()), ..needs };
    by(&unread(Needs::default()), &server(80, "550.54.14"), Unknown, RuleId::Incomplete);
    by(&unread(image("12.4", vec![sass(80)])), &server(80, "550.54.14"), Unknown, RuleId::Incomplete);
    // An unread layer may contain the compatibility driver.
    by(&unread(image("13.0", vec![sass(80)])), &server(80, "550.54.14"), Unknown, RuleId::Driver);
    by(&unread(image("12.4", vec![sass(70)])), &server(70, "590.44.01"), Fails, RuleId::DriverDropped);
    told(&unread(image("12.4", vec![sass(80)])), &server(70, "550.54.14"), Unknown);
}

#[test]
fn the_figures_of_an_image_follow_from_its_needs() {
    let catalog = Catalog::builtin();
    let figures = requires(&image("12.4", vec![sass(80), sass(90), ptx(90, (8, 4))]), catalog);
    assert_eq!(figures.cuda.as_deref(), Some("12.4"));
    assert_eq!(figures.min_driver.as_deref(), Some("550.54.14"));
    assert_eq!(figures.min_driver_minor_compat.as_deref(), Some("525.60.13"));
    assert_eq!(figures.sass, ["sm_80", "sm_86", "sm_89", "sm_90"]);
    assert!(figures.ptx.contains(&"sm_120".to_owned()) && !figures.ptx.contains(&"sm_75".to_owned()));
    let old = requires(&image("11.0", vec![]), catalog);
    assert_eq!(old.min_driver, old.min_driver_minor_compat);
    assert!(old.sass.is_empty() && old.ptx.is_empty());
    assert_eq!(requires(&Needs::default(), catalog), super::super::Requires::default());
}

#[test]
fn every_target_is_judged_alike_alone_and_together() {
    let catalog = Catalog::builtin();
    let mut needs = image("12.8", vec![sass(80), ptx(80, (8, 7))]);
    for number in 0..200 {
        let path = format!("/lib/{number}.so");
        needs.code.push(file(
            "torch",
            &path,
            Weight::MayDecide,
            vec![sass(70 + number % 7), ptx(75, (8, 7))],
        ));
    }
    let judge_all = Judge::new(&needs, catalog);
    for target in TargetGpu::all(catalog) {
        let judgement = judge_all.judge(&target);
        assert_eq!(judgement, judge(&needs, &target, catalog));
        assert!(!judgement.reasons.is_empty());
        assert!(judgement.reasons.len() < 12, "{judgement:#?}");
    }
}
