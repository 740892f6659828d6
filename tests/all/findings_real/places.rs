//! Where an application may lie and how it may ask for something: wherever that is, it must be heard.

use super::scene::{
    INCLUDE, Judged, LIB, PYTHON, compilers, image, in_toolkit, library, package, program, script, system,
    toolkit,
};
use crate::fixtures::service::{SITE, debs, wheel};
use crate::fixtures::tarball::{Member, file};

const BUILDS: &str = "from torch.utils.cpp_extension import load\nops = load('ops', ['ops.cu'])\n";

fn judged(app: Vec<Member>, command: &[&str], environment: &[&str]) -> Judged {
    Judged::of(&image(&[[system(), compilers(), toolkit()].concat(), app], command, environment))
}

#[test]
fn an_application_is_heard_in_every_folder_that_people_use() {
    for folder in [
        "app",
        "opt/service",
        "usr/src/app",
        "home/user/app",
        "root",
        "workspace",
        "code",
        "var/task",
        "var/www/app",
    ] {
        let path = format!("/{folder}/serve.py");
        let judged = judged(vec![script(&path[1..], BUILDS)], &[PYTHON, &path], &[]);
        assert_eq!(judged.of_path(&in_toolkit("bin/nvcc")), "compilers unsure", "{path}");
    }
}

#[test]
fn a_script_that_the_image_starts_is_heard_wherever_it_lies() {
    let body = "#!/bin/sh\nnvcc --version && exec /srv/app/bin/serve\n";
    for path in
        ["/entrypoint.sh", "/usr/local/bin/entrypoint.sh", "/usr/bin/entrypoint", "/usr/local/lib/app/start"]
    {
        let judged = judged(vec![script(&path[1..], body).mode(0o755)], &[path], &[]);
        assert_eq!(judged.of_path(&in_toolkit("bin/nvcc")), "compilers unsure", "{path}");
    }
}

#[test]
fn an_application_that_is_installed_as_a_package_is_heard() {
    let app = wheel(SITE, "our-service", "1.0", &[("our_service/ops.py", BUILDS.into())]);
    let judged = judged(app, &[PYTHON, "-m", "our_service"], &[]);
    assert_ne!(judged.verdict(&in_toolkit("bin/nvcc")), "safe");
    judged.never_safe(&[&format!("/{INCLUDE}/cuda_runtime.h"), "/usr/include/stdio.h"]);
}

#[test]
fn a_package_that_compiles_when_it_is_imported_is_heard() {
    let app = wheel(SITE, "some-splats", "1.5.3", &[("some_splats/cuda/_backend.py", BUILDS.into())]);
    let judged = judged(
        [app, vec![script("srv/app/serve.py", "import some_splats\n")]].concat(),
        &[PYTHON, "/srv/app/serve.py"],
        &[],
    );
    assert_ne!(judged.verdict(&in_toolkit("bin/nvcc")), "safe");
}

#[test]
fn what_was_compiled_at_run_time_before_will_be_again() {
    let cache =
        file("root/.cache/torch_extensions/py312_cu128/ops/build.ninja", "nvcc = /usr/local/cuda/bin/nvcc\n");
    let judged =
        judged(vec![cache, script("srv/app/serve.py", "pass\n")], &[PYTHON, "/srv/app/serve.py"], &[]);
    assert_ne!(judged.verdict(&in_toolkit("bin/nvcc")), "safe");
}

#[test]
fn a_preloaded_library_is_not_safe() {
    let collection = in_toolkit("compute-sanitizer/libsanitizer-collection.so");
    let member = library(&collection[1..], "libsanitizer-collection.so", &[]);
    let preload = format!("LD_PRELOAD={collection}");
    let judged = judged(vec![member, program("srv/app/serve", &[])], &["/srv/app/serve"], &[&preload]);
    judged.never_safe(&[&collection]);
}

#[test]
fn a_library_that_a_script_opens_by_name_is_not_safe() {
    let body = "import ctypes\nfft = ctypes.CDLL('libcufft.so.11')\n";
    let judged = judged(vec![script("srv/app/serve.py", body)], &[PYTHON, "/srv/app/serve.py"], &[]);
    judged.never_safe(&[&format!("/{LIB}/libcufft.so.11")]);
}

#[test]
fn a_profiler_library_that_a_script_opens_by_name_is_not_safe() {
    let body = "import ctypes\ncupti = ctypes.CDLL('libcupti.so.12')\n";
    let judged = judged(vec![script("srv/app/serve.py", body)], &[PYTHON, "/srv/app/serve.py"], &[]);
    judged.never_safe(&[&format!("/{LIB}/libcupti.so.12")]);
}

#[test]
fn an_injection_that_a_variable_names_is_not_safe() {
    let injection = in_toolkit("extras/CUPTI/samples/injection/libinjection.so");
    let member = library(&injection[1..], "libinjection.so", &[]);
    let variable = format!("CUDA_INJECTION64_PATH={injection}");
    let judged = judged(vec![member, program("srv/app/serve", &[])], &["/srv/app/serve"], &[&variable]);
    judged.never_safe(&[&injection]);
}

#[test]
fn a_profiler_in_a_script_that_starts_the_service_is_a_question() {
    let body = "#!/bin/bash\nexec nsys profile -o /tmp/out /srv/app/serve\n";
    let app = vec![script("srv/app/start.sh", body).mode(0o755), program("srv/app/serve", &[])];
    let judged = judged(app, &["/srv/app/start.sh"], &[]);
    assert_eq!(judged.of_path(&in_toolkit("bin/nsys")), "profilers unsure");
}

#[test]
fn nvcc_in_a_wheel_is_not_safe_for_those_that_compile() {
    let content = [
        ("nvidia/cu13/bin/nvcc", crate::fixtures::elf::Elf::program("nvcc").build()),
        ("nvidia/cu13/include/cuda_runtime.h", b"/* runtime */\n".to_vec()),
        ("nvidia/cu13/lib/libcudart_static.a", b"!<arch>\n".to_vec()),
    ];
    let app = [wheel(SITE, "nvidia-cuda-nvcc", "13.0.88", &content), package("flashinfer-python", "0.7.0")]
        .concat();
    let judged = judged(app, &[PYTHON, "-m", "flashinfer"], &[]);
    judged.all("needed", &[&format!("/{SITE}/nvidia/cu13/bin/nvcc")]);
    judged.never_safe(&[&format!("/{SITE}/nvidia/cu13/include/cuda_runtime.h")]);
    judged.never_safe(&[&format!("/{SITE}/nvidia/cu13/lib/libcudart_static.a")]);
}

#[test]
fn tools_that_the_command_starts_are_needed() {
    for (command, path) in [
        (&["make", "serve"][..], "/usr/bin/make"),
        (&["/bin/sh", "-c", "cmake --build . && ./serve"], "/usr/bin/cmake"),
        (&["git", "daemon"], "/usr/bin/git"),
        (&["gdb", "-batch", "/srv/app/serve"], "/usr/bin/gdb"),
    ] {
        let tool = program(&path[1..], &[]);
        let judged = judged(vec![tool, program("srv/app/serve", &[])], command, &[]);
        judged.never_safe(&[path]);
    }
}

#[test]
fn libraries_of_the_compiler_that_the_program_needs_are_kept() {
    // libgomp, libgcc_s and the sanitizers lie in the folder of gcc on some distributions.
    let folder = "usr/lib/gcc/x86_64-linux-gnu/13";
    let app = vec![
        library(&format!("{folder}/libgomp.so.1"), "libgomp.so.1", &[]),
        file("etc/ld.so.conf.d/gcc.conf", format!("/{folder}\n")),
        program("srv/app/serve", &["libgomp.so.1"]),
    ];
    let judged = judged(app, &["/srv/app/serve"], &[]);
    judged.never_safe(&[&format!("/{folder}/libgomp.so.1")]);
}

#[test]
fn headers_of_the_system_are_needed_by_what_compiles_c_at_run_time() {
    for name in ["pytensor", "cppyy"] {
        let app = [package(name, "1.0"), vec![script("srv/app/serve.py", "pass\n")]].concat();
        let judged = judged(app, &[PYTHON, "/srv/app/serve.py"], &[]);
        judged.never_safe(&["/usr/include/stdio.h", "/usr/include/python3.12/Python.h"]);
    }
}

const CALLS: &str =
    "import ctypes, subprocess\nsubprocess.run(['nvcc', '--version'])\nsubprocess.run(['gcc', 'a.c'])\n";

#[test]
fn an_application_that_is_a_package_of_the_system_is_heard() {
    let app = debs(&[("my-service", "1.0", &[("opt/my/run.py", CALLS.into())])]);
    let judged = judged(app, &[PYTHON, "/opt/my/run.py"], &[]);
    judged.never_safe(&[&in_toolkit("bin/nvcc"), "/usr/bin/x86_64-linux-gnu-gcc-13", "/usr/include/stdio.h"]);
}

#[test]
fn what_the_command_names_is_heard_in_folders_of_the_system() {
    let path = "/usr/share/myapp/main.py";
    let judged = judged(vec![script(&path[1..], CALLS)], &[PYTHON, path], &[]);
    judged.never_safe(&[&in_toolkit("bin/nvcc"), "/usr/bin/x86_64-linux-gnu-gcc-13"]);
}

#[test]
fn services_that_are_described_in_etc_are_heard() {
    for path in ["/etc/s6-overlay/s6-rc.d/app/run", "/etc/init.d/app", "/etc/services.d/app/run"] {
        let run = script(&path[1..], "#!/bin/sh\nnvcc --version\n").mode(0o755);
        let judged = judged(vec![run, program("init", &[])], &["/init"], &[]);
        assert_ne!(judged.verdict(&in_toolkit("bin/nvcc")), "safe", "{path}");
    }
}

#[test]
fn what_nobody_can_search_leaves_a_question() {
    let app = || vec![program("usr/bin/java", &[]), file("app/app.jar", "PK")];
    let judged = judged(app(), &["/usr/bin/java", "-jar", "/app/app.jar"], &[]);
    judged.never_safe(&[&in_toolkit("bin/nvcc"), "/usr/bin/x86_64-linux-gnu-gcc-13"]);
    judged.never_safe(&[&format!("/{LIB}/libcufft.so.11")]);
}

#[test]
fn a_program_of_a_static_package_is_no_header() {
    let content = [("usr/bin/busybox", crate::fixtures::elf::Elf::program("busybox").build())];
    let app = [
        debs(&[("busybox-static", "1.36", &content)]),
        vec![script("start.sh", "#!/bin/sh\nexec busybox httpd -f\n").mode(0o755)],
    ];
    let judged = judged(app.concat(), &["/start.sh"], &[]);
    judged.never_safe(&["/usr/bin/busybox"]);
}

#[test]
fn a_folder_that_is_only_called_like_a_toolkit_is_none() {
    let app = vec![
        file("opt/cuda-12-service/share/model.json", "{}"),
        file("opt/cuda-12-service/include/settings.h", "x"),
        program("srv/app/serve", &[]),
    ];
    let judged = judged(app, &["/srv/app/serve"], &[]);
    judged.never_safe(&["/opt/cuda-12-service/share/model.json", "/opt/cuda-12-service/include/settings.h"]);
}

#[test]
fn what_the_last_build_left_is_read_by_the_next() {
    let app = vec![
        file("app/build/CMakeCache.txt", "x"),
        file("app/build/CMakeFiles/Makefile2", "x"),
        file("app/build/Makefile", "run:\n"),
    ];
    let judged = judged(app, &["make", "-C", "/app/build", "run"], &[]);
    judged.never_safe(&["/app/build/CMakeCache.txt", "/app/build/CMakeFiles/Makefile2"]);
}
