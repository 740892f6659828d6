//! Secrets and names that want to be more than names, in every format.

use serde_json::{Value, json};

use super::{FORMATS, Place, compare, image, put};
use crate::fixtures::image::Image;
use crate::fixtures::tarball::file;

/// An image whose environment, labels, command, history and arguments hold this secret.
fn with_secret(secret: &str) -> Image {
    let run =
        format!("RUN |1 GIT_TOKEN={secret} /bin/sh -c curl https://me:{secret}@example.org/x # buildkit");
    let config = json!({
        "Env": [format!("API_KEY={secret}"), format!("INDEX=https://me:{secret}@example.org/simple"), "MODE=fast",
                format!("https://me:{secret}@example.org/")],
        "Labels": {"org.password": secret, "org.url": format!("https://me:{secret}@example.org/")},
        "Cmd": ["serve", "--token", secret],
        "Entrypoint": ["/bin/sh", "-c", format!("DB_PASSWORD={secret} exec serve")],
    });
    image(&[(&run, vec![file("a", secret.len().to_string())])], config)
}

#[test]
fn secrets_are_in_no_format_unless_asked_for() {
    let (first, second) = (with_secret("hunter2"), with_secret("swordfish"));
    for format in FORMATS {
        let shown = compare(&[&first, &second], &["--format", format, "-v"]);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        for secret in ["hunter2", "swordfish"] {
            for output in [&shown.stdout, &shown.stderr] {
                assert!(!output.contains(secret), "{secret} in {format}: {output}");
            }
        }
        let all = compare(&[&first, &second], &["--format", format, "--show-secrets"]);
        for secret in ["hunter2", "swordfish"] {
            assert!(all.stdout.contains(secret), "no {secret} in {format}: {}", all.stdout);
        }
    }
}

#[test]
fn secrets_that_differ_are_marked_and_those_that_are_the_same_are_not() {
    let (first, second) = (with_secret("hunter2"), with_secret("swordfish"));
    let key = |json: &Value| {
        let rows = json["environment"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["name"] == "API_KEY").unwrap()
    };
    let both = json!(["<redacted>", "<redacted>"]);
    let differ = key(&super::report(&[&first, &second], 0));
    assert_eq!((&differ["values"], &differ["differs"]), (&both, &json!(true)));
    let same = key(&super::report(&[&first, &first], 0));
    assert_eq!((&same["values"], &same["differs"]), (&both, &json!(false)));
    let text = compare(&[&first, &second], &[]).stdout;
    assert!(text.contains("~ API_KEY"), "{text}");
}

#[test]
fn a_password_in_a_reference_is_told_nowhere() {
    let place = Place::new();
    let message =
        place.failure(&["compare", "sample:devel", "docker-archive:https://me:hunter2@example.org/x.tar"]);
    assert!(!message.contains("hunter2"), "{message}");
}

const NAMES: [&str; 6] = [
    "a\nb|c",
    "<script>alert(1)</script>",
    "\u{1b}[31mred",
    "=cmd()|x",
    "](javascript:x)`*_",
    "\u{202e}evil",
];

/// An image whose names are all of these, with so many bytes for each file.
fn hostile(bytes: usize) -> Image {
    let files = NAMES.iter().map(|name| file(format!("srv/{}", name.replace('/', "_")), vec![b'x'; bytes]));
    let labels: serde_json::Map<String, Value> =
        NAMES.iter().map(|name| ((*name).to_owned(), json!(format!("{name} {bytes}")))).collect();
    let env: Vec<String> = NAMES.iter().map(|name| format!("{name}={name}{bytes}")).collect();
    let config =
        json!({"Env": env, "Labels": labels, "User": NAMES[1], "Cmd": NAMES, "WorkingDir": NAMES[0]});
    let step = format!("RUN echo {} {bytes}", NAMES.join(" "));
    image(&[(&step, files.collect())], config)
}

/// No name became a tag of HTML. In Markdown a span of code may hold it: the text between runs of as many backticks.
fn no_tags(format: &str, text: &str) {
    match format {
        "html" => assert!(!text.contains("<script"), "{text}"),
        "markdown" => {
            let mut rest = text;
            while let Some(at) = rest.find('`') {
                assert!(!rest[..at].contains("<script"), "{text}");
                let length = rest[at..].len() - rest[at..].trim_start_matches('`').len();
                let code = &rest[at + length..];
                let end = (0..code.len()).find(|place| {
                    code.is_char_boundary(*place) && !code[..*place].ends_with('`') && {
                        let run = code[*place..].len() - code[*place..].trim_start_matches('`').len();
                        run == length
                    }
                });
                let end = end.unwrap_or_else(|| panic!("a span of code without an end: {code}"));
                assert!(!code[..end].contains("\n\n"), "a span of code over paragraphs: {text}");
                rest = &code[end + length..];
            }
            assert!(!rest.contains("<script"), "{text}");
        }
        _ => {}
    }
}

#[test]
fn names_mean_only_themselves_in_every_format() {
    let (first, second) = (hostile(100), hostile(3000));
    // That no output holds control characters or turns its direction is looked at wherever the program is run.
    for format in FORMATS {
        let outcome = compare(&[&first, &second], &["--format", format]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        no_tags(format, &outcome.stdout);
        if format == "text" {
            assert!(outcome.stdout.lines().all(|line| line.chars().count() <= 80), "{}", outcome.stdout);
        }
        if format == "csv" {
            let mut reader = csv::Reader::from_reader(outcome.stdout.as_bytes());
            for row in reader.records().map(Result::unwrap) {
                let number = |cell: &str| cell.parse::<f64>().is_ok();
                let runs = |cell: &str| cell.starts_with(['=', '+', '-', '@']) && !number(cell);
                assert!(row.len() == 6 && !row.iter().any(runs), "{row:?}");
            }
            assert!(outcome.stdout.contains("'=cmd()"), "{}", outcome.stdout);
        }
    }
    let json = super::report(&[&first, &second], 0);
    let paths: Vec<&str> =
        json["largest_changes"].as_array().unwrap().iter().filter_map(|row| row["path"].as_str()).collect();
    assert!(paths.contains(&"/srv/a\\x0ab|c") && paths.contains(&"/srv/\\x1b[31mred"), "{paths:?}");
}

#[test]
fn a_name_of_an_image_is_a_name_too() {
    let place = Place::new();
    let names = ["<script>x|y", "=1+1"];
    let images: Vec<String> = names.iter().map(|name| put(&place, name, &hostile(10))).collect();
    for format in FORMATS {
        let outcome = place.run(&["compare", &images[0], &images[1], "--format", format]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        no_tags(format, &outcome.stdout);
    }
}
