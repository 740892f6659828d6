//! Rules of the user's own, by `--catalog`.

use super::{entry, library};
use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, wheel};
use crate::fixtures::tarball::{file, tar};
use crate::support::Place;

const RULES: &str = r#"
[[component]]
name = "acme"
libraries = ["libacmegpu"]
packages = ["acme-gpu"]
source = "our own library"

[[framework]]
name = "acme-serve"
level = "server"
pip = ["acme-serve"]
source = "our own server"

[[target]]
id = "acme:node"
gpu = "NVIDIA H200"
compute_capability = "9.0"
class = "data-center"
memory_gib = 141
source = "our own machines"

[[weight_format]]
name = "acme-plan"
suffixes = ["acme"]
source = "our own format"
"#;

fn image() -> Image {
    let mut members = wheel(SITE, "acme-serve", "1.2", &[("acme/__init__.py", b"x = 1\n".to_vec())]);
    members.push(file("opt/lib/libacmegpu.so.2.5.1", Elf::library("libacmegpu.so.2").build()));
    members.push(file("opt/lib/libcudart.so.13", Elf::library("libcudart.so.13").build()));
    members.push(file("app/net.acme", vec![1; 300]));
    Image::of(Packing::Gzip, [tar(members)])
}

#[test]
fn a_users_rules_add_to_the_built_in_ones() {
    let place = Place::new();
    let path = place.put_layout("image", &Layout::of(&image(), "t"));
    let rules = place.put("rules.toml", RULES);
    let plain = place.report(&path);
    assert!(!plain.json["cuda"].to_string().contains("acme"), "{:#}", plain.json["cuda"]);
    let report = place.report_with(&path, &["--catalog", &rules]);
    assert_eq!(report.code, 0);
    let acme = library(&report, "/opt/lib/libacmegpu.so.2.5.1");
    assert_eq!((&acme["component"], &acme["version"]), (&"acme".into(), &"2.5.1".into()));
    assert_eq!(library(&report, "/opt/lib/libcudart.so.13")["component"], "cudart", "the others stay");
    let cuda = &report.json["cuda"];
    assert_eq!(entry(&cuda["frameworks"], "name", "acme-serve")["version"], "1.2");
    assert_eq!(entry(&cuda["stack"], "level", "server")["name"], "acme-serve 1.2");
    assert_eq!(entry(&cuda["weights"], "path", "/app/net.acme")["format"], "acme-plan");
}

#[test]
fn a_later_file_replaces_the_entry_of_an_earlier_one() {
    let place = Place::new();
    let path = place.put_layout("image", &Layout::of(&image(), "t"));
    let first = place.put("first.toml", RULES);
    let second = place.put(
        "second.toml",
        "[[component]]\nname = \"acme\"\nlibraries = [\"libnone\"]\npackages = []\nsource = \"newer\"\n",
    );
    let report = place.report_with(&path, &["--catalog", &first, "--catalog", &second]);
    let components = super::column(&report.json["cuda"]["components"], "name");
    assert_eq!(components, ["cudart"]);
}

#[test]
fn a_broken_file_of_rules_is_refused_with_its_place() {
    let place = Place::new();
    let cases = [
        ("[[component]]\nname = \"x\"\n  libraries = nonsense\n", "line 3, column 15"),
        ("# one\n[[component]]\nname = \"x\"\nsource = \"s\"\ncolour = \"red\"\n", "line 5, column 1"),
        ("[[compnent]]\nname = \"x\"\n", "line 1, column 3"),
        ("[[framework]]\nname = \"x\"\nlevel = \"upstairs\"\nsource = \"s\"\n", "line 3, column 9"),
    ];
    for (text, at) in cases {
        let rules = place.put("rules.toml", text);
        let message = place.failure(&["report", "sample:runtime", "--format", "json", "--catalog", &rules]);
        assert!(message.contains("rules.toml") && message.contains(at), "{text}: {message}");
    }
    // Entries that are TOML and cannot be used are named.
    let pattern = "[[component]]\nname = \"odd\"\npatterns = [\"(\"]\nsource = \"s\"\n";
    let twice = "[[framework]]\nname = \"odd\"\nlevel = \"server\"\nsource = \"s\"\n".repeat(2);
    let unsourced = "[[framework]]\nname = \"odd\"\nlevel = \"server\"\nsource = \"\"\n";
    for text in [pattern, &twice, unsourced] {
        let rules = place.put("rules.toml", text);
        let message = place.failure(&["report", "sample:runtime", "--catalog", &rules]);
        assert!(message.contains("rules.toml") && message.contains("odd"), "{text}: {message}");
    }
    let missing = place.path("none.toml");
    let message = place.failure(&["report", "sample:runtime", "--catalog", &missing]);
    assert!(message.contains("none.toml"), "{message}");
}
