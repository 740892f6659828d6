//! The command line as scripts use it: exit codes, where output goes, what is never shown.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::fixtures::docker::save_classic;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, tar};
use crate::support::{self, Place};

fn program(arguments: &[&str]) -> Command {
    let mut command = support::program();
    command.args(arguments).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    command
}

#[test]
fn output_appears_whole_under_its_name_and_leaves_nothing_else() {
    let place = Place::new();
    let file = place.put("out/report.json", "old");
    let output = program(&["report", "sample:runtime", "--format", "json", "-o", &file]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let report: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(report["schema"], "cutaway.report/1");
    assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 1);
}

#[test]
fn output_to_a_pipe_is_written_to_it_and_not_over_it() {
    let place = Place::new();
    let pipe = place.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    assert!(program(&["report", "sample:runtime", "-o", &pipe]).status().unwrap().success());
    let text = reader.wait_with_output().unwrap().stdout;
    assert!(String::from_utf8(text).unwrap().contains("merged"));
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
}

#[test]
fn output_through_a_link_keeps_the_link() {
    let place = Place::new();
    let target = place.put("target.txt", "old");
    let link = place.path("link.txt");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert!(program(&["report", "sample:runtime", "-o", &link]).status().unwrap().success());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("merged"));
}

#[test]
fn output_that_cannot_be_written_is_an_error_that_names_the_file() {
    let place = Place::new();
    let message = place.failure(&["report", "sample:runtime", "-o", "no/such/folder/report.txt"]);
    assert!(message.contains("no/such/folder/report.txt"), "{message}");
}

#[test]
fn a_reader_that_hangs_up_is_no_error() {
    let mut child = program(&["report", "sample:devel", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn wrong_use_is_2_and_help_is_0() {
    for arguments in [&["report"][..], &["report", "sample:devel", "--format", "yaml"], &["--no-such-option"]]
    {
        let output = program(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    let help = program(&["--help"]).output().unwrap();
    assert_eq!(help.status.code(), Some(0));
    assert!(String::from_utf8(help.stdout).unwrap().contains("docker-archive:FILE"));
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = program(&["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.len() > 500, "{shell}");
        for offered in ["dockerfile", "prune", "--compare", "--version"] {
            let offered = if shell == "fish" { offered.trim_start_matches('-') } else { offered };
            assert!(script.contains(offered), "{shell}: {offered}");
        }
        for hidden in ["package-files", "exit-after-frames"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
    }
}

#[test]
fn without_a_display_the_report_of_the_image_is_printed_and_the_reason_told() {
    for (arguments, name) in
        [(&[][..], "vision-service:devel"), (&["sample:runtime"][..], "vision-service:runtime")]
    {
        let output = program(arguments).output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(0), "{err}");
        assert!(out.contains(name) && out.contains("\nLayers: "), "{out}");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(err.contains("cannot open a window"), "{err}");
    }
}

#[test]
fn text_fits_in_80_columns() {
    for sample in ["sample:devel", "sample:runtime"] {
        let output = program(&["report", sample]).output().unwrap();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn text_has_colors_only_where_they_are_asked_for() {
    let text = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut program = program(&[&["report", "sample:devel"], arguments].concat());
        let output = program.envs(variables.iter().copied()).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    // Neither a file nor a pipe is a terminal.
    let plain = text(&[], &[]);
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert_eq!(plain, text(&["--color", "never", "--full"], &[]));
    assert_eq!(plain, text(&[], &[("NO_COLOR", "1")]));
    let colored = text(&["--color", "always"], &[("NO_COLOR", "1")]);
    assert!(colored.contains("\u{1b}[32m") && colored.contains("\u{1b}[0m"), "{colored}");
    let mut without = String::new();
    for (number, part) in colored.split('\u{1b}').enumerate() {
        without += if number == 0 { part } else { part.split_once('m').unwrap().1 };
    }
    assert_eq!(without, plain);
    let place = Place::new();
    let file = place.path("report.txt");
    assert_eq!(text(&["-o", &file], &[]), "");
    assert_eq!(fs::read_to_string(&file).unwrap(), plain);
}

#[test]
fn a_terminal_gets_a_summary_in_its_width_that_fits_a_screen_and_a_half() {
    let shown = |columns: u16, rest: &str| {
        let command = format!(
            "stty cols {columns} rows 40; exec '{}' report sample:devel{rest} 2>/dev/null",
            env!("CARGO_BIN_EXE_cutaway")
        );
        let output = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .env("TERM", "xterm")
            .env("CUTAWAY_NO_CACHE", "1")
            .output()
            .expect("script of util-linux");
        String::from_utf8(output.stdout).unwrap().replace('\r', "")
    };
    let plain = |text: &str| {
        let parts = text.split('\u{1b}').enumerate();
        let parts =
            parts.map(|(number, part)| if number == 0 { part } else { part.split_once('m').unwrap().1 });
        parts.collect::<String>()
    };
    for columns in [80, 120] {
        let text = shown(columns, "");
        assert!(text.contains("\u{1b}[1m"), "{text}");
        let text = plain(&text);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(columns) && widest > usize::from(columns) - 20, "{widest}\n{text}");
        assert!(text.lines().count() <= 60, "{text}");
        // The answer first: sizes, what can go, the best proposal, whether it runs.
        let head: Vec<&str> = text.lines().take(16).collect();
        for words in ["compressed", "removable", "Proposed Dockerfile", "Runs on"] {
            assert!(head.iter().any(|line| line.contains(words)), "{words}: {text}");
        }
        assert!(text.contains("--full"), "{text}");
    }
    assert!(plain(&shown(80, " --full")).contains("\nPackages: "));
    assert!(!shown(80, " --color never").contains('\u{1b}'));
}

fn image_with_secrets() -> Image {
    let mut image = Image::new(Packing::Plain)
        .layer(
            "RUN |1 GIT_TOKEN=hunter2 /bin/sh -c git clone https://me:hunter2@example.org/x # buildkit",
            &tar([file("a", "x")]),
        )
        .step("ENV API_KEY=hunter2 words");
    image.config = serde_json::json!({"Env": ["API_KEY=hunter2 words", "MODE=fast"]});
    image
}

#[test]
fn secrets_are_in_no_output_unless_asked_for() {
    let place = Place::new();
    let layout = place.put_layout("image", &Layout::of(&image_with_secrets(), "latest"));
    let reference = format!("oci:{layout}");
    for format in ["text", "json"] {
        let shown = place.run(&["report", &reference, "--format", format, "-v"]);
        assert!(!shown.stdout.contains("hunter2") && !shown.stderr.contains("hunter2"), "{}", shown.stdout);
        let all = place.run(&["report", &reference, "--format", format, "--show-secrets"]);
        assert!(all.stdout.contains("hunter2"), "{format}: {}", all.stdout);
    }
    let report = place.report(&reference).json;
    let env = report["image"]["config"]["env"].as_array().unwrap();
    assert!(env.contains(&"API_KEY=<redacted>".into()) && env.contains(&"MODE=fast".into()), "{env:?}");
}

#[test]
fn a_seekable_archive_is_read_by_its_headers() {
    let place = Place::new();
    let body = vec![7u8; 1 << 20];
    let tars = (0..4)
        .map(|layer| tar((0..10).map(|number| file(format!("layer{layer}/file{number}"), body.clone()))));
    let image = Image::of(Packing::Plain, tars);
    let archive = tar(save_classic(&[(&image, &["example.org/app:1"])]));
    let path = place.put("save.tar", &archive);
    let outcome = place.run(&["report", &path, "-v"]);
    let words: Vec<&str> = outcome.stderr.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "read").expect("the count of bytes read");
    let read: u64 = words[at + 1].parse().unwrap();
    // 44 headers and ends of layers; bodies would be 40 MiB.
    assert!(read < archive.len() as u64 / 1000, "{read} of {}", archive.len());
}
