//! What keeps a container from starting, or from finding the driver.

use cutaway::cuda::compat::Needs;
use cutaway::cuda::compat::RuleId::{
    Capabilities, DriverPath, ForwardCompat, Incomplete, MinorVersion, NoCuda, OwnDriver, Platform,
    Requirement,
};
use cutaway::cuda::compat::RunVerdict::Unknown;

use super::{Case, FORWARD, GKE, Image, NOT_KNOWN, PASSES, REQUIRE, built, on};

const BRANDS: &[&str] = &[
    "tesla",
    "unknown",
    "nvidia",
    "nvidiartx",
    "geforce",
    "geforcertx",
    "quadro",
    "quadrortx",
    "titan",
    "titanrtx",
];
const LATER_BRANDS: &[&str] = &[
    "unknown",
    "grid",
    "tesla",
    "nvidia",
    "quadro",
    "quadrortx",
    "nvidiartx",
    "vapps",
    "vpc",
    "vcs",
    "vws",
    "cloudgaming",
];

pub fn cases() -> Vec<Case> {
    [requirements(), others(), gke()].into_iter().flatten().collect()
}

/// The value as NVIDIA's images have it.
fn value(cuda: &str, brands: &[&str], branches: &[u32]) -> String {
    let window = |branch: &u32, brand: &str| format!(" brand={brand},driver>={branch},driver<{}", branch + 1);
    let windows = branches.iter().flat_map(|branch| brands.iter().map(move |brand| window(branch, brand)));
    format!("cuda>={cuda}") + &windows.collect::<String>()
}

fn requiring(cuda: &str, code: &str, value: &str) -> Image {
    built(cuda, code).env("NVIDIA_REQUIRE_CUDA", value)
}

#[allow(clippy::too_many_lines, reason = "a table of cases")]
fn requirements() -> Vec<Case> {
    let v11_2 = || requiring("11.2", "sm_70 sm_75", &value("11.2", &["tesla"], &[418, 450]));
    let v12_4 = || requiring("12.4", "sm_75 sm_80 sm_86", &value("12.4", BRANDS, &[470, 525, 535]));
    let v12_6 = || requiring("12.6", "sm_80 sm_86", &value("12.6", LATER_BRANDS, &[470, 535, 550]));
    let v13_0 = || requiring("13.0", "sm_80 sm_89", &value("13.0", LATER_BRANDS, &[535, 550, 565, 570, 575]));
    let small = |text: &str| requiring("12.2", "sm_70 sm_80", text);
    let a100 = |driver: &str| format!("gpu:a100-80,driver={driver}");
    vec![
        on("12.4 required, driver 550", v12_4(), &a100("550.54.15")).runs(PASSES, REQUIRE),
        on("12.4 required, driver 525 by its window", v12_4(), &a100("525.60.13"))
            .runs(MinorVersion, REQUIRE),
        on("12.4 required, driver 530 without a window", v12_4(), &a100("530.30.02")).fails(
            Requirement,
            "12.4",
            REQUIRE,
        ),
        on(
            "12.4 required, the same where it is not asked",
            v12_4().env("NVIDIA_DISABLE_REQUIRE", "1"),
            &a100("530.30.02"),
        )
        .runs(MinorVersion, REQUIRE),
        on(
            "12.4 required, disabled by a word",
            v12_4().env("NVIDIA_DISABLE_REQUIRE", "true"),
            &a100("530.30.02"),
        )
        .runs(MinorVersion, REQUIRE),
        on(
            "12.4 required, disabled by another word",
            v12_4().env("NVIDIA_DISABLE_REQUIRE", "0"),
            &a100("530.30.02"),
        )
        .fails(Requirement, "12.4", REQUIRE),
        on("12.6 required, driver 525 without a window", v12_6(), &a100("525.147.05")).fails(
            Requirement,
            "12.6",
            REQUIRE,
        ),
        on("12.6 required, driver 535 by its window", v12_6(), &a100("535.183.01"))
            .runs(MinorVersion, REQUIRE),
        on("12.6 required, driver 550 of a GeForce", v12_6(), "gpu:rtx-3090,driver=550.54.15")
            .brand("geforce")
            .fails(Requirement, "12.6", "nvidia/cuda Dockerfiles: no window for GeForce from 12.5 on"),
        on("12.6 required, driver 560 of a GeForce", v12_6(), "gpu:rtx-3090,driver=560.35.03")
            .brand("geforce")
            .runs(PASSES, REQUIRE),
        on(
            "12.4 required, driver 470 of a GeForce",
            v12_4().compat((12, 4), 550, None),
            "gpu:rtx-3090,driver=470.256.02",
        )
        .brand("geforce")
        .fails(ForwardCompat, "GeForce|3090", FORWARD)
        .error(804),
        on("13.0 required, driver 545", v13_0(), &a100("545.23.08")).fails(Requirement, "13.0", REQUIRE),
        on("13.0 required, driver 580", v13_0(), &a100("580.95.05")).runs(PASSES, REQUIRE),
        on("11.2 required, driver 450 of a Tesla", v11_2(), "gpu:v100-16,driver=450.80.02")
            .brand("tesla")
            .runs(MinorVersion, REQUIRE),
        on("11.2 required, driver 450 of a GeForce", v11_2(), "gpu:rtx-2080-ti,driver=450.80.02")
            .brand("geforce")
            .fails(Requirement, "11.2", REQUIRE),
        on(
            "11.2 required, driver 450 of a GeForce that was not asked",
            v11_2(),
            "gpu:rtx-2080-ti,driver=450.80.02",
        )
        .fails(Requirement, "11.2", REQUIRE),
        on("required of a driver that is not known", v12_4(), "cc=8.0").is(Unknown, NOT_KNOWN, "", REQUIRE),
        on("upper case", small("CUDA>=12.2"), &a100("535.183.01"))
            .runs(PASSES, "libnvidia-container, src/dsl.c"),
        on("words are alternatives", small("cuda>=13.0 driver>=535"), &a100("535.183.01"))
            .runs(PASSES, REQUIRE),
        on("commas bind", small("cuda>=12.0,driver>=550"), &a100("535.183.01")).fails(
            Requirement,
            "",
            REQUIRE,
        ),
        on("a compute capability", small("arch>=8.0"), "gpu:v100-16,driver=580.95.05").fails(
            Requirement,
            "",
            REQUIRE,
        ),
        on("a compute capability that is there", small("arch>=8.0"), &a100("580.95.05"))
            .runs(PASSES, REQUIRE),
        on("a driver to stay below", small("cuda>=12.0,driver<570"), &a100("580.95.05")).fails(
            Requirement,
            "",
            REQUIRE,
        ),
        on(
            "a second variable",
            small("cuda>=12.0").env("NVIDIA_REQUIRE_DRIVER", "driver>=550"),
            &a100("535.183.01"),
        )
        .fails(Requirement, "550", REQUIRE),
        on(
            "two variables that hold",
            small("cuda>=12.0").env("NVIDIA_REQUIRE_DRIVER", "driver>=535"),
            &a100("535.183.01"),
        )
        .runs(PASSES, REQUIRE),
        on(
            "JetPack is not asked of others",
            small("cuda>=12.0").env("NVIDIA_REQUIRE_JETPACK", "csv-mounts=all"),
            &a100("535.183.01"),
        )
        .runs(PASSES, "nvidia-container-toolkit, internal/config/image"),
        on("a legacy image", built("12.4", "sm_80").env("CUDA_VERSION", "12.4.1"), &a100("535.183.01"))
            .fails(
                Requirement,
                "12.4",
                "nvidia-container-toolkit, internal/config/image: CUDA_VERSION alone",
            ),
        on(
            "a legacy image on a later driver",
            built("12.4", "sm_80").env("CUDA_VERSION", "12.4.1"),
            &a100("550.54.15"),
        )
        .runs(PASSES, "nvidia-container-toolkit, internal/config/image: CUDA_VERSION alone"),
        on("no legacy image", v12_4().env("CUDA_VERSION", "12.4.1"), &a100("535.183.01"))
            .runs(MinorVersion, REQUIRE),
    ]
}

fn others() -> Vec<Case> {
    const MOUNTS: &str =
        "libnvidia-container, src/nvc_info.c: compute_libs; in CDI mode the toolkit mounts all of the driver";
    const CONFIG: &str = "OCI image specification, config: architecture";
    let image = || built("12.4", "sm_75 sm_80 sm_90");
    let capable = |value: &str| image().env("NVIDIA_DRIVER_CAPABILITIES", value);
    let plain = || Image(Needs { uses_cuda: false, ..Needs::default() });
    let t4 = "gpu:t4,driver=580.95.05";
    vec![
        on("utility alone", capable("utility"), t4).is(Unknown, Capabilities, "compute", MOUNTS),
        on("video and utility", capable("video,utility"), t4).is(Unknown, Capabilities, "compute", MOUNTS),
        on("compute and utility", capable("compute,utility"), t4).runs(PASSES, MOUNTS),
        on("all capabilities", capable("all"), t4).runs(PASSES, MOUNTS),
        on("capabilities left empty", capable(""), t4)
            .runs(PASSES, "nvidia-container-toolkit: the default is utility,compute"),
        on("amd64 beside a Grace processor", image(), "gpu:gh200,driver=580.95.05").fails(
            Platform,
            "arm64|amd64",
            CONFIG,
        ),
        on("arm64 beside a Grace processor", image().processor("arm64"), "gpu:gh200,driver=580.95.05")
            .runs(PASSES, CONFIG),
        on("amd64 on a Jetson", built("12.4", "sm_87"), "gpu:orin-agx").fails(
            Platform,
            "arm64|amd64",
            CONFIG,
        ),
        on("amd64 on Graviton", image(), "aws:g5g.xlarge").fails(Platform, "arm64|amd64", CONFIG),
        on("no CUDA", plain(), t4).runs(NoCuda, "no rule is about it"),
        on("no CUDA, whatever the driver is", plain(), "cc=8.0").runs(NoCuda, "no rule is about it"),
        on("no CUDA on GKE", plain(), "gke:a2-highgpu-1g").runs(NoCuda, "no rule is about it"),
        on("no CUDA, for another processor", plain().processor("amd64"), "gpu:gh200").fails(
            Platform,
            "arm64|amd64",
            CONFIG,
        ),
        on("no CUDA as far as was read", plain().incomplete(), t4).is(
            Unknown,
            Incomplete,
            "",
            "what is not known is not said to run",
        ),
        on("a stub on the path", image().stub(), t4).fails(
            OwnDriver,
            "stub",
            "CUDA driver API, CUDA_ERROR_STUB_LIBRARY; ld.so(8)",
        ),
    ]
}

/// GKE mounts the driver's folder, and does nothing else.
fn gke() -> Vec<Case> {
    let image = || built("12.4", "sm_80");
    let found = || image().folder("/usr/local/nvidia/lib").folder("/usr/local/nvidia/lib64");
    let machine = "gke:a2-highgpu-1g,driver=535.183.01";
    vec![
        on("no path to the driver", image(), machine).fails(DriverPath, "/usr/local/nvidia/lib64", GKE),
        on("a path to another folder", image().folder("/usr/local/nvidia/lib"), machine).fails(
            DriverPath,
            "/usr/local/nvidia/lib64",
            GKE,
        ),
        on("the path of NVIDIA's images", found(), machine).runs(MinorVersion, GKE),
        on("the same machine without GKE", image(), "gcp:a2-highgpu-1g,driver=535.183.01")
            .runs(MinorVersion, GKE),
        on("nobody asks for requirements", found().env("NVIDIA_REQUIRE_CUDA", "cuda>=13.0"), machine)
            .runs(MinorVersion, GKE),
        on("nobody asks for capabilities", found().env("NVIDIA_DRIVER_CAPABILITIES", "utility"), machine)
            .runs(MinorVersion, GKE),
    ]
}
