//! No command tells a secret in any format, unless it is asked to.

use std::fs;

use serde_json::{Value, json};

use super::{FORMATS, json_of, list, printed};
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, tar};
use crate::support::Place;

/// What all secrets begin with; behind it stands where each one is.
const SECRET: &str = "hunter2";
/// Places whose values may be seen when that is asked for.
const PLACES: [&str; 11] = [
    "env",
    "envurl",
    "label",
    "labelurl",
    "entrypoint",
    "cmd",
    "cmdurl",
    "arg",
    "history",
    "runurl",
    "login",
];

fn image(body: &str) -> Image {
    let mut image = Image::new(Packing::Gzip)
        .layer(
            "RUN |2 GIT_TOKEN=hunter2-arg MODE=x /bin/sh -c git clone https://me:hunter2-runurl@example.org/x # buildkit",
            &tar([file("usr/local/cuda/include/a.h", body)]),
        )
        .step("ENV API_KEY=hunter2-history")
        .layer("RUN /bin/sh -c login --password hunter2-login # buildkit", &tar([file("b", "x")]));
    image.config = json!({
        "Env": ["API_KEY=hunter2-env", "MIRROR=https://me:hunter2-envurl@example.org/", "MODE=fast"],
        "Labels": {"db.password": "hunter2-label", "source": "https://me:hunter2-labelurl@example.org/"},
        "Entrypoint": ["/serve", "--token=hunter2-entrypoint"],
        "Cmd": ["--secret", "hunter2-cmd", "https://me:hunter2-cmdurl@example.org/"],
    });
    image
}

/// Two images in a folder whose name looks like a URL with user info.
fn scene() -> (Place, String, String) {
    let place = Place::new();
    let put = |name: &str, body: &str| {
        let folder = format!("https:/me:hunter2-reference@example.org/{name}");
        place.put_layout(&folder, &Layout::of(&image(body), "https://me:hunter2-tag@example.org/app:1"));
        format!("oci:{}", place.path(&folder).replace("https:/", "https://"))
    };
    let (first, second) = (put("one", "x"), put("two", "other"));
    (place, first, second)
}

/// Every command and format that shows an image.
fn commands<'a>(first: &'a str, second: &'a str) -> Vec<Vec<&'a str>> {
    let mut commands: Vec<Vec<&str>> =
        FORMATS.iter().map(|(_, options)| [&["report", first], *options].concat()).collect();
    commands.extend(
        [&[][..], &["--diff"], &["--format", "json"]]
            .map(|options| [&["dockerfile", first], options].concat()),
    );
    commands.extend(
        ["text", "json", "markdown", "html", "csv"]
            .map(|format| vec!["compare", first, second, "--format", format]),
    );
    commands
}

#[test]
fn no_command_tells_a_secret_in_any_format() {
    let (place, first, second) = scene();
    let mut commands = commands(&first, &second);
    commands.push(vec!["check", &first]);
    for mut command in commands {
        command.push("-v");
        let told = place.run(&command);
        assert_eq!(told.code, 0, "{command:?}: {}", told.stderr);
        for text in [&told.stdout, &told.stderr] {
            let leaks = text.lines().find(|line| line.contains(SECRET));
            assert_eq!(leaks, None, "{command:?}");
        }
    }
    let summary = tempfile::NamedTempFile::new().unwrap();
    place.run(&["check", &first, "--summary", summary.path().to_str().unwrap()]);
    let summary = fs::read_to_string(summary).unwrap();
    assert!(!summary.is_empty() && !summary.contains(SECRET), "{summary}");
}

/// The word that is to be started stands in more places than the config: in the stack and in warnings.
#[test]
fn a_command_that_begins_with_a_secret_tells_none() {
    let place = Place::new();
    for (number, word) in
        ["API_TOKEN=hunter2-first", "https://me:hunter2-url@example.org/x"].iter().enumerate()
    {
        let mut image = image("x");
        image.config = json!({ "Cmd": [word, "x"], "WorkingDir": "/w/token=hunter2-folder" });
        let name = format!("first{number}");
        let layout = place.put_layout(&name, &Layout::of(&image, "app:1"));
        for (name, options) in FORMATS {
            let told = printed(&place, &format!("oci:{layout}"), options);
            let leak = told.lines().find(|line| line.contains(SECRET));
            assert_eq!(leak, None, "{name} of {word}");
        }
    }
}

#[test]
fn secrets_are_told_to_who_asks() {
    let (place, first, second) = scene();
    for command in commands(&first, &second) {
        let told = place.run(&[&command[..], &["--show-secrets"]].concat()).stdout;
        let count = PLACES.iter().filter(|place| told.contains(&format!("{SECRET}-{place}"))).count();
        let least = match &*command.join(" ") {
            whole if whole.contains("dockerfile") && whole.contains("--diff") => 0,
            whole if whole.contains("dockerfile") => 5,
            whole if whole.contains("report") && whole.contains("json") => PLACES.len() - 1,
            whole if whole.contains("compare") => {
                if whole.contains("json") {
                    6
                } else {
                    1
                }
            }
            whole if whole.contains("sarif") || whole.contains("libraries") => 0,
            whole if whole.contains("report") && whole.contains("csv") && !whole.contains("layers") => 0,
            _ => 2,
        };
        assert!(count >= least, "{command:?} tells {count} of at least {least}: {told}");
    }
}

#[test]
fn a_report_that_was_saved_with_its_secrets_is_told_without_them() {
    let (place, first, _) = scene();
    let open = place.put("open.json", printed(&place, &first, &["--format", "json", "--show-secrets"]));
    let hidden = place.put("hidden.json", printed(&place, &first, &["--format", "json"]));
    assert!(fs::read_to_string(&open).unwrap().contains(SECRET));
    for (name, options) in FORMATS {
        let told = printed(&place, &open, options);
        assert!(!told.contains(SECRET), "{name}: {:?}", told.lines().find(|line| line.contains(SECRET)));
        // What was hidden before is not hidden more.
        assert!(printed(&place, &hidden, options) == printed(&place, &first, options), "{name}");
    }
    let all = printed(&place, &open, &["--format", "json", "--show-secrets"]);
    assert!(all == fs::read_to_string(&open).unwrap());
}

/// A report goes to others, so the user's own Dockerfile is shown there without its secrets as well. The command
/// that writes Dockerfiles gives it back as it is.
#[test]
fn a_dockerfile_that_is_given_tells_its_secrets_to_its_owner_only() {
    const TOKEN: &str = "not-a-real-token";
    let place = Place::new();
    let rebuilt = place.run(&["dockerfile", "sample:devel", "--format", "json", "--show-secrets"]).stdout;
    let rebuilt: Value = serde_json::from_str(&rebuilt).unwrap();
    let text = rebuilt["recipe"]["dockerfile"].as_str().unwrap();
    // The value on a line of its own is no less a secret.
    let text = text.replace(&format!("ENV HF_TOKEN={TOKEN}\n"), &format!("ENV HF_TOKEN \\\n    {TOKEN}\n"));
    assert!(text.contains(TOKEN), "{text}");
    let given = place.put("Dockerfile", &text);
    for (name, options) in FORMATS {
        let told = printed(&place, "sample:devel", &[options, &["--dockerfile", &given]].concat());
        assert!(!told.contains(TOKEN), "{name}: {:?}", told.lines().find(|line| line.contains(TOKEN)));
    }
    let report = json_of(&place, "sample:devel", &["--dockerfile", &given]);
    assert_eq!(report["dockerfile"]["origin"], "given");
    let proposal = &report["proposals"][0];
    assert!(proposal["dockerfile"].as_str().unwrap().contains("ENV HF_TOKEN <redacted>"), "{proposal:#}");
    // It begins within the instruction.
    assert!(
        list(&report, "proposals")
            .iter()
            .any(|one| one["diff"].as_str().unwrap().contains("@@\n <redacted>\n"))
    );
    let own = place.run(&["dockerfile", "sample:devel", "--dockerfile", &given]).stdout;
    assert!(own.contains(TOKEN), "{own}");
}
