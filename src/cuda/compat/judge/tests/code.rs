use super::*;

#[test]
fn sass_runs_within_its_major_version_only() {
    let needs = image("12.4", vec![sass(80)]);
    let judgement = by(&needs, &server(70, "550.54.14"), Fails, RuleId::GpuCode);
    assert_eq!(judgement.reasons[0].error, Some((209, "CUDA_ERROR_NO_BINARY_FOR_GPU")));
    assert_eq!(
        judgement.reasons[0].text,
        "No code for compute capability 7.0 in server (application): it has SASS for sm_80, no PTX."
    );
    told(&needs, &server(86, "550.54.14"), Runs);
    told(&needs, &server(89, "550.54.14"), Runs);
    told(&needs, &server(90, "550.54.14"), Fails);
    let hopper = image("12.4", vec![row(GpuKind::Sass, 90, Some(Suffix::A), None)]);
    told(&hopper, &server(90, "550.54.14"), Runs);
    by(&hopper, &server(100, "580.65.06"), Fails, RuleId::GpuCode);
    let family = image("12.9", vec![row(GpuKind::Sass, 100, Some(Suffix::F), None)]);
    told(&family, &server(103, "580.65.06"), Runs);
    told(&family, &server(120, "580.65.06"), Fails);
}

#[test]
fn thor_runs_code_of_either_of_its_names() {
    let thor = TargetGpu { cuda: Some((13, 0)), ..gpu(110, GpuClass::Jetson, "580.00") };
    told(&image("12.8", vec![row(GpuKind::Sass, 101, Some(Suffix::A), None)]), &thor, Runs);
    told(&image("12.8", vec![sass(100)]), &thor, Fails);
}

#[test]
fn intermediate_code_for_linking_is_no_code_for_a_gpu() {
    by(
        &image("12.4", vec![row(GpuKind::Lto, 90, None, None)]),
        &server(90, "550.54.14"),
        Fails,
        RuleId::GpuCode,
    );
}

#[test]
fn ptx_is_compiled_where_the_driver_knows_its_version() {
    let needs = image("12.4", vec![sass(80), ptx(80, (8, 4))]);
    let judgement = by(&needs, &server(90, "550.54.14"), RunsWithJit, RuleId::GpuCode);
    assert!(judgement.reasons[0].hint.as_ref().unwrap().contains("ComputeCache"));
    let judgement = by(&needs, &server(90, "525.60.13"), Fails, RuleId::PtxVersion);
    assert_eq!(judgement.reasons[0].error.unwrap().0, 222);
    assert!(judgement.why.contains("8.4") && judgement.why.contains("8.0"), "{}", judgement.why);
    // Minor-version compatibility is sufficient if there is SASS.
    let judgement = by(&needs, &server(80, "525.60.13"), Runs, RuleId::MinorVersion);
    assert!(judgement.why.contains("525.60.13"), "{}", judgement.why);
    told(&image("12.4", vec![ptx(80, (8, 0))]), &server(90, "525.60.13"), RunsWithJit);
    told(&image("12.4", vec![row(GpuKind::Ptx, 80, None, None)]), &server(90, "550.54.14"), Unknown);
}

#[test]
fn files_count_by_how_much_they_decide() {
    let torch = |name: &str, weight, code| file("torch 2.9.1", &format!("/lib/{name}.so"), weight, code);
    let mut needs = image("12.4", vec![]);
    needs.code = vec![
        torch("a", Weight::Decides, vec![sass(90)]),
        torch("b", Weight::MayDecide, vec![sass(80)]),
        torch("c", Weight::MayDecide, vec![sass(80)]),
        torch("d", Weight::MayDecide, vec![sass(80), sass(75)]),
    ];
    let judgement = by(&needs, &server(90, "550.54.14"), Unknown, RuleId::GpuCode);
    assert_eq!(judgement.reasons.len(), 3, "{judgement:#?}");
    assert!(
        judgement.why.starts_with(
            "No code for compute capability 9.0 in b.so and 2 more (torch 2.9.1): they have SASS for sm_80"
        ),
        "{}",
        judgement.why
    );
    assert_eq!(judgement.reasons[0].subject.as_deref(), Some("/lib/b.so"));
    for file in &mut needs.code[1..] {
        file.weight = Weight::Optional;
    }
    told(&needs, &server(90, "550.54.14"), Runs);
    // A library that requires a later GPU does not count on this one.
    needs.code[1] = CodeFile { weight: Weight::Decides, from_sm: Some(100), ..needs.code[1].clone() };
    told(&needs, &server(90, "550.54.14"), Runs);
    needs.code[1].from_sm = Some(90);
    told(&needs, &server(90, "550.54.14"), Fails);
    // PTX of files that may not run is a remark, unless there is no other code.
    needs.code = vec![
        torch("a", Weight::Decides, vec![sass(90)]),
        torch("b", Weight::MayDecide, vec![ptx(80, (8, 0))]),
    ];
    told(&needs, &server(90, "550.54.14"), Runs);
    needs.code.remove(0);
    told(&needs, &server(90, "550.54.14"), RunsWithJit);
}

#[test]
fn files_for_single_architectures_are_chosen_by_who_opens_them() {
    let only = |name: &str, arch| {
        file(
            "flash",
            &format!("/lib/{name}.so"),
            Weight::MayDecide,
            vec![row(GpuKind::Sass, arch, Some(Suffix::A), None)],
        )
    };
    let mut needs = image("12.8", vec![]);
    needs.code = vec![only("hopper", 90), only("blackwell", 100)];
    told(&needs, &server(90, "570.26"), Runs);
    told(&needs, &server(100, "570.26"), Runs);
    told(&needs, &server(80, "570.26"), Unknown);
    needs.code.push(file("flash", "/lib/all.so", Weight::Decides, vec![sass(80)]));
    told(&needs, &server(80, "570.26"), Runs);
    // Code of another owner does not cover it.
    needs.code[2].what = "torch".into();
    told(&needs, &server(80, "570.26"), Unknown);
    // A file that the image starts is not selected by GPU.
    needs.code[2].what = "flash".into();
    needs.code[0].weight = Weight::Decides;
    told(&needs, &server(80, "570.26"), Fails);
}

#[test]
fn of_several_frameworks_one_may_be_the_wrong_one() {
    let one = |what: &str, arch, among_frameworks| CodeFile {
        among_frameworks,
        ..file(what, &format!("/lib/{what}.so"), Weight::Decides, vec![sass(arch)])
    };
    let mut needs = image("12.8", vec![]);
    needs.code = vec![one("torch", 90, true), one("faiss", 80, true)];
    told(&needs, &server(90, "570.26"), Unknown);
    told(&needs, &server(70, "570.26"), Fails);
    needs.code[1].among_frameworks = false;
    told(&needs, &server(90, "570.26"), Fails);
}

#[test]
fn code_for_desktops_is_not_for_boards() {
    let needs = image("12.2", vec![sass(80)]);
    let board =
        |cuda| TargetGpu { class: Some(GpuClass::Jetson), driver: None, cuda: Some(cuda), ..server(87, "") };
    by(&needs, &board((12, 6)), Fails, RuleId::GpuCode);
    by(&needs, &board((13, 0)), Unknown, RuleId::GpuCode);
}

#[test]
fn many_reasons_are_cut_and_counted() {
    let mut needs = image("12.8", vec![]);
    needs.code =
        (0..300).map(|at| file(&at.to_string(), "/lib/x.so", Weight::MayDecide, vec![sass(80)])).collect();
    let judgement = told(&needs, &server(90, "570.26"), Unknown);
    assert!(judgement.reasons.len() < 110, "{}", judgement.reasons.len());
    assert!(judgement.reasons.iter().any(|reason| reason.text.contains("more reasons")));
}

#[test]
fn cudnn_has_code_from_some_gpu_on() {
    let with = |version: &str, firm| Needs {
        cudnn: vec![UsedCudnn {
            version: version.into(),
            path: "/lib/libcudnn.so.9".into(),
            cuda_major: Some(12),
            firm,
        }],
        ..image("12.4", vec![sass(70), sass(75)])
    };
    by(&with("9.17.0", true), &server(70, "550.54.14"), Fails, RuleId::Cudnn);
    by(&with("9.17.0", false), &server(70, "550.54.14"), Unknown, RuleId::Cudnn);
    told(&with("9.10.2", true), &server(70, "550.54.14"), Runs);
    told(&with("9.17.0", true), &server(75, "550.54.14"), Runs);
    // Later than its support matrix.
    let newer = |version: &str| Needs { code: vec![app(vec![sass(100)])], ..with(version, true) };
    by(&newer("8.9.7"), &server(100, "580.65.06"), Unknown, RuleId::Cudnn);
    told(&newer("9.17.0"), &server(103, "580.65.06"), Runs);
}
