//! Which GPU code runs where.

use cutaway::cuda::compat::RuleId::{Cudnn, GpuCode, Incomplete, PtxVersion};
use cutaway::cuda::compat::RunVerdict::{RunsWithJit, Unknown};
use cutaway::cuda::compat::Weight::{Decides, MayDecide, Optional};

use super::{CUDNN, Case, FAMILY, GUIDE, PASSES, PTX_ISA, built, on};

pub fn cases() -> Vec<Case> {
    [sass(), suffixes(), ptx(), weights(), cudnn()].into_iter().flatten().collect()
}

/// SASS: the same major, the same or a later minor.
fn sass() -> Vec<Case> {
    let for_a100 = || built("11.8", "sm_80");
    let tegra = |code: &str| built("12.4", code).processor("arm64");
    vec![
        on("only sm_80 on V100", for_a100(), "gpu:v100-16,driver=580.95.05")
            .fails(GpuCode, "sm_80|7.0", GUIDE)
            .error(209),
        on("only sm_80 on A10", for_a100(), "gpu:a10,driver=580.95.05").runs(PASSES, GUIDE),
        on("only sm_80 on A100", for_a100(), "gpu:a100-80,driver=580.95.05").runs(PASSES, GUIDE),
        on("only sm_80 on L4", for_a100(), "gpu:l4,driver=580.95.05").runs(PASSES, GUIDE),
        on("only sm_80 on T4", for_a100(), "gpu:t4,driver=580.95.05")
            .fails(GpuCode, "sm_80|7.5", GUIDE)
            .error(209),
        on("only sm_80 on H100", for_a100(), "gpu:h100,driver=580.95.05")
            .fails(GpuCode, "sm_80|9.0", GUIDE)
            .error(209),
        on("sm_86 on A100: a lower minor", built("11.8", "sm_86"), "gpu:a100-40,driver=580.95.05")
            .fails(GpuCode, "sm_86|8.0", GUIDE)
            .error(209),
        on("sm_86 on L4", built("11.8", "sm_86"), "gpu:l4,driver=580.95.05").runs(PASSES, GUIDE),
        on("sm_89 on A10: a lower minor", built("11.8", "sm_89"), "gpu:a10,driver=580.95.05").fails(
            GpuCode,
            "sm_89|8.6",
            GUIDE,
        ),
        on("sm_70 on T4", built("11.8", "sm_70"), "gpu:t4,driver=580.95.05").runs(PASSES, GUIDE),
        on("sm_75 on V100: a lower minor", built("11.8", "sm_75"), "gpu:v100-32,driver=580.95.05").fails(
            GpuCode,
            "sm_75|7.0",
            GUIDE,
        ),
        on("sm_60 on P4", built("11.8", "sm_60"), "gpu:p4,driver=580.95.05").runs(PASSES, GUIDE),
        on("sm_61 on P100: a lower minor", built("11.8", "sm_61"), "gpu:p100,driver=580.95.05").fails(
            GpuCode,
            "sm_61|6.0",
            GUIDE,
        ),
        on("sm_50 on M60", built("11.8", "sm_50"), "gpu:m60,driver=580.95.05").runs(PASSES, GUIDE),
        on("sm_100 on B300", built("12.8", "sm_100"), "gpu:b300,driver=580.95.05").runs(PASSES, GUIDE),
        on("sm_103 on B200: a lower minor", built("12.9", "sm_103"), "gpu:b200,driver=580.95.05").fails(
            GpuCode,
            "sm_103|10.0",
            GUIDE,
        ),
        on("sm_100 on RTX 5090: another major", built("12.8", "sm_100"), "gpu:rtx-5090,driver=580.95.05")
            .fails(GpuCode, "sm_100|12.0", GUIDE),
        on("sm_120 on B200: another major", built("12.8", "sm_120"), "gpu:b200,driver=580.95.05").fails(
            GpuCode,
            "sm_120|10.0",
            GUIDE,
        ),
        on("sm_121 on RTX 5090: a lower minor", built("13.0", "sm_121"), "gpu:rtx-5090,driver=580.95.05")
            .fails(GpuCode, "sm_121|12.0", GUIDE),
        on("sm_90 of several on H200", built("12.4", "sm_75 sm_80 sm_90"), "gpu:h200,driver=580.95.05")
            .runs(PASSES, GUIDE),
        on("sm_87 on Orin", tegra("sm_87"), "gpu:orin-agx").runs(PASSES, GUIDE),
        on("sm_86 on Orin of CUDA 12.6", tegra("sm_86"), "gpu:orin-nano").fails(
            GpuCode,
            "sm_86|8.7",
            "jax-ml/jax pull request 40492, tried on an Orin: not between desktop and Tegra",
        ),
        on("sm_72 on Orin: another major", tegra("sm_72"), "gpu:orin-nx").fails(GpuCode, "sm_72|8.7", GUIDE),
        on("sm_87 on L4: Tegra code is for Tegra", built("12.4", "sm_87"), "gpu:l4,driver=580.95.05").fails(
            GpuCode,
            "sm_87|8.9",
            "CUDA C++ Programming Guide, binary compatibility: not between desktop and Tegra",
        ),
        on("sm_110 on Thor", built("13.0", "sm_110").processor("arm64"), "gpu:thor").runs(PASSES, GUIDE),
        on("sm_100 on Thor: another major", built("13.0", "sm_100").processor("arm64"), "gpu:thor").fails(
            GpuCode,
            "sm_100|11.0",
            GUIDE,
        ),
        on("code of another major on an unknown driver", for_a100(), "cc=9.0").fails(
            GpuCode,
            "sm_80|9.0",
            GUIDE,
        ),
        on("code for linking alone", built("12.4", "lto_80 lto_90"), "gpu:v100-16,driver=580.95.05").fails(
            GpuCode,
            "",
            "nvcc manual, -dlto: intermediate code is for the linker; the driver loads SASS and PTX",
        ),
    ]
}

/// `a` is for that architecture alone, `f` for its family.
fn suffixes() -> Vec<Case> {
    let hopper = || built("12.4", "sm_90a");
    vec![
        on("sm_90a on H100", hopper(), "gpu:h100,driver=580.95.05").runs(PASSES, FAMILY),
        on("sm_90a on H200", hopper(), "gpu:h200,driver=580.95.05").runs(PASSES, FAMILY),
        on("sm_90a on B200", hopper(), "gpu:b200,driver=580.95.05")
            .fails(GpuCode, "sm_90a|10.0", FAMILY)
            .error(209),
        on("sm_90a with PTX on B200", built("12.8", "sm_90a compute_90@8.7"), "gpu:b200,driver=580.95.05")
            .is(RunsWithJit, GpuCode, "PTX|compute_90", FAMILY),
        on("sm_100a on B200", built("12.8", "sm_100a"), "gpu:b200,driver=580.95.05").runs(PASSES, FAMILY),
        on("sm_100a on B300", built("12.8", "sm_100a"), "gpu:b300,driver=580.95.05").fails(
            GpuCode,
            "sm_100a|10.3",
            FAMILY,
        ),
        on("sm_100f on B200", built("12.9", "sm_100f"), "gpu:b200,driver=580.95.05").runs(PASSES, FAMILY),
        on("sm_100f on B300", built("12.9", "sm_100f"), "gpu:b300,driver=580.95.05").runs(PASSES, FAMILY),
        on("sm_103f on B200: a lower minor", built("12.9", "sm_103f"), "gpu:b200,driver=580.95.05").fails(
            GpuCode,
            "sm_103f|10.0",
            FAMILY,
        ),
        on("sm_100f on RTX 5090", built("12.9", "sm_100f"), "gpu:rtx-5090,driver=580.95.05").fails(
            GpuCode,
            "sm_100f|12.0",
            FAMILY,
        ),
        on("sm_120f on GB10", built("13.0", "sm_120f").processor("arm64"), "gpu:gb10,driver=580.95.05")
            .runs(PASSES, FAMILY),
        on("sm_120a on GB10", built("13.0", "sm_120a").processor("arm64"), "gpu:gb10,driver=580.95.05")
            .fails(GpuCode, "sm_120a|12.1", FAMILY),
    ]
}

/// PTX: any later GPU, as far as the driver knows its version.
fn ptx() -> Vec<Case> {
    let old = |isa: &str| built("12.4", &format!("compute_80@{isa}"));
    vec![
        on("compute_80 on H100", old("8.4"), "gpu:h100,driver=580.95.05").is(
            RunsWithJit,
            GpuCode,
            "PTX|compute_80",
            GUIDE,
        ),
        on("compute_80 on A100 itself", old("8.4"), "gpu:a100-80,driver=580.95.05").is(
            RunsWithJit,
            GpuCode,
            "PTX|compute_80",
            GUIDE,
        ),
        on("compute_52 of CUDA 11.8 on H100", built("11.8", "compute_52@7.8"), "gpu:h100,driver=535.104.05")
            .is(RunsWithJit, GpuCode, "PTX|compute_52", GUIDE),
        on("compute_90 on A100: PTX for later GPUs", built("12.4", "compute_90@8.4"), "gpu:a100-80")
            .fails(GpuCode, "compute_90|8.0", GUIDE)
            .error(209),
        on("PTX 8.4 on driver 550", old("8.4"), "gpu:h100,driver=550.54.15").is(
            RunsWithJit,
            GpuCode,
            "PTX|compute_80",
            PTX_ISA,
        ),
        on("PTX 8.4 on driver 535", old("8.4"), "gpu:h100,driver=535.104.05")
            .fails(PtxVersion, "8.4|8.2|535", PTX_ISA)
            .error(222),
        on("PTX 8.2 on driver 535", old("8.2"), "gpu:h100,driver=535.104.05").is(
            RunsWithJit,
            GpuCode,
            "PTX|compute_80",
            PTX_ISA,
        ),
        on("PTX 8.7 on driver 550", built("12.8", "compute_80@8.7"), "gpu:a100-80,driver=550.54.15")
            .fails(PtxVersion, "8.7|8.4|550", PTX_ISA)
            .error(222),
        on("PTX 8.5 on driver 555", built("12.6", "compute_75@8.5"), "gpu:t4,driver=555.42.06").is(
            RunsWithJit,
            GpuCode,
            "PTX|compute_75",
            "PTX ISA, release history: 8.5 is of CUDA 12.5 and 12.6",
        ),
        on("PTX 8.5 on driver 550", built("12.6", "compute_75@8.5"), "gpu:t4,driver=550.54.15")
            .fails(PtxVersion, "8.5|8.4|550", PTX_ISA)
            .error(222),
        on("PTX 9.1 on driver 580", built("13.1", "compute_80@9.1"), "gpu:h200,driver=580.95.05")
            .fails(PtxVersion, "9.1|9.0|580", PTX_ISA)
            .error(222),
        on(
            "PTX that is too new beside SASS that fits",
            built("12.8", "sm_80 compute_90@8.7"),
            "gpu:a100-80,driver=535.104.05",
        )
        .runs(PASSES, GUIDE),
        on(
            "PTX that is too new beside SASS for others",
            built("12.8", "sm_75 sm_80 compute_80@8.7"),
            "gpu:h100,driver=535.104.05",
        )
        .fails(PtxVersion, "8.7|8.2|535", PTX_ISA)
        .error(222),
        on("PTX on a driver that is not known", old("8.4"), "cc=9.0").is(
            Unknown,
            super::NOT_KNOWN,
            "",
            PTX_ISA,
        ),
        on("compute_90a on H100", built("12.4", "compute_90a@8.4"), "gpu:h100,driver=580.95.05").is(
            RunsWithJit,
            GpuCode,
            "PTX|compute_90a",
            FAMILY,
        ),
        on("compute_90a on B200", built("12.4", "compute_90a@8.4"), "gpu:b200,driver=580.95.05")
            .fails(GpuCode, "compute_90a|10.0", FAMILY)
            .error(209),
        on("compute_100f on B300", built("12.9", "compute_100f@8.8"), "gpu:b300,driver=580.95.05").is(
            RunsWithJit,
            GpuCode,
            "PTX|compute_100f",
            FAMILY,
        ),
        on("compute_100f on RTX 5090", built("12.9", "compute_100f@8.8"), "gpu:rtx-5090,driver=580.95.05")
            .fails(GpuCode, "compute_100f|12.0", FAMILY),
        on("compute_100 on RTX 5090", built("12.9", "compute_100@8.8"), "gpu:rtx-5090,driver=580.95.05").is(
            RunsWithJit,
            GpuCode,
            "PTX|compute_100",
            FAMILY,
        ),
    ]
}

/// What a file without code decides.
fn weights() -> Vec<Case> {
    const WEIGHTS: &str = "what the weights are defined as";
    let t4 = "gpu:t4,driver=580.95.05";
    let torch = || built("12.4", "sm_75 sm_80 sm_90");
    vec![
        on(
            "an extension without code may not be imported",
            torch().file("/app/ext.so", MayDecide, "sm_80"),
            t4,
        )
        .is(Unknown, GpuCode, "ext.so", WEIGHTS),
        on("a library whose caller asks first", torch().file("/app/opt.so", Optional, "sm_80"), t4)
            .runs(PASSES, WEIGHTS),
        on("a second library that decides", torch().file("/app/two.so", Decides, "sm_80"), t4)
            .fails(GpuCode, "two.so", WEIGHTS),
        on("a library from sm_80 on, below", torch().file("/app/fa.so", Decides, "sm_80").since(80), t4)
            .runs(PASSES, WEIGHTS),
        on(
            "a library from sm_80 on, above",
            torch().file("/app/fa.so", Decides, "sm_80").since(80),
            "gpu:h100,driver=580.95.05",
        )
        .fails(GpuCode, "fa.so", WEIGHTS),
        on(
            "PTX that is too new in an extension",
            torch().file("/app/ext.so", MayDecide, "compute_80@8.7"),
            "gpu:h100,driver=550.54.15",
        )
        .is(Unknown, PtxVersion, "8.7|ext.so", PTX_ISA),
        on("an image that was not read to its end", torch().incomplete(), t4).is(
            Unknown,
            Incomplete,
            "",
            "what is not known is not said to run",
        ),
        on("not read to its end, and without code", built("12.4", "sm_80").incomplete(), t4).is(
            Unknown,
            &[GpuCode, Incomplete][..],
            "",
            "a layer that was not read may replace the file",
        ),
    ]
}

fn cudnn() -> Vec<Case> {
    let with =
        |version: &str, cuda: u32| built("12.8", "sm_70 sm_75 sm_90 sm_100").cudnn(version, cuda, true);
    vec![
        on("cuDNN 9.17 on V100", with("9.17.0", 12), "gpu:v100-16,driver=580.95.05")
            .fails(Cudnn, "9.17", CUDNN),
        on("cuDNN 9.10 on V100", with("9.10.2", 12), "gpu:v100-16,driver=580.95.05").runs(PASSES, CUDNN),
        on("cuDNN 9.17 on T4", with("9.17.0", 12), "gpu:t4,driver=580.95.05").runs(PASSES, CUDNN),
        on(
            "cuDNN 9.17 that may not be used",
            built("12.8", "sm_70").cudnn("9.17.0", 12, false),
            "gpu:v100-16,driver=580.95.05",
        )
        .is(Unknown, Cudnn, "9.17", CUDNN),
        on("cuDNN 8.9 on H100", with("8.9.6", 12), "gpu:h100,driver=580.95.05").runs(PASSES, CUDNN),
        on("cuDNN 8.9 on B200: later than its matrix", with("8.9.6", 12), "gpu:b200,driver=580.95.05")
            .is(Unknown, Cudnn, "8.9", CUDNN),
        on("cuDNN 9.17 on B200", with("9.17.0", 12), "gpu:b200,driver=580.95.05").runs(PASSES, CUDNN),
    ]
}
