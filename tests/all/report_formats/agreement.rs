//! All formats carry the figures of the JSON. CSV is compared cell by cell beside its other tests.

use cutaway::base::size::human;
use serde_json::{Value, json};

use super::{json_of, list, printed, scene};
use crate::support::Place;

/// A figure, and the words that must stand in one line with it.
#[derive(Debug)]
struct Claim {
    /// Where the JSON has it.
    pointer: String,
    parts: Vec<String>,
}

/// The lines of a format for people, without its marks.
fn lines(format: &str, text: &str) -> Vec<String> {
    let text = match format {
        "html" => {
            let body = text.split_once("<body").unwrap().1;
            let mut plain = String::new();
            for piece in body.split('<') {
                let (tag, rest) = piece.split_once('>').unwrap_or(("", piece));
                let name = tag.split([' ', '\n']).next().unwrap_or_default();
                plain += if matches!(
                    name,
                    "/tr" | "/p" | "/li" | "/h1" | "/h2" | "/h3" | "/dd" | "/div" | "/summary"
                ) {
                    "\n"
                } else {
                    " "
                };
                plain += &rest.replace('\n', " ");
            }
            plain
        }
        "markdown" => text.replace(['|', '*', '`', '\\', '\u{200b}'], " "),
        _ => text.to_owned(),
    };
    let text = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&#58;", ":"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text, |text, (entity, plain)| text.replace(entity, plain));
    // Figures stand beside their names; blanks do not count.
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()).collect()
}

/// All that formats for people must say of a report, as far as their lists go.
fn claims(json: &Value) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut claim = |pointer: String, words: &[&str]| {
        let figure = json.pointer(&pointer).unwrap_or_else(|| panic!("no {pointer}"));
        let figure = match figure {
            Value::Number(number) if pointer.contains("bytes") => human(number.as_u64().unwrap()),
            Value::Null => return,
            other => other.as_str().map_or_else(|| other.to_string(), str::to_owned),
        };
        let words = words.iter().map(|word| (*word).to_owned());
        let parts = words.chain([figure]).map(|part| part.to_lowercase()).collect();
        claims.push(Claim { pointer, parts });
    };
    for name in ["compressed", "uncompressed", "content", "merged", "wasted"] {
        claim(format!("/totals/{name}_bytes"), &[name]);
    }
    if !json["reclaimable"].is_null() && !list(json, "findings").is_empty() {
        claim("/reclaimable/safe_bytes".to_owned(), &["removable,"]);
        claim("/reclaimable/unsure_bytes".to_owned(), &["to review"]);
        claim("/plan/merged_bytes_after".to_owned(), &["after removal"]);
    }
    for (place, finding) in list(json, "findings").iter().enumerate().take(5) {
        if finding["bytes"] != 0 {
            let title: String = finding["title"].as_str().unwrap().chars().take(20).collect();
            claim(format!("/findings/{place}/bytes"), &[&title]);
        }
    }
    for place in 0..list(json, "layers").len().min(20) {
        let layer = &json["layers"][place];
        let size = |name: &str| layer[name].as_u64().map(human).unwrap_or_default();
        let shown = [size("content_bytes"), size("wasted_bytes"), place.to_string()];
        claim(format!("/layers/{place}/compressed_bytes"), &shown.each_ref().map(String::as_str));
    }
    for (place, component) in list(&json["cuda"], "components").iter().enumerate().take(8) {
        claim(format!("/cuda/components/{place}/bytes"), &[component["name"].as_str().unwrap()]);
    }
    for (place, target) in list(&json["compatibility"], "targets").iter().enumerate() {
        let gpu = target["gpu"].as_str().unwrap().trim_start_matches("NVIDIA ");
        claim(format!("/compatibility/targets/{place}/verdict"), &[gpu]);
    }
    claims
}

fn missing<'c>(claims: &'c [Claim], lines: &[String]) -> Vec<&'c Claim> {
    let stands =
        |claim: &Claim| lines.iter().any(|line| claim.parts.iter().all(|part| line.contains(part.as_str())));
    claims.iter().filter(|claim| !stands(claim)).collect()
}

#[test]
fn formats_for_people_have_the_figures_of_the_json() {
    let place = Place::new();
    for image in
        ["sample:devel".to_owned(), "sample:runtime".to_owned(), scene::plain(&place), scene::huge(&place)]
    {
        let json = json_of(&place, &image, &[]);
        let claims = claims(&json);
        assert!(claims.len() > 5, "{claims:?}");
        for format in ["text", "markdown", "html"] {
            let lines = lines(format, &printed(&place, &image, &["--format", format]));
            let missing = missing(&claims, &lines);
            assert!(missing.is_empty(), "{image}: {format} lacks {missing:#?}");
        }
    }
}

/// Of a list that is cut, the parts that are shown and the parts that are told of are the whole.
#[test]
fn the_number_of_findings_is_the_same_everywhere() {
    let place = Place::new();
    for image in ["sample:devel", "sample:runtime"] {
        let findings = list(&json_of(&place, image, &[]), "findings").len();
        for format in ["text", "markdown", "html"] {
            let lines = lines(format, &printed(&place, image, &["--format", format]));
            assert!(
                lines.iter().any(|line| line.contains(&format!("{findings} findings"))),
                "{image}: {format}"
            );
        }
    }
}

/// The test above would notice a format that shows another figure.
#[test]
fn another_figure_is_noticed() {
    let place = Place::new();
    let json = json_of(&place, "sample:devel", &[]);
    let rendered = ["text", "markdown", "html"]
        .map(|format| lines(format, &printed(&place, "sample:devel", &["--format", format])));
    for claim in claims(&json) {
        let mut other = json.clone();
        let figure = other.pointer_mut(&claim.pointer).unwrap();
        *figure = match figure.as_u64() {
            Some(bytes) => json!(bytes * 3 + 7_777_777),
            None => json!("perhaps"),
        };
        let claims = claims(&other);
        for lines in &rendered {
            let missing = missing(&claims, lines);
            assert!(
                missing.iter().any(|one| one.pointer == claim.pointer),
                "{} may be anything",
                claim.pointer
            );
        }
    }
}

#[test]
fn sarif_has_the_figures_of_the_json() {
    let place = Place::new();
    for image in
        ["sample:devel".to_owned(), "sample:runtime".to_owned(), scene::plain(&place), scene::hostile(&place)]
    {
        let json = json_of(&place, &image, &[]);
        let log: Value = serde_json::from_str(&printed(&place, &image, &["--format", "sarif"])).unwrap();
        let run = &log["runs"][0];
        for part in ["totals", "reclaimable", "plan"] {
            assert_eq!(run["properties"][part], json[part], "{image}: {part}");
        }
        let verdicts = |targets: &[Value]| -> Vec<(String, String)> {
            targets.iter().map(|one| (one["target"].to_string(), one["verdict"].to_string())).collect()
        };
        assert_eq!(
            verdicts(list(&run["properties"], "targets")),
            verdicts(list(&json["compatibility"], "targets"))
        );
        assert_eq!(list(run, "results").len(), list(&json, "findings").len(), "{image}");
        for (result, finding) in list(run, "results").iter().zip(list(&json, "findings")) {
            assert_eq!(
                (&result["ruleId"], &result["partialFingerprints"]["finding/v1"]),
                (&finding["rule"], &finding["id"])
            );
            for name in [
                "verdict",
                "severity",
                "category",
                "bytes",
                "merged_bytes",
                "potential_bytes",
                "files",
                "layers",
            ] {
                assert_eq!(result["properties"][name], finding[name], "{image} {name}");
            }
            let bytes = finding["bytes"].as_u64().unwrap();
            let text = result["message"]["text"].as_str().unwrap();
            assert!(bytes == 0 || text.contains(&human(bytes)), "{text}");
        }
        let told = list(&run["invocations"][0], "toolExecutionNotifications").len();
        assert_eq!(told, list(&json, "warnings").len(), "{image}");
    }
}
