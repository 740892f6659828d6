use super::*;

#[test]
fn without_a_container_toolkit_the_loader_has_to_be_told() {
    let gke = TargetGpu { driver_folder: Some("/usr/local/nvidia/lib64".into()), ..server(80, "550.54.14") };
    let mut needs = image("12.4", vec![sass(80)]);
    needs.environment.push(("NVIDIA_REQUIRE_CUDA".into(), "cuda>=99".into()));
    needs.environment.push(("NVIDIA_DRIVER_CAPABILITIES".into(), "utility".into()));
    let judgement = by(&needs, &gke, Fails, RuleId::DriverPath);
    assert!(
        judgement.reasons[0].hint.as_ref().unwrap().contains("ENV LD_LIBRARY_PATH=/usr/local/nvidia/lib64:")
    );
    let folder = |path: &str| LoaderFolder { path: path.into(), by: "ENV LD_LIBRARY_PATH".into() };
    needs.loader_folders = vec![folder("/usr/local/nvidia/lib"), folder("/usr/local/nvidia/lib64/")];
    let judgement = told(&needs, &gke, Runs);
    assert!(judgement.reasons.iter().any(|reason| reason.rule == RuleId::Requirement), "{judgement:#?}");
    // No container toolkit loads a compatibility driver on GKE either.
    let mut newer = with_compat(needs, (13, 0), 580, Some(&[550]));
    newer.versions = vec![need("13.0", true)];
    by(&newer, &gke, Unknown, RuleId::ForwardCompat);
    by(&forced(newer), &gke, RunsWithCompat, RuleId::ForwardCompat);
}

#[test]
fn libraries_in_the_image_stand_in_for_the_driver() {
    let mut needs = image("12.4", vec![sass(80)]);
    let own = |stub| OwnDriver { path: "/x/libcuda.so.1".into(), stub, by: "ENV LD_LIBRARY_PATH".into() };
    needs.own_drivers = vec![own(false)];
    by(&needs, &server(80, "550.54.14"), Unknown, RuleId::OwnDriver);
    needs.own_drivers.push(own(true));
    let judgement = by(&needs, &server(80, "550.54.14"), Fails, RuleId::OwnDriver);
    assert_eq!(judgement.reasons[0].error.unwrap().0, 34);
}

#[test]
fn requirements_are_looked_at_before_anything_starts() {
    let requires = |value: &str| Needs {
        environment: vec![("NVIDIA_REQUIRE_CUDA".into(), value.into())],
        ..image("12.0", vec![sass(80)])
    };
    let judgement = by(
        &requires("cuda>=12.6 brand=tesla,driver>=470,driver<471"),
        &server(80, "550.54.14"),
        Fails,
        RuleId::Requirement,
    );
    assert!(
        judgement.why.contains("unsatisfied condition: cuda>=12.6, please update your driver to a newer version, or use an earlier cuda container"),
        "{}",
        judgement.why
    );
    told(
        &requires("cuda>=12.6 brand=tesla,driver>=550,driver<551 brand=nvidia,driver>=550,driver<551"),
        &server(80, "550"),
        Runs,
    );
    // NVML reports tesla or nvidia for data-centre GPUs.
    by(
        &requires("cuda>=12.6 brand=tesla,driver>=550,driver<551"),
        &server(80, "550"),
        Unknown,
        RuleId::Requirement,
    );
    let measured = TargetGpu { brand: Some("tesla".into()), ..server(80, "550") };
    told(&requires("cuda>=12.6 brand=tesla,driver>=550,driver<551"), &measured, Runs);
    by(&requires("cuda>=12.6 brand=tesla"), &geforce(86, "550.54.14"), Fails, RuleId::Requirement);
    by(&requires("cuda~12"), &server(80, "550.54.14"), Unknown, RuleId::Requirement);
    let mut disabled = requires("cuda>=99");
    disabled.environment.push(("NVIDIA_DISABLE_REQUIRE".into(), "true".into()));
    told(&disabled, &server(80, "550.54.14"), Runs);
    let variable = |name: &str, value: &str| Needs {
        environment: vec![(name.into(), value.into())],
        ..image("12.0", vec![sass(80)])
    };
    by(&variable("CUDA_VERSION", "12.6.3"), &server(80, "550.54.14"), Fails, RuleId::Requirement);
    told(&variable("CUDA_VERSION", "12.4.1"), &server(80, "550.54.14"), Runs);
    by(&variable("CUDA_VERSION", "none"), &server(80, "550.54.14"), Unknown, RuleId::Requirement);
    told(&variable("NVIDIA_REQUIRE_JETPACK", "csv-mounts=all"), &server(80, "550.54.14"), Runs);
    by(
        &variable("NVIDIA_REQUIRE_DRIVER", "driver>=560"),
        &server(80, "550.54.14"),
        Fails,
        RuleId::Requirement,
    );
}

#[test]
fn capabilities_without_compute_depend_on_the_container_toolkit() {
    let with = |name: &str, value: &str| Needs {
        environment: vec![(name.into(), value.into())],
        ..image("12.0", vec![sass(80)])
    };
    let target = server(80, "550.54.14");
    by(&with("NVIDIA_DRIVER_CAPABILITIES", "utility"), &target, Unknown, RuleId::Capabilities);
    for value in ["", "all", "compute,utility", "utility,compute"] {
        told(&with("NVIDIA_DRIVER_CAPABILITIES", value), &target, Runs);
    }
    for value in ["void", "none", ""] {
        let judgement = told(&with("NVIDIA_VISIBLE_DEVICES", value), &target, Runs);
        assert!(judgement.reasons.iter().any(|reason| reason.hint.is_some()), "{judgement:#?}");
        assert!(judgement.why.starts_with("All deciding files"), "{}", judgement.why);
    }
}

#[test]
fn images_are_for_one_processor() {
    let arm = TargetGpu { architecture: Some("arm64".into()), ..server(80, "550.54.14") };
    let needs = image("12.4", vec![sass(80)]);
    let judgement = by(&needs, &arm, Fails, RuleId::Platform);
    assert_eq!(judgement.reasons.len(), 1);
    let same = Needs { platform: Some("linux/aarch64".parse().unwrap()), ..needs.clone() };
    told(&same, &arm, Runs);
    let intel = TargetGpu { architecture: Some("x86_64".into()), ..arm };
    told(&needs, &intel, Runs);
    let windows = Needs { platform: Some("windows/amd64".parse().unwrap()), ..needs.clone() };
    by(&windows, &server(80, "550.54.14"), Fails, RuleId::Platform);
    let unsaid = Needs { platform: Some(Platform::default()), ..needs };
    told(&unsaid, &intel, Runs);
}

#[test]
fn long_and_strange_values_cost_little_and_are_unknown() {
    let long = "cuda>=12.0,".repeat(10_000);
    for (name, value) in [
        ("NVIDIA_REQUIRE_CUDA", long.as_str()),
        ("NVIDIA_REQUIRE_X", &"=".repeat(100_000)),
        ("CUDA_VERSION", &"9".repeat(100_000)),
        ("NVIDIA_DRIVER_CAPABILITIES", &"\u{202e}x,".repeat(30_000)),
    ] {
        let environment = vec![(name.to_owned(), value.to_owned())];
        let judgement =
            told(&Needs { environment, ..image("12.0", vec![sass(80)]) }, &server(80, "550.54.14"), Unknown);
        assert!(judgement.why.len() < 500 && !judgement.why.contains('\u{202e}'), "{}", judgement.why);
    }
    let many = (0..1000).map(|number| (format!("NVIDIA_REQUIRE_{number}"), "cuda>=12.0".to_owned()));
    let needs = Needs { environment: many.collect(), ..image("12.0", vec![sass(80)]) };
    assert_eq!(told(&needs, &server(80, "550.54.14"), Unknown).reasons.len(), 3);
}
