//! Adversarial images.

use super::{Elf, Image, rule};

#[test]
fn cycles_end() {
    let mut image = Image::new();
    image.elf("/x/liba.so", Elf::library("liba.so", &["libb.so", "liba.so"]).runpath("$ORIGIN"));
    image.elf("/x/libb.so", Elf::library("libb.so", &["liba.so"]).runpath("$ORIGIN"));
    image.elf("/bin/a", Elf::program(&["liba.so"]).rpath("/x"));
    image.elf("/bin/b", Elf { interpreter: Some("/bin/b".to_owned()), ..Elf::program(&["libb.so"]) });
    image.rules.opens = vec![("lib*", rule(&["liba.so", "libb.so"], false)), ("*", rule(&["*"], false))];
    image.link("/loop", "loop").library_path("/loop:/x/../x:/x");
    image.resolve();
}

#[test]
fn odd_names_and_paths_do_no_harm() {
    let mut image = Image::default();
    image.library_path("$ORIGIN:${ORIGIN:$:::").environment.ld_preload =
        vec![b"$ORIGIN/x".to_vec(), Vec::new()];
    image.environment.entrypoint = vec![Vec::new()];
    image.environment.working_dir = b"/nowhere".to_vec();
    image.resolve();
    let long = "$ORIGIN/".repeat(100_000);
    image.elf("/a", Elf::program(&["", "/", "..", "$ORIGIN", &long, "*"]).rpath(&long).runpath(":::"));
    image.elf("/site-packages/x.so", Elf::library("a/b", &["a/b"]).rpath(&"/:".repeat(100_000)));
    image.elf("/lib/libslash.so", Elf::library("../../a", &["../../a"]));
    image.link("/python3", "/a").link("/bin/python3", "/a");
    image.rules.opens = vec![("*", rule(&["", "/", "**", "../*"], false))];
    image.resolve();
}

#[test]
fn work_is_bounded() {
    let mut image = Image::new();
    // Every library needs all others, through chains of long search paths.
    let names: Vec<String> = (0..60).map(|at| format!("lib{at}.so")).collect();
    let missing: Vec<String> = (0..200).map(|at| format!("libmissing{at}.so")).collect();
    let needed: Vec<&str> = names.iter().chain(&missing).map(String::as_str).collect();
    let rpath: Vec<String> = (0..300).map(|at| format!("/folder{at}")).collect();
    for at in 0..300 {
        image.link(&format!("/folder{at}/x"), "x");
    }
    for (at, name) in names.iter().enumerate() {
        image.elf(&format!("/folder{at}/{name}"), Elf::library(name, &needed).rpath(&rpath.join(":")));
        image.elf(&format!("/bin/{at}"), Elf::program(&needed).rpath(&rpath.join(":")));
    }
    let links = image.resolve_within(100_000);
    assert!(links.problems.iter().any(|problem| problem.contains("its limit")), "{:?}", links.problems);
}

#[test]
fn long_paths_are_not_repeated_in_each_result() {
    let mut image = Image::new();
    image.library("/x/libx.so", &[]).elf("/bin/a", Elf::program(&["libx.so"]));
    let long = |times: usize| format!("{}/x", "/.".repeat(times));
    image.environment.conf_folders = vec![long(200).into_bytes()];
    assert_eq!(image.resolve().need("/bin/a", "libx.so"), "/x/libx.so by cache /x");
    image.library_path(&long(200));
    assert_eq!(image.resolve().need("/bin/a", "libx.so"), "/x/libx.so by env /x");
    // The kernel rejects paths of this length.
    image.environment.conf_folders = vec![long(2048).into_bytes()];
    image.library_path(&long(2048));
    assert_eq!(image.resolve().need("/bin/a", "libx.so"), "missing");
}
