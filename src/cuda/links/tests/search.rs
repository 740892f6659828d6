//! Tests of the search order.

use super::{Elf, Image, X86_64};

/// A program that needs `libx.so.1`, which is in one folder for each part of the search path.
fn everywhere() -> Image {
    let mut image = Image::new();
    for folder in ["/rpath", "/env", "/runpath", "/conf", "/usr/lib64"] {
        image.library(&format!("{folder}/libx.so.1"), &[]);
    }
    image.library_path("/env");
    image.environment.conf_folders = vec![b"/conf".to_vec()];
    image
}

#[test]
fn each_step_comes_in_its_order() {
    let mut image = everywhere();
    image.elf("/bin/rpath", Elf::program(&["libx.so.1"]).rpath("/none:/rpath"));
    image.elf("/bin/runpath", Elf::program(&["libx.so.1"]).rpath("/rpath").runpath("/runpath"));
    image.elf("/bin/plain", Elf::program(&["libx.so.1"]));
    let links = image.resolve();
    assert_eq!(links.need("/bin/rpath", "libx.so.1"), "/rpath/libx.so.1 by rpath of rpath /rpath");
    assert_eq!(links.need("/bin/runpath", "libx.so.1"), "/env/libx.so.1 by env /env");
    assert_eq!(links.need("/bin/plain", "libx.so.1"), "/env/libx.so.1 by env /env");
    image.environment.ld_library_path.clear();
    let links = image.resolve();
    assert_eq!(links.need("/bin/runpath", "libx.so.1"), "/runpath/libx.so.1 by runpath /runpath");
    assert_eq!(links.need("/bin/plain", "libx.so.1"), "/conf/libx.so.1 by cache /conf");
    image.environment.conf_folders.clear();
    let links = image.resolve();
    assert_eq!(links.need("/bin/plain", "libx.so.1"), "/usr/lib64/libx.so.1 by default /usr/lib64");
}

#[test]
fn rpath_is_inherited_and_runpath_is_not() {
    let mut image = Image::new();
    image.library("/deep/libdeep.so", &[]).library("/mid/libmid.so", &["libdeep.so"]);
    image.elf("/bin/rpath", Elf::program(&["libmid.so"]).rpath("/mid:/deep"));
    image.elf("/bin/runpath", Elf::program(&["libmid.so"]).runpath("/mid:/deep"));
    let links = image.resolve();
    assert_eq!(
        links.need("/mid/libmid.so", "libdeep.so"),
        "/deep/libdeep.so by rpath of rpath /deep, missing"
    );
    // An object with DT_RUNPATH uses no DT_RPATH at all.
    image.elf("/mid/libmid.so", Elf::library("libmid.so", &["libdeep.so"]).runpath("/none"));
    assert_eq!(image.resolve().need("/mid/libmid.so", "libdeep.so"), "missing");
    // An object with both in between is skipped, but not those that loaded it.
    image.elf("/mid/libmid.so", Elf::library("libmid.so", &["libdeep.so"]).rpath("/wrong").runpath("/mid"));
    image.elf("/deep/libdeep.so", Elf::library("libdeep.so", &["libend.so"]));
    image.library("/wrong/libend.so", &[]).library("/deep/libend.so", &[]);
    image.elf("/mid/libmid.so", Elf::library("libmid.so", &["libdeep.so"]).rpath("/wrong").runpath("/deep"));
    let links = image.resolve();
    assert_eq!(
        links.need("/deep/libdeep.so", "libend.so"),
        "/deep/libend.so by rpath of rpath /deep, missing"
    );
}

#[test]
fn origin_is_the_folder_in_which_a_library_was_opened() {
    let mut image = Image::new();
    image.elf("/opt/real/lib/liba.so", Elf::library("liba.so", &["libb.so"]).runpath("${ORIGIN}/../b"));
    image.library("/opt/real/b/libb.so", &[]).library("/opt/b/libb.so", &[]);
    // A link to a folder changes $ORIGIN to the real folder; a link to the file does not.
    image.link("/opt/folder", "real/lib").link("/opt/file/liba.so", "../real/lib/liba.so");
    image.elf("/bin/folder", Elf::program(&["liba.so"]).rpath("$ORIGIN/../opt/folder"));
    image.elf("/bin/real/file", Elf::program(&["liba.so"]).rpath("$ORIGIN/../../opt/file"));
    image.link("/bin/other/place/file", "/bin/real/file");
    let links = image.resolve();
    assert_eq!(
        links.need("/bin/folder", "liba.so"),
        "/opt/real/lib/liba.so by rpath of folder /opt/real/lib"
    );
    assert_eq!(
        links.need("/opt/real/lib/liba.so", "libb.so"),
        "/opt/real/b/libb.so by runpath /opt/real/b, /opt/b/libb.so by runpath /opt/b"
    );
}

#[test]
fn tokens_end_where_names_end() {
    let mut image = Image::new();
    image
        .library("/a$ORIGINAL/libx.so", &[])
        .library("/usr/lib64/p/liby.so", &[])
        .library("/x86_64/libz.so", &[]);
    let text = "/a$ORIGINAL:/usr/$LIB/p:/${PLATFORM}:${ORIGIN";
    image.elf("/bin/a", Elf::program(&["libx.so", "liby.so", "libz.so"]).runpath(text));
    let links = image.resolve();
    assert_eq!(links.need("/bin/a", "libx.so"), "/a$ORIGINAL/libx.so by runpath /a$ORIGINAL");
    assert_eq!(links.need("/bin/a", "liby.so"), "/usr/lib64/p/liby.so by runpath /usr/lib64/p");
    assert_eq!(links.need("/bin/a", "libz.so"), "/x86_64/libz.so by runpath /x86_64");
}

#[test]
fn the_cache_knows_sonames_for_which_there_is_no_link() {
    let mut image = Image::new();
    image.elf("/conf/libx.so.1.9", Elf::library("libx.so.1", &[]));
    image.elf("/conf/libx.so.1.10", Elf::library("libx.so.1", &[]));
    image.elf("/conf/other.so", Elf::library("libother.so", &[]));
    image.elf("/usr/lib64/liby-7.so", Elf::library("liby.so.2", &[]));
    image.environment.conf_folders = vec![b"/conf".to_vec(), b"/conf/../conf".to_vec()];
    image.elf("/bin/a", Elf::program(&["libx.so.1", "libx.so.1.9", "libother.so", "liby.so.2"]));
    let links = image.resolve();
    assert_eq!(links.need("/bin/a", "libx.so.1"), "/conf/libx.so.1.10 by cache /conf");
    assert_eq!(links.need("/bin/a", "libx.so.1.9"), "missing");
    assert_eq!(links.need("/bin/a", "libother.so"), "missing");
    assert_eq!(links.need("/bin/a", "liby.so.2"), "/usr/lib64/liby-7.so by default /usr/lib64");
}

#[test]
fn links_that_ldconfig_makes_are_found_by_every_search() {
    let mut image = Image::new();
    image.elf("/conf/libx.so.1.9", Elf::library("libx.so.1", &[]));
    image.elf("/conf/libx.so.1.10", Elf::library("libx.so.1", &[])).link("/conf/libx.so.1", "libx.so.1.9");
    // A regular file in place of a link is not replaced.
    image.elf("/conf/liby.so.1", Elf::library("liby.so.9", &[]));
    image.elf("/conf/liby.so.2", Elf::library("liby.so.1", &[]));
    image.elf("/bin/a", Elf::program(&["libx.so.1", "liby.so.1"]).runpath("/conf"));
    assert_eq!(image.resolve().need("/bin/a", "libx.so.1"), "/conf/libx.so.1.9 by runpath /conf");
    image.environment.conf_folders = vec![b"/conf".to_vec()];
    let links = image.resolve();
    assert_eq!(links.need("/bin/a", "libx.so.1"), "/conf/libx.so.1.10 by runpath /conf");
    assert_eq!(links.need("/bin/a", "liby.so.1"), "/conf/liby.so.1 by runpath /conf");
}

#[test]
fn links_of_the_cache_keep_their_names() {
    let mut image = Image::new();
    image.elf("/conf/libx.so.1.0", Elf::library("libx.so.1", &[]));
    image
        .link("/conf/libx.so.1", "libx.so.1.0")
        .link("/conf/libx.so", "libx.so.1")
        .link("/conf/libz.so", "libx.so.1");
    image.environment.conf_folders = vec![b"/conf".to_vec()];
    image.elf("/bin/a", Elf::program(&["libx.so"]));
    image.elf("/bin/b", Elf::program(&["libz.so"]));
    let links = image.resolve();
    assert_eq!(links.need("/bin/a", "libx.so"), "/conf/libx.so.1.0 by cache /conf");
    assert_eq!(links.need("/bin/b", "libz.so"), "missing");
}

#[test]
fn files_of_another_machine_or_class_are_passed_by() {
    let mut image = everywhere();
    image.elf("/env/libx.so.1", Elf { class32: true, machine: 3, ..Elf::library("libx.so.1", &[]) });
    image.elf("/conf/libx.so.1", Elf { machine: 183, ..Elf::library("libx.so.1", &[]) });
    image.elf("/bin/a", Elf::program(&["libx.so.1"]));
    let links = image.resolve();
    assert_eq!(links.need("/bin/a", "libx.so.1"), "/usr/lib64/libx.so.1 by default /usr/lib64");
}

#[test]
fn what_is_loaded_is_taken_by_name_soname_and_inode() {
    let mut image = Image::new();
    image.elf("/a/libx-renamed.so", Elf::library("libx.so.1", &[]));
    image.library("/b/libx.so.1", &[]);
    image.hard_links.push(("/b/libhard.so".to_owned(), "/a/libx-renamed.so".to_owned()));
    image.elf("/bin/a", Elf::program(&["libx-renamed.so", "libx.so.1", "libhard.so"]).rpath("/a:/b"));
    let links = image.resolve();
    assert_eq!(links.need("/bin/a", "libx.so.1"), "/a/libx-renamed.so by loaded");
    assert_eq!(links.need("/bin/a", "libhard.so"), "/a/libx-renamed.so by rpath of a /b");
    assert_eq!(
        links.need("/lib64/libc.so.6", "ld-linux-x86-64.so.2"),
        "/lib64/ld-linux-x86-64.so.2 by loaded"
    );
    // The first loaded library serves the whole process.
    image.elf("/bin/b", Elf::program(&["libfirst.so", "libsecond.so"]).rpath("/c"));
    image.elf("/c/libfirst.so", Elf::library("libfirst.so", &["libx.so.1"]).runpath("/b"));
    image.elf("/c/libsecond.so", Elf::library("libsecond.so", &["libx.so.1"]).runpath("/a"));
    let links = image.resolve();
    assert_eq!(links.need("/c/libfirst.so", "libx.so.1"), "/b/libx.so.1 by runpath /b");
    assert_eq!(links.need("/c/libsecond.so", "libx.so.1"), "/b/libx.so.1 by loaded");
}

#[test]
fn names_with_slashes_are_paths() {
    let mut image = Image::new();
    image.library("/opt/app/lib/libx.so", &[]).library("/srv/libw.so", &[]);
    image.environment.working_dir = b"/srv".to_vec();
    image.elf(
        "/opt/app/a",
        Elf::program(&["/opt/app/lib/libx.so", "$ORIGIN/lib/libx.so", "./libw.so", "/no/libx.so"]),
    );
    let links = image.resolve();
    assert_eq!(links.need("/opt/app/a", "/opt/app/lib/libx.so"), "/opt/app/lib/libx.so by path");
    assert_eq!(links.need("/opt/app/a", "$ORIGIN/lib/libx.so"), "/opt/app/lib/libx.so by path");
    assert_eq!(links.need("/opt/app/a", "./libw.so"), "/srv/libw.so by path");
    assert_eq!(links.need("/opt/app/a", "/no/libx.so"), "missing");
    // An empty folder in the search path is the working folder.
    image.elf("/bin/b", Elf::program(&["libw.so"])).library_path("/none:");
    assert_eq!(image.resolve().need("/bin/b", "libw.so"), "/srv/libw.so by env /srv");
}

#[test]
fn the_default_folders_can_be_switched_off() {
    let mut image = everywhere();
    image.environment.ld_library_path.clear();
    let program = Elf { no_default_lib: true, ..Elf::program(&["libx.so.1", "libc.so.6"]) };
    image.elf("/bin/a", program);
    let links = image.resolve();
    assert_eq!(links.need("/bin/a", "libx.so.1"), "/conf/libx.so.1 by cache /conf");
    assert_eq!(links.need("/bin/a", "libc.so.6"), "missing");
}

#[test]
fn debian_has_folders_for_its_machine() {
    let mut image = Image::new();
    image.library("/usr/lib/x86_64-linux-gnu/libx.so", &[]).library("/usr/lib64/libx.so", &[]);
    image.library("/usr/lib64/libonly64.so", &[]).link("/lib", "usr/lib");
    image.elf("/bin/a", Elf::program(&["libx.so", "libonly64.so"]).runpath("/usr/$LIB/none"));
    let links = image.resolve();
    assert_eq!(
        links.need("/bin/a", "libx.so"),
        "/usr/lib/x86_64-linux-gnu/libx.so by default /lib/x86_64-linux-gnu"
    );
    assert_eq!(links.need("/bin/a", "libonly64.so"), "missing");
}

#[test]
fn musl_has_rules_of_its_own() {
    let mut image = Image::default();
    let loader = "/lib/ld-musl-x86_64.so.1";
    image.elf(loader, Elf::library("libc.musl-x86_64.so.1", &[]));
    image.environment.musl = true;
    image.library("/env/libx.so", &[]).library("/rpath/libx.so", &[]).library_path("/env");
    image.library("/rpath/liby.so", &["libz.so"]).library("/rpath/libz.so", &[]);
    image.elf("/rpath/libs.so", Elf::library("libsoname.so", &["libsoname.so"]));
    let needed = ["libc.musl-x86_64.so.1", "libpthread.so.0", "libx.so", "liby.so", "libs.so"];
    let program = Elf { interpreter: Some(loader.to_owned()), ..Elf::program(&needed) };
    image.elf("/bin/a", program.runpath("/rpath"));
    let links = image.resolve();
    assert_eq!(links.need("/bin/a", "libpthread.so.0"), format!("{loader} by loaded"));
    // LD_LIBRARY_PATH comes first, and DT_RUNPATH is inherited.
    assert_eq!(links.need("/bin/a", "libx.so"), "/env/libx.so by env /env");
    assert_eq!(links.need("/rpath/liby.so", "libz.so"), "/rpath/libz.so by rpath of a /rpath");
    // Sonames are ignored.
    assert_eq!(links.need("/rpath/libs.so", "libsoname.so"), "missing");
    // The configured folders replace the standard ones.
    image.library("/usr/lib/libstd.so", &[]).library("/own/libown.so", &[]);
    let program = Elf { interpreter: Some(loader.to_owned()), ..Elf::program(&["libstd.so", "libown.so"]) };
    image.elf("/bin/b", program);
    assert_eq!(image.resolve().need("/bin/b", "libstd.so"), "/usr/lib/libstd.so by default /usr/lib");
    image.environment.musl_folders = vec![b"/own".to_vec()];
    let links = image.resolve();
    assert_eq!(links.need("/bin/b", "libstd.so"), "missing");
    assert_eq!(links.need("/bin/b", "libown.so"), "/own/libown.so by default /own");
    // musl does not skip a file with the wrong format.
    image.elf("/env/libown.so", Elf { class32: true, ..Elf::library("", &[]) });
    assert_eq!(image.resolve().need("/bin/b", "libown.so"), "missing");
}

#[test]
fn what_the_host_supplies_is_not_missing() {
    let mut image = Image::new();
    image.library("/usr/local/cuda/lib64/stubs/libcuda.so.1", &[]);
    image.elf("/bin/a", Elf::program(&["libcuda.so.1", "libnone.so"]));
    let links = image.resolve();
    assert_eq!(links.need("/bin/a", "libcuda.so.1"), "host");
    assert_eq!(links.need("/bin/a", "libnone.so"), "missing");
    image.library_path("/usr/local/cuda/lib64/stubs");
    let found = "/usr/local/cuda/lib64/stubs/libcuda.so.1 by env /usr/local/cuda/lib64/stubs";
    assert_eq!(image.resolve().need("/bin/a", "libcuda.so.1"), found);
}

#[test]
fn what_nothing_reaches_is_resolved_alone() {
    let mut image = Image::new();
    image.elf("/opt/liba.so", Elf::library("liba.so", &["libb.so"]).runpath("$ORIGIN"));
    image.library("/opt/libb.so", &[]);
    let links = image.resolve();
    assert_eq!(links.need("/opt/liba.so", "libb.so"), "/opt/libb.so by runpath /opt");
    assert_eq!(links.usage("/opt/libb.so"), super::Use::Unreferenced);
    assert_eq!(links.object("/opt/libb.so").needed_by, [links.id("/opt/liba.so")]);
    let mut foreign = Image::new();
    foreign.elf("/bin/arm", Elf { machine: 183, ..Elf::program(&["libc.so.6"]) });
    assert_ne!(X86_64, 183);
    assert_eq!(foreign.resolve().need("/bin/arm", "libc.so.6"), "missing");
}

#[test]
fn each_program_reads_the_configuration_of_its_own_c_library() {
    let mut image = Image::new();
    let musl = "/lib/ld-musl-x86_64.so.1";
    image.elf(musl, Elf::library("libc.musl-x86_64.so.1", &[]));
    image.library("/conf/libx.so", &[]).library("/own/libx.so", &[]);
    image.environment.conf_folders = vec![b"/conf".to_vec()];
    image.environment.musl_folders = vec![b"/own".to_vec()];
    image.elf("/bin/of_glibc", Elf::program(&["libx.so"]));
    let of_musl = Elf { interpreter: Some(musl.to_owned()), ..Elf::program(&["libx.so"]) };
    image.elf("/bin/a_of_musl", of_musl.clone());
    // Loaded by the interpreter of most programs; of equally frequent ones, by glibc's.
    image.library("/opt/libalone.so", &["libx.so"]);
    let links = image.resolve();
    assert_eq!(links.need("/bin/of_glibc", "libx.so"), "/conf/libx.so by cache /conf");
    assert_eq!(links.need("/bin/a_of_musl", "libx.so"), "/own/libx.so by default /own");
    assert_eq!(links.need("/opt/libalone.so", "libx.so"), "/conf/libx.so by cache /conf");
    image.elf("/bin/b_of_musl", of_musl);
    assert_eq!(image.resolve().need("/opt/libalone.so", "libx.so"), "/own/libx.so by default /own");
    // Without programs, the environment determines the loader.
    image.elves.retain(|path, _| !path.starts_with("/bin/"));
    assert_eq!(image.resolve().need("/opt/libalone.so", "libx.so"), "/conf/libx.so by cache /conf");
    image.environment.musl = true;
    assert_eq!(image.resolve().need("/opt/libalone.so", "libx.so"), "/own/libx.so by default /own");
}

#[test]
fn a_need_is_missing_when_no_process_finds_it() {
    let mut image = Image::new();
    image.elf("/bin/a", Elf::program(&["libmid.so"]).rpath("/x:/private"));
    image.elf("/bin/b", Elf::program(&["libmid.so", "libno.so"]).rpath("/x"));
    image.library("/x/libmid.so", &["libdep.so"]).library("/private/libdep.so", &[]);
    let links = image.resolve();
    let need = |path: &str, name: &str| {
        links.object(path).needs.iter().find(|need| need.name == name).unwrap().is_missing()
    };
    assert_eq!(links.need("/x/libmid.so", "libdep.so"), "/private/libdep.so by rpath of a /private, missing");
    assert!(!need("/x/libmid.so", "libdep.so") && need("/bin/b", "libno.so"));
}
