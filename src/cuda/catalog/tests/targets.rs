use super::*;

/// GPU targets of the machine types with this id prefix, and the GPU counts of each.
fn family(start: &str) -> BTreeSet<(&'static str, Vec<&'static str>)> {
    catalog()
        .machines()
        .iter()
        .filter_map(|machine| {
            let sizes = machine.sizes.iter().filter(|size| size.id.starts_with(start));
            let gpus: Vec<&str> = sizes.map(|size| size.gpus.as_str()).collect();
            (!gpus.is_empty()).then_some((machine.target.as_str(), gpus))
        })
        .collect()
}

#[test]
fn every_family_has_its_gpus() {
    for (start, target, gpus) in [
        ("azure:Standard_NV12s_v3", "gpu:m60", "1"),
        ("azure:Standard_NC6s_v3", "gpu:v100-16", "1"),
        ("azure:Standard_ND40rs_v2", "gpu:v100-32", "8"),
        ("azure:Standard_NC16as_T4_v3", "gpu:t4", "1"),
        ("azure:Standard_NC64as_T4_v3", "gpu:t4", "4"),
        ("azure:Standard_NC24ads_A100_v4", "gpu:a100-80", "1"),
        ("azure:Standard_NC48ads_A100_v4", "gpu:a100-80", "2"),
        ("azure:Standard_NC96ads_A100_v4", "gpu:a100-80", "4"),
        ("azure:Standard_ND96asr_v4", "gpu:a100-40", "8"),
        ("azure:Standard_ND96amsr_A100_v4", "gpu:a100-80", "8"),
        ("azure:Standard_NC8ads_A10_v4", "gpu:a10", "1"),
        ("azure:Standard_NV6ads_A10_v5", "gpu:a10", "1/6"),
        ("azure:Standard_NV12ads_A10_v5", "gpu:a10", "1/3"),
        ("azure:Standard_NV18ads_A10_v5", "gpu:a10", "1/2"),
        ("azure:Standard_NV36ad", "gpu:a10", "1 1"),
        ("azure:Standard_NV72ads_A10_v5", "gpu:a10", "2"),
        ("azure:Standard_NC40ads_H100_v5", "gpu:h100-nvl", "1"),
        ("azure:Standard_NC80adis_H100_v5", "gpu:h100-nvl", "2"),
        ("azure:Standard_NCC40ads_H100_v5", "gpu:h100-nvl", "1"),
        ("azure:Standard_ND96isr_H100_v5", "gpu:h100", "8"),
        ("azure:Standard_ND96isr_H200_v5", "gpu:h200", "8"),
        ("azure:Standard_ND128isr_NDR_GB200_v6", "gpu:gb200", "4"),
        ("gcp:n1-k80", "gpu:k80", "1 2 4 8"),
        ("gcp:n1-p100", "gpu:p100", "1 2 4"),
        ("gcp:n1-p4", "gpu:p4", "1 2 4"),
        ("gcp:n1-v100", "gpu:v100-16", "1 2 4 8"),
        ("gcp:n1-t4", "gpu:t4", "1 2 4"),
        ("gcp:a2-highgpu", "gpu:a100-40", "1 2 4 8"),
        ("gcp:a2-megagpu", "gpu:a100-40", "16"),
        ("gcp:a2-ultragpu", "gpu:a100-80", "1 2 4 8"),
        ("gcp:g2-standard", "gpu:l4", "1 1 1 1 2 1 4 8"),
        ("gcp:a3-highgpu", "gpu:h100", "1 2 4 8"),
        ("gcp:a3-megagpu", "gpu:h100", "8"),
        ("gcp:a3-ultragpu", "gpu:h200", "8"),
        ("gcp:a4-", "gpu:b200", "8"),
        ("gcp:a4x-highgpu", "gpu:gb200", "4"),
        ("gcp:a4x-maxgpu", "gpu:gb300", "4"),
        ("gcp:g4-", "gpu:rtx-pro-6000-server", "1/8 1/4 1/2 1 2 4 8"),
        ("aws:p3.", "gpu:v100-16", "1 4 8"),
        ("aws:p3dn.", "gpu:v100-32", "8"),
        ("aws:p4d.", "gpu:a100-40", "8"),
        ("aws:p4de.", "gpu:a100-80", "8"),
        ("aws:p5.", "gpu:h100", "1 8"),
        ("aws:p5e.", "gpu:h200", "8"),
        ("aws:p5en.", "gpu:h200", "8"),
        ("aws:p6-b200.", "gpu:b200", "8"),
        ("aws:p6e-gb200.", "gpu:gb200", "4"),
        ("aws:p6-b300.", "gpu:b300", "8"),
        ("aws:p6e-gb300.", "gpu:gb300", "4"),
        ("aws:g4dn.", "gpu:t4", "1 1 1 1 1 4 8"),
        ("aws:g5.", "gpu:a10g", "1 1 1 1 1 4 4 8"),
        ("aws:g6.", "gpu:l4", "1 1 1 1 1 4 4 8"),
        ("aws:gr6.", "gpu:l4", "1 1"),
        ("aws:g6e.", "gpu:l40s", "1 1 1 1 1 4 4 8"),
        ("aws:g7e.", "gpu:rtx-pro-6000-server", "1 1 1 2 4 8"),
    ] {
        let expected = BTreeSet::from([(target, gpus.split(' ').collect())]);
        assert_eq!(family(start), expected, "{start}");
    }
}

#[test]
fn every_size_stands_once_and_is_of_a_known_cloud() {
    let mut ids = BTreeSet::new();
    for machine in catalog().machines() {
        assert!(catalog().target(&machine.target).is_some(), "{machine:?}");
        for size in &machine.sizes {
            let (cloud, _) = size.id.split_once(':').unwrap();
            assert!(["azure", "gcp", "aws"].contains(&cloud), "{}", size.id);
            // Ids are case-insensitive.
            assert!(ids.insert(size.id.to_ascii_lowercase()), "{} stands twice", size.id);
            let parts: Vec<u32> = size.gpus.split('/').map(|part| part.parse().unwrap()).collect();
            assert!(matches!(parts[..], [1..=16] | [1, 2..=8]), "{size:?}");
        }
    }
    for service in catalog().services() {
        let has = |cloud: &str| ids.iter().any(|id| id.starts_with(&format!("{cloud}:")));
        assert!(!has(&service.id) && has(&service.machines), "{}", service.id);
    }
}

#[test]
fn no_usual_driver_is_past_its_gpu() {
    for target in catalog().targets() {
        let architecture = catalog().architecture(target.sm().unwrap()).unwrap();
        let jetson = target.class == GpuClass::Jetson;
        assert_eq!((target.driver.is_none(), target.cuda.is_some()), (jetson, jetson), "{}", target.id);
        assert!(!jetson || target.architecture.as_deref() == Some("arm64"), "{}", target.id);
        for driver in target.driver.iter().chain(machine_drivers(&target.id)) {
            let branch = numbers(driver.as_bytes())[0];
            let known = catalog().driver_branches().iter().find(|known| known.branch == branch).unwrap();
            assert!(architecture.last_driver.is_none_or(|last| branch <= last), "{}", target.id);
            // The CUDA version of its libcuda is at least the first one that compiles for the architecture.
            let introduced = numbers(architecture.introduced.as_bytes());
            assert!(numbers(known.cuda.as_bytes()) >= introduced, "{}", target.id);
        }
    }
}

fn machine_drivers(target: &str) -> impl Iterator<Item = &'static String> {
    let machines = catalog().machines().iter().filter(move |machine| machine.target == target);
    machines.filter_map(|machine| machine.driver.as_ref())
}

#[test]
fn what_stands_beside_a_grace_processor_is_for_arm() {
    let of = |id: &str| catalog().target(id).unwrap().architecture.as_deref();
    for id in ["gpu:gh200", "gpu:gb200", "gpu:gb300", "gpu:gb10", "gpu:thor", "gpu:nano"] {
        assert_eq!(of(id), Some("arm64"), "{id}");
    }
    for id in ["gpu:h100", "gpu:b200", "gpu:t4", "gpu:rtx-4090"] {
        assert_eq!(of(id), None, "{id}");
    }
    let cuda = |id: &str| catalog().target(id).unwrap().cuda.as_deref();
    for (id, version) in [("nano", "10.2"), ("tx2", "10.2"), ("xavier-nx", "11.4"), ("orin-agx", "12.6")] {
        assert_eq!(cuda(&format!("gpu:{id}")), Some(version), "{id}");
    }
    assert_eq!(cuda("gpu:thor"), Some("13.0"));
}
