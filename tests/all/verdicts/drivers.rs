//! Drivers against toolkits and GPUs.

use cutaway::cuda::compat::RuleId::{
    Driver, DriverDropped, ForwardCompat, GpuCode, MinorVersion, PtxVersion,
};
use cutaway::cuda::compat::RunVerdict::{RunsWithCompat, RunsWithJit, Unknown};

use super::{
    Case, FORWARD, GKE, GPUS, HOOK, Image, MINOR, NOT_KNOWN, PASSES, PTX_ISA, SAME_BRANCH, TOO_OLD, TOOLKITS,
    built, on,
};

/// Drivers in the notes of real compatibility drivers.
const NOTE_12_9: &[u32] = &[535, 550, 560, 565, 570, 575];
const NOTE_13_1: &[u32] = &[535, 550, 570, 575, 580, 590];

pub fn cases() -> Vec<Case> {
    [shipped(), minor(), forward(), forced(), gpus()].into_iter().flatten().collect()
}

/// The driver that came out with the toolkit, or a later one.
fn shipped() -> Vec<Case> {
    vec![
        on("CUDA 12.4 on its driver", built("12.4", "sm_80"), "gpu:a100-80,driver=550.54.14")
            .runs(Driver, TOOLKITS),
        on("CUDA 12.4 on a branch", built("12.4", "sm_80"), "gpu:a100-80,driver=550").runs(Driver, TOOLKITS),
        on("CUDA 11.8 on driver 580", built("11.8", "sm_80"), "gpu:a100-80,driver=580.95.05")
            .runs(Driver, TOOLKITS),
        on("CUDA 10.2 on driver 580", built("10.2", "sm_75"), "gpu:t4,driver=580.95.05")
            .runs(Driver, TOOLKITS),
        on("CUDA 10.2 on its driver", built("10.2", "sm_75"), "gpu:t4,driver=440.33").runs(Driver, TOOLKITS),
        on("CUDA 11.0 on its driver", built("11.0", "sm_80"), "gpu:a100-40,driver=450.51.06")
            .runs(Driver, TOOLKITS),
        on("CUDA 13.0 on its driver", built("13.0", "sm_80"), "gpu:a100-80,driver=580.65.06")
            .runs(Driver, TOOLKITS),
        on("a major version alone on a later driver", built("12", "sm_80"), "gpu:a100-80,driver=580.95.05")
            .runs(&[Driver, MinorVersion][..], TOOLKITS),
        on("CUDA 12.4 on a driver that is not known", built("12.4", "sm_80"), "cc=8.0")
            .is(Unknown, NOT_KNOWN, "", TOOLKITS),
        on("SASS of any CUDA on driver 418", built("13.0", "sm_75").unversioned(), "gpu:t4,driver=418.39")
            .is(Unknown, NOT_KNOWN, "", TOOLKITS),
        on("SASS of any CUDA on driver 580", built("13.0", "sm_75").unversioned(), "gpu:t4,driver=580.95.05")
            .runs(PASSES, MINOR),
        on("CUDA 12.4 on Orin with JetPack 6", built("12.4", "sm_87").processor("arm64"), "gpu:orin-agx")
            .runs(&[Driver, MinorVersion][..], "JetPack 6 release notes: CUDA 12.6"),
        on("CUDA 13.0 on Orin with JetPack 6", built("13.0", "sm_87").processor("arm64"), "gpu:orin-agx")
            .fails(TOO_OLD, "13.0|12.6", "JetPack 6 release notes: CUDA 12.6"),
        on("CUDA 11.4 on Nano with JetPack 4", built("11.4", "sm_53").processor("arm64"), "gpu:nano").fails(
            TOO_OLD,
            "11.4|10.2",
            "JetPack 4 release notes: CUDA 10.2",
        ),
    ]
}

/// An older driver of the same major version.
fn minor() -> Vec<Case> {
    let a100 = |driver: &str| format!("gpu:a100-80,driver={driver}");
    vec![
        on("CUDA 12.4 on 525.60.13", built("12.4", "sm_80"), &a100("525.60.13")).runs(MinorVersion, MINOR),
        on("CUDA 12.4 on 525.60.11", built("12.4", "sm_80"), &a100("525.60.11"))
            .fails(TOO_OLD, "525.60.13|12.4", MINOR)
            .error(35),
        on("CUDA 12.4 on branch 525", built("12.4", "sm_80"), &a100("525")).runs(MinorVersion, MINOR),
        on("CUDA 12.4 on 525 with PTX 8.4 alone", built("12.4", "compute_80@8.4"), &a100("525.147.05"))
            .fails(PtxVersion, "8.4|8.0|525", PTX_ISA)
            .error(222),
        on("CUDA 12.4 on 525 with PTX 8.0 alone", built("12.4", "compute_80@8.0"), &a100("525.147.05")).is(
            RunsWithJit,
            GpuCode,
            "PTX|compute_80",
            PTX_ISA,
        ),
        on("CUDA 12.8 on 535", built("12.8", "sm_80"), &a100("535.183.01")).runs(MinorVersion, MINOR),
        on("CUDA 12 of any minor on 525", built("12", "sm_80"), &a100("525.60.13"))
            .runs(&[Driver, MinorVersion][..], MINOR),
        on("CUDA 12 of any minor on 470", built("12", "sm_80"), "gpu:rtx-3090,driver=470.256.02")
            .fails(TOO_OLD, "12", MINOR),
        on("CUDA 11.8 on 450.80.02", built("11.8", "sm_80"), &a100("450.80.02")).runs(MinorVersion, MINOR),
        on("CUDA 11.8 on 450.51.06", built("11.8", "sm_80"), &a100("450.51.06"))
            .fails(TOO_OLD, "450.80.02|11.8", MINOR)
            .error(35),
        on("CUDA 11.8 on 470", built("11.8", "sm_75"), "gpu:t4,driver=470.82.01").runs(MinorVersion, MINOR),
        on("CUDA 11.1 on 450.80.02", built("11.1", "sm_80"), &a100("450.80.02")).runs(MinorVersion, MINOR),
        on("CUDA 11.0 on 440: nothing before 11.1", built("11.0", "sm_75"), "gpu:t4,driver=440.33")
            .fails(TOO_OLD, "11.0|440", MINOR),
        on("CUDA 10.2 on 418: nothing before 11.1", built("10.2", "sm_75"), "gpu:rtx-2080-ti,driver=418.39")
            .fails(TOO_OLD, "10.2|418", MINOR),
        on("CUDA 13.1 on 580.65.06", built("13.1", "sm_80"), &a100("580.65.06")).runs(MinorVersion, MINOR),
        on("CUDA 13.4 on 580", built("13.4", "sm_80"), &a100("580.95.05")).runs(MinorVersion, MINOR),
        on("CUDA 12.0 on 525.60.11", built("12.0", "sm_80"), &a100("525.60.11")).fails(
            TOO_OLD,
            "525.60.13|12.0",
            TOOLKITS,
        ),
        on("CUDA 13.0 on 580.65.05", built("13.0", "sm_80"), &a100("580.65.05")).fails(
            TOO_OLD,
            "580.65.06|13.0",
            MINOR,
        ),
        on("CUDA 13.0 on 575: another major", built("13.0", "sm_89"), "gpu:rtx-4090,driver=575.57.08")
            .fails(TOO_OLD, "580|13.0", MINOR)
            .error(35),
        on("CUDA 12.0 on 520: another major", built("12.0", "sm_80"), &a100("520.61.05"))
            .fails(TOO_OLD, "525|12.0", MINOR),
        on(
            "a newer version that may not be used",
            built("12.4", "sm_89").perhaps("13.0"),
            "gpu:rtx-4090,driver=550.54.15",
        )
        .is(Unknown, TOO_OLD, "13.0", MINOR),
    ]
}

/// A driver of another major version, and a compatibility driver in the image.
fn forward() -> Vec<Case> {
    let with_note = || built("13.1", "sm_75 sm_80 sm_86 sm_89").compat((13, 1), 590, Some(NOTE_13_1));
    vec![
        on("CUDA 13.1 on 550, data centre", with_note(), "gpu:a100-80,driver=550.54.15").is(
            RunsWithCompat,
            ForwardCompat,
            "13.1|550|compat",
            FORWARD,
        ),
        on("CUDA 13.1 on branch 535", with_note(), "gpu:l4,driver=535").is(
            RunsWithCompat,
            ForwardCompat,
            "",
            FORWARD,
        ),
        on("CUDA 13.1 on 550, no compat", built("13.1", "sm_80"), "gpu:a100-80,driver=550.54.15")
            .fails(TOO_OLD, "580|13.1", FORWARD)
            .error(35),
        on("CUDA 13.1 on 550, GeForce", with_note(), "gpu:rtx-4090,driver=550.54.15")
            .fails(ForwardCompat, "GeForce|4090", FORWARD)
            .error(804),
        on("CUDA 13.1 on 550, workstation", with_note(), "gpu:rtx-a6000,driver=550.54.15").is(
            Unknown,
            ForwardCompat,
            "",
            FORWARD,
        ),
        on("CUDA 13.1 on 550, some GPU", with_note(), "cc=8.6,driver=550.54.15").is(
            Unknown,
            ForwardCompat,
            "",
            FORWARD,
        ),
        on("CUDA 13.1 on 565: not in the note", with_note(), "gpu:a100-80,driver=565.57.01").fails(
            ForwardCompat,
            "565",
            HOOK,
        ),
        on("CUDA 13.1 on 470: not in the note", with_note(), "gpu:t4,driver=470.256.02").fails(
            ForwardCompat,
            "470",
            HOOK,
        ),
        on(
            "CUDA 12.4 on 470, no note",
            built("12.4", "sm_75").compat((12, 4), 550, None),
            "gpu:t4,driver=470.256.02",
        )
        .is(RunsWithCompat, ForwardCompat, "", HOOK),
        on(
            "CUDA 13.0 with compat of 12.9",
            built("13.0", "sm_80").compat((12, 9), 575, Some(NOTE_12_9)),
            "gpu:a100-80,driver=550.54.15",
        )
        .fails(TOO_OLD, "12.9|13.0", FORWARD),
        on(
            "CUDA 13.2 with compat of 13.1: by minor version",
            built("13.2", "sm_80").compat((13, 1), 590, Some(NOTE_13_1)),
            "gpu:a100-80,driver=550.54.15",
        )
        .is(RunsWithCompat, ForwardCompat, "", MINOR),
        on(
            "CUDA 12.9 on 550 with compat: not needed",
            built("12.9", "sm_80").compat((12, 9), 575, Some(NOTE_12_9)),
            "gpu:a100-80,driver=550.54.15",
        )
        .runs(MinorVersion, MINOR),
        on(
            "PTX 8.8 on 550 with compat of 12.9",
            built("12.9", "compute_80@8.8").compat((12, 9), 575, Some(NOTE_12_9)),
            "gpu:h100,driver=550.54.15",
        )
        .is(RunsWithCompat, &[PtxVersion, ForwardCompat][..], "", HOOK),
        on("CUDA 13.1 on 590: compat left alone", with_note(), "gpu:a100-80,driver=590.48.01")
            .runs(Driver, HOOK),
        on("compat and no code", with_note(), "gpu:h100,driver=550.54.15").fails(GpuCode, "9.0", FORWARD),
        on(
            "CUDA 13.1 on GKE: no toolkit mounts compat, and an entrypoint may put it on the path",
            on_gke(with_note()),
            "gke:a2-highgpu-1g,driver=550.54.15",
        )
        .is(Unknown, ForwardCompat, "no container toolkit", GKE),
        on(
            "compat on the path, of the driver's own branch and another version",
            with_note().forced(),
            "gpu:a100-80,driver=590.44.01",
        )
        .fails(ForwardCompat, "same branch as the driver", SAME_BRANCH),
        on(
            "compat on the path, of the driver's own branch, which version is not said",
            with_note().forced(),
            "gpu:a100-80,driver=590",
        )
        .is(Unknown, ForwardCompat, "same branch as the driver", SAME_BRANCH),
        on(
            "CUDA 13.1 on GKE, compat on the path",
            on_gke(with_note().forced()),
            "gke:a2-highgpu-1g,driver=550.54.15",
        )
        .is(RunsWithCompat, ForwardCompat, "", GKE),
    ]
}

fn on_gke(image: Image) -> Image {
    image.folder("/usr/local/nvidia/lib64")
}

/// A compatibility driver that every program gets.
fn forced() -> Vec<Case> {
    let image = || built("12.9", "sm_80 sm_86 sm_89").compat((12, 9), 575, Some(NOTE_12_9)).forced();
    vec![
        on("compat forced on a listed driver", image(), "gpu:a100-80,driver=550.54.15").is(
            RunsWithCompat,
            ForwardCompat,
            "",
            FORWARD,
        ),
        on("compat forced below a newer driver", image(), "gpu:a100-80,driver=580.95.05")
            .fails(ForwardCompat, "580|575", FORWARD)
            .error(803),
        on("compat forced on a GeForce", image(), "gpu:rtx-4090,driver=550.54.15")
            .fails(ForwardCompat, "GeForce|4090", FORWARD)
            .error(804),
    ]
}

/// Drivers that no longer, or do not yet, drive a GPU.
fn gpus() -> Vec<Case> {
    vec![
        on("V100 on 590", built("11.8", "sm_70"), "gpu:v100-16,driver=590.48.01").fails(
            DriverDropped,
            "590|580",
            GPUS,
        ),
        on("V100 on 580", built("11.8", "sm_70"), "gpu:v100-16,driver=580.95.05").runs(PASSES, GPUS),
        on("GTX 1080 on 595", built("11.8", "sm_61"), "gpu:gtx-1080,driver=595.45.04").fails(
            DriverDropped,
            "595|580",
            GPUS,
        ),
        on("T4 on 590", built("11.8", "sm_75"), "gpu:t4,driver=590.48.01").runs(PASSES, GPUS),
        on("K80 on 525", built("11.4", "sm_37"), "gpu:k80,driver=525.147.05").fails(
            DriverDropped,
            "525|470",
            GPUS,
        ),
        on("K80 on 470", built("11.4", "sm_37"), "gpu:k80,driver=470.256.02").runs(PASSES, GPUS),
        on("CUDA 12.0 on K80 with 470", built("12.0", "sm_50"), "gpu:k80,driver=470.256.02").fails(
            &[Driver, MinorVersion, ForwardCompat, GpuCode][..],
            "",
            TOOLKITS,
        ),
        on("B200 on 535", built("12.8", "sm_100"), "gpu:b200,driver=535.183.01").fails(
            DriverDropped,
            "535|570",
            GPUS,
        ),
        on("RTX 5090 on 550", built("12.8", "sm_120"), "gpu:rtx-5090,driver=550.54.15").fails(
            DriverDropped,
            "550|570",
            GPUS,
        ),
        on("B200 on 570", built("12.8", "sm_100"), "gpu:b200,driver=570.124.06").runs(Driver, GPUS),
    ]
}
