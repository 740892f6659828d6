use super::*;

#[test]
fn minor_version_compatibility_begins_with_the_driver_of_its_major() {
    for (version, driver, verdict) in [
        ("11.8", "450.80.02", Runs),
        ("11.8", "450.51.06", Fails),
        ("11.0", "450.51.06", Runs),
        ("12.4", "525.60.13", Runs),
        ("12.4", "525.53", Fails),
        // Same branch as the driver of 12.0, but older than that driver, which is 525.60.13.
        ("12.0", "525.60.11", Fails),
        ("12.4", "520.61.05", Fails),
        ("12.4", "525", Runs),
        ("13.1", "580", Runs),
        ("13.1", "575.57.08", Fails),
        ("10.2", "418.39", Fails),
        ("10.1", "418.39", Runs),
        ("13", "580.65.06", Runs),
        ("12", "580.65.06", Runs),
        ("13", "575.57.08", Fails),
        // Later than all known drivers and toolkits.
        ("13.4", "700.1", Runs),
        ("13.9", "700.1", Runs),
        ("14.0", "700.1", Unknown),
        ("14.0", "580.65.06", Fails),
    ] {
        let needs = image(version, vec![sass(75)]);
        let judgement = judge(&needs, &server(75, driver), Catalog::builtin());
        assert_eq!(judgement.verdict, verdict, "{version} on {driver}: {judgement:#?}");
    }
}

#[test]
fn a_driver_that_is_too_old_is_told_with_the_one_that_is_needed() {
    let judgement = by(&image("13.0", vec![sass(80)]), &server(80, "550.54.14"), Fails, RuleId::Driver);
    let reason = &judgement.reasons[0];
    assert_eq!(reason.error, Some((35, "cudaErrorInsufficientDriver")));
    assert!(reason.text.contains("CUDA 13.0 (torch") && reason.text.contains("580.65.06"), "{}", reason.text);
    assert!(reason.hint.as_ref().unwrap().contains("580.65.06"));
    assert_eq!(reason.subject.as_deref(), Some("torch"));
    let maybe =
        Needs { versions: vec![need("13.0", false), need("12.0", true)], ..image("12.0", vec![sass(80)]) };
    by(&maybe, &server(80, "550.54.14"), Unknown, RuleId::Driver);
}

#[test]
fn the_compatibility_driver_helps_on_data_centre_gpus_that_it_names() {
    let plain = image("13.0", vec![sass(80), sass(86)]);
    let noted = |drivers: &[u32]| with_compat(plain.clone(), (13, 0), 580, Some(drivers));
    let listed = noted(&[535, 550, 570, 575, 580]);
    by(&listed, &server(80, "550.54.14"), RunsWithCompat, RuleId::ForwardCompat);
    let judgement = by(&listed, &geforce(86, "550.54.14"), Fails, RuleId::ForwardCompat);
    assert_eq!(judgement.reasons[0].error.unwrap().0, 804);
    let judgement = by(&noted(&[535, 575]), &server(80, "550.54.14"), Fails, RuleId::ForwardCompat);
    assert_eq!(judgement.reasons[0].error.unwrap().0, 803);
    by(&listed, &gpu(86, GpuClass::Workstation, "550.54.14"), Unknown, RuleId::ForwardCompat);
    by(&listed, &TargetGpu { class: None, ..server(86, "550.54.14") }, Unknown, RuleId::ForwardCompat);
    // Without a note the rule for long-term branches applies.
    let bare = with_compat(plain.clone(), (13, 0), 580, None);
    let judgement = by(&bare, &server(80, "550.54.14"), RunsWithCompat, RuleId::ForwardCompat);
    assert!(judgement.why.contains("according to the rule"), "{}", judgement.why);
    by(&bare, &server(80, "545.23.08"), Unknown, RuleId::ForwardCompat);
    // A compatibility driver that is too old does not help.
    let older = with_compat(plain, (12, 8), 570, Some(&[550]));
    let judgement = by(&older, &server(80, "550.54.14"), Fails, RuleId::ForwardCompat);
    assert_eq!(judgement.reasons[0].error.unwrap().0, 35);
    assert!(judgement.why.contains("12.8"), "{}", judgement.why);
    // Not required.
    told(&listed, &server(80, "580.95.05"), Runs);
}

#[test]
fn ptx_may_need_the_compatibility_driver_where_the_rest_does_not() {
    let needs = with_compat(image("12.8", vec![ptx(80, (8, 7))]), (12, 8), 570, Some(&[535, 550, 570]));
    by(&needs, &server(80, "550.54.14"), RunsWithCompat, RuleId::PtxVersion);
    // The same PTX is compiled if CUDA requires the compatibility driver anyway.
    let needs = with_compat(image("13.0", vec![ptx(80, (9, 0))]), (13, 0), 580, Some(&[550]));
    let judgement = told(&needs, &server(80, "550.54.14"), RunsWithCompat);
    assert!(judgement.reasons.iter().any(|reason| reason.verdict == RunsWithJit), "{judgement:#?}");
}

#[test]
fn on_geforce_a_compatibility_driver_that_is_not_needed_can_break_what_runs() {
    let needs = with_compat(image("12.8", vec![sass(86)]), (12, 8), 570, Some(&[535, 550, 570]));
    let judgement = by(&needs, &geforce(86, "550.54.14"), Unknown, RuleId::ForwardCompat);
    assert_eq!(judgement.reasons[0].error.unwrap().0, 804);
    told(&needs, &geforce(86, "570.124.06"), Runs);
    told(&needs, &geforce(86, "545.23.08"), Runs);
    told(&needs, &server(86, "550.54.14"), Runs);
}

#[test]
fn a_forced_compatibility_driver_is_taken_everywhere() {
    let needs = forced(with_compat(image("12.4", vec![sass(80)]), (12, 8), 570, Some(&[535, 550, 570])));
    by(&needs, &server(80, "550.54.14"), RunsWithCompat, RuleId::ForwardCompat);
    for target in [
        server(80, "580.65.06"),
        server(80, "525.60.13"),
        TargetGpu { class: None, ..server(80, "580.65.06") },
    ] {
        let judgement = by(&needs, &target, Fails, RuleId::ForwardCompat);
        assert_eq!(judgement.reasons[0].error.unwrap().0, 803);
    }
    let judgement = by(&needs, &geforce(86, "580.65.06"), Fails, RuleId::ForwardCompat);
    assert_eq!(judgement.reasons[0].error.unwrap().0, 804);
    by(&needs, &geforce(86, "570"), Unknown, RuleId::ForwardCompat);
    // The same version as the machine's driver changes nothing.
    told(&needs, &geforce(86, "570.65.06"), Runs);
    // It also replaces the machine's driver for versions that are newer than itself.
    let newer = Needs { versions: vec![need("13.0", true)], ..needs };
    by(&newer, &server(80, "550.54.14"), Fails, RuleId::Driver);
}

#[test]
fn drivers_drive_gpus_of_their_time() {
    let needs = image("11.8", vec![sass(70), sass(100)]);
    told(&needs, &server(70, "580.65.06"), Runs);
    let judgement = by(&needs, &server(70, "590.44.01"), Fails, RuleId::DriverDropped);
    assert_eq!(judgement.reasons[0].error.unwrap().0, 100);
    by(&needs, &server(100, "535.104.05"), Fails, RuleId::DriverDropped);
    told(&needs, &server(100, "570.26"), Runs);
}

#[test]
fn without_a_driver_it_is_told_which_one_is_needed() {
    let needs = image("12.4", vec![sass(80)]);
    let judgement = by(&needs, &server(80, ""), Unknown, RuleId::Driver);
    assert!(judgement.why.contains("525.60.13") && judgement.why.contains("550.54.14"), "{}", judgement.why);
    by(&needs, &server(90, ""), Fails, RuleId::GpuCode);
    let required = Needs { environment: vec![("CUDA_VERSION".into(), "12.4.1".into())], ..needs };
    by(&required, &server(80, ""), Unknown, RuleId::Driver);
}

#[test]
fn jetson_is_judged_by_its_cuda_version() {
    let orin = TargetGpu { cuda: Some((12, 6)), ..gpu(87, GpuClass::Jetson, "540.4.0") };
    let needs = |version: &str| image(version, vec![sass(87)]);
    told(&needs("12.6"), &orin, Runs);
    told(&needs("11.4"), &orin, Runs);
    by(&needs("12.8"), &orin, Unknown, RuleId::Driver);
    by(&needs("13.0"), &orin, Fails, RuleId::Driver);
    by(&needs("12.6"), &TargetGpu { cuda: None, ..orin }, Unknown, RuleId::Driver);
}

#[test]
fn code_of_an_unknown_version_runs_where_every_version_does() {
    let unversioned = Needs { versions: vec![], ..image("12.4", vec![sass(80)]) };
    by(&unversioned, &server(80, "580.65.06"), Runs, RuleId::GpuCode);
    by(&unversioned, &server(80, "550.54.14"), Unknown, RuleId::Driver);
    // Without code there is no requirement for the driver.
    told(&Needs { code: vec![], ..unversioned }, &server(80, "550.54.14"), Runs);
}
