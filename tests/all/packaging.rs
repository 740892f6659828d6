//! What packages install beside the program, judged by the tools of the desktop.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::oracle::have;
use crate::support::{Place, program};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn passes(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let told =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {told}");
    told
}

#[test]
fn the_desktop_entry_and_the_component_are_valid() {
    if !have(&["desktop-file-validate", "appstreamcli"]) {
        return;
    }
    let linux = root().join("packaging/linux");
    assert_eq!(passes(Command::new("desktop-file-validate").arg(linux.join("cutaway.desktop"))), "");
    let component = linux.join("io.github.cutaway.Cutaway.metainfo.xml");
    passes(Command::new("appstreamcli").args(["validate", "--no-net"]).arg(&component));
    let text = fs::read_to_string(component).unwrap();
    let version = format!("<release version=\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&version), "no {version}");
}

#[test]
fn a_report_has_its_own_type() {
    if !have(&["update-mime-database", "gio"]) {
        return;
    }
    let place = Place::new();
    // The database of the system lies below this one, which then has all types.
    let packages = PathBuf::from(place.path("data/mime/packages"));
    fs::create_dir_all(&packages).unwrap();
    fs::copy(root().join("packaging/linux/cutaway.mime.xml"), packages.join("cutaway.xml")).unwrap();
    passes(Command::new("update-mime-database").arg(place.path("data/mime")));
    let kind = |path: &str| {
        let mut gio = Command::new("gio");
        gio.args(["info", "--attributes=standard::content-type", path]);
        passes(gio.env("XDG_DATA_HOME", place.path("data")))
    };
    let report = place.run(&["report", "sample:runtime", "--format", "json"]).stdout;
    // By name, or by content where no name says otherwise.
    for name in ["service.cutaway.json", "report"] {
        let told = kind(&place.put(name, &report));
        assert!(told.contains("content-type: application/vnd.cutaway.report+json"), "{name}: {told}");
    }
    let told = kind(&place.put("other", "{\"schema\": \"other\"}"));
    assert!(!told.contains("content-type: application/vnd.cutaway"), "{told}");
}

#[test]
fn pages_and_scripts_are_there_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    passes(program().arg("package-files").arg(folder.path()));
    let pages = folder.path().join("share/man/man1");
    let help = passes(program().arg("--help"));
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut count = 0;
    for line in commands.filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let name = line.split_whitespace().next().unwrap();
        if name == "help" {
            continue;
        }
        count += 1;
        let page = fs::read_to_string(pages.join(format!("cutaway-{name}.1")));
        let page = page.unwrap_or_else(|error| panic!("no page of {name}: {error}"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH OPTIONS"), "{name}: {page}");
    }
    assert!(count > 8, "{help}");
    assert!(pages.join("cutaway-cache-prune.1").is_file() && !pages.join("cutaway-package-files.1").exists());
    if have(&["man"]) {
        let mut man = Command::new("man");
        man.args(["--warnings", "--local-file"]).arg(pages.join("cutaway.1")).env("MANWIDTH", "100");
        let shown = passes(man.env("LC_ALL", "C.UTF-8").env("MAN_KEEP_FORMATTING", "0"));
        assert!(shown.contains("Inspect container images") && !shown.contains("warning"), "{shown}");
    }
    for script in [
        "share/bash-completion/completions/cutaway",
        "share/zsh/vendor-completions/_cutaway",
        "share/fish/vendor_completions.d/cutaway.fish",
    ] {
        let text = fs::read_to_string(folder.path().join(script)).unwrap();
        assert!(text.contains("dockerfile"), "{script}");
    }
}

#[test]
fn the_tarball_installs_and_removes_itself() {
    if !have(&["bash", "tar", "gzip", "sha256sum"]) {
        return;
    }
    let place = Place::new();
    let out = place.path("out");
    passes(Command::new("bash").arg(root().join("packaging/build.sh")).args([
        "--no-deb",
        "--profile",
        "test",
        "--binary",
        env!("CARGO_BIN_EXE_cutaway"),
        &out,
    ]));
    passes(Command::new("sha256sum").args(["--check", "SHA256SUMS"]).current_dir(&out));
    let archive = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    let archive = archive.into_iter().find(|path| path.extension().is_some_and(|end| end == "gz")).unwrap();
    passes(Command::new("tar").arg("xf").arg(&archive).current_dir(&out));
    let tree = archive.to_str().unwrap().strip_suffix(".tar.gz").unwrap().to_owned();
    let prefix = place.path("prefix with space");
    passes(Command::new("sh").arg(format!("{tree}/install.sh")).arg(&prefix));
    let version = passes(Command::new(format!("{prefix}/bin/cutaway")).arg("--version"));
    assert_eq!(version, format!("cutaway {}\n", env!("CARGO_PKG_VERSION")));
    assert!(Path::new(&prefix).join("share/applications/cutaway.desktop").is_file());
    passes(Command::new("sh").arg(format!("{tree}/install.sh")).args(["--uninstall", &prefix]));
    assert!(!Path::new(&prefix).join("bin/cutaway").exists());
}
