//! `cutaway dockerfile` with a plan: `--remove`, `--keep`, `--answer`, `--plan`.

use std::fs;

use serde_json::{Value, json};

use crate::schema;
use crate::support::Place;

const IMAGE: &str = "sample:devel";

/// The sample with what its report says.
struct Scene {
    place: Place,
    report: Value,
}

impl Scene {
    fn new() -> Self {
        let place = Place::new();
        let report = place.report(IMAGE).json;
        Self { place, report }
    }

    /// Ids of the findings with this verdict that have files of their own.
    fn ids(&self, verdict: &str) -> Vec<&str> {
        let findings = self.report["findings"].as_array().unwrap().iter();
        let ids = findings.filter(|one| one["verdict"] == verdict && one["bytes"].as_u64() > Some(0));
        ids.map(|one| one["id"].as_str().unwrap()).collect()
    }

    fn finding(&self, id: &str) -> &Value {
        self.report["findings"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap()
    }

    fn text(&self, options: &[&str]) -> String {
        let outcome = self.place.run(&[&["dockerfile", IMAGE], options].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{options:?}");
        outcome.stdout
    }

    fn json(&self, options: &[&str]) -> Value {
        let answer = serde_json::from_str(&self.text(&[&["--format", "json"], options].concat())).unwrap();
        schema::fits("dockerfile", &answer);
        answer
    }

    /// Ids of the plan that proposals follow.
    fn planned(&self, options: &[&str]) -> Vec<String> {
        let answer = self.json(options);
        let ids = answer["plan"]["findings"].as_array().unwrap().iter();
        ids.map(|id| id.as_str().unwrap().to_owned()).collect()
    }

    fn failure(&self, options: &[&str]) -> String {
        self.place.failure(&[&["dockerfile", IMAGE], options].concat())
    }

    /// A plan file with these findings and answers.
    fn plan(&self, name: &str, findings: &[Value], answers: &[Value]) -> String {
        let plan = json!({
            "schema": "cutaway.plan/1",
            "generator": {"name": "cutaway", "version": "0"},
            "image": {
                "reference": IMAGE,
                "manifest_digest": self.report["image"]["manifest_digest"],
                "config_digest": self.report["image"]["config_digest"],
            },
            "findings": findings,
            "answers": answers,
        });
        self.place.put(name, plan.to_string())
    }
}

fn with<'a>(mut list: Vec<&'a str>, id: &'a str) -> Vec<String> {
    list.push(id);
    sorted(list)
}

fn without(list: Vec<&str>, id: &str) -> Vec<String> {
    sorted(list.into_iter().filter(|one| *one != id))
}

fn sorted<S: Into<String>>(list: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut list: Vec<String> = list.into_iter().map(Into::into).collect();
    list.sort();
    list
}

#[test]
fn the_default_plan_is_that_of_the_report_and_names_the_open_questions() {
    let scene = Scene::new();
    let answer = scene.json(&[]);
    assert_eq!(answer["plan"]["findings"], scene.report["plan"]["findings"]);
    assert_eq!(answer["plan"]["answers"], json!([]));
    let mut ids = scene.ids("unsure");
    // Before smaller ones, with those that are answered with it.
    ids.sort_by_key(|id| *id == "python-tests:unsure");
    let asked: Vec<Value> = ids
        .iter()
        .map(|id| scene.finding(id))
        .map(|one| {
            let (text, bytes) = (&one["question"], &one["bytes"]);
            // torch may run a compiler, which reads these.
            let read = ["headers:unsure", "static-libraries:unsure"].contains(&one["id"].as_str().unwrap());
            let with = read.then_some("compilers:unsure");
            json!({"finding": one["id"], "text": text, "bytes": bytes, "answered_with": with})
        })
        .collect();
    assert!(!asked.is_empty(), "the sample asks nothing");
    assert_eq!(answer["questions"], Value::Array(asked.clone()));
    let told = scene.place.run(&["dockerfile", IMAGE, "-v"]).stderr;
    assert!(
        told.contains("\nOpen questions ") && told.contains(asked[0]["finding"].as_str().unwrap()),
        "{told}"
    );
    let flat = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(" Answering no also answers: static-libraries:unsure, headers:unsure ("), "{told}");
    assert_eq!(flat.matches("Does torch 2.10.0+cu130 need these files").count(), 1, "asked once");
}

#[test]
fn findings_are_put_in_and_taken_out_by_id() {
    let scene = Scene::new();
    let (safe, unsure) = (scene.ids("safe"), scene.ids("unsure"));
    let (first, second, asked) = (safe[0], safe[1], unsure[0]);
    assert_eq!(sorted(scene.planned(&["--keep", first])), without(safe.clone(), first));
    let two: Vec<&str> = safe.iter().copied().filter(|id| ![first, second].contains(id)).collect();
    assert_eq!(sorted(scene.planned(&["--keep", first, "--keep", second])), sorted(two));
    assert_eq!(sorted(scene.planned(&["--remove", first])), sorted(safe.clone()), "it is in already");
    assert_eq!(sorted(scene.planned(&["--remove", asked])), with(safe.clone(), asked));
    let needed = scene.ids("needed")[0];
    assert_eq!(sorted(scene.planned(&["--keep", needed])), sorted(safe), "it stays anyway");
}

#[test]
fn an_answer_is_the_same_as_removing_or_keeping_what_is_unsure() {
    let scene = Scene::new();
    // A question about the files alone: an answer to one about readers may answer others.
    let asked = "python-tests:unsure";
    for (option, word) in [("--remove", "no"), ("--keep", "yes")] {
        let by_answer = scene.text(&["--format", "json", "--answer", &format!("{asked}={word}")]);
        assert_eq!(scene.text(&["--format", "json", option, asked]), by_answer);
        let answer: Value = serde_json::from_str(&by_answer).unwrap();
        let question = &scene.finding(asked)["question"];
        let answers = json!([{"finding": asked, "question": question, "answer": word}]);
        assert_eq!(answer["plan"]["answers"], answers);
        let open = answer["questions"].as_array().unwrap();
        assert!(open.iter().all(|one| one["finding"] != asked), "it is answered: {open:?}");
    }
    assert_eq!(sorted(scene.planned(&["--answer", &format!("{asked}=yes")])), sorted(scene.ids("safe")));
    // Said twice, in both ways.
    let both = ["--answer", &format!("{asked}=no"), "--remove", asked, "--remove", asked];
    assert_eq!(sorted(scene.planned(&both)), with(scene.ids("safe"), asked));
}

#[test]
fn proposals_follow_the_plan() {
    let scene = Scene::new();
    let keep_all: Vec<&str> = scene.ids("safe").into_iter().flat_map(|id| ["--keep", id]).collect();
    let proposals = |options: &[&str]| scene.json(options)["proposals"].clone();
    assert_ne!(proposals(&[]), proposals(&keep_all), "the proposals do not look at the plan");
}

#[test]
fn a_plan_file_takes_the_place_of_the_default() {
    let scene = Scene::new();
    let (safe, asked) = (scene.ids("safe"), scene.ids("unsure")[0]);
    let entry = |id: &str| json!({"id": id, "title": scene.finding(id)["title"], "bytes": 1});
    let answer = |word: &str| {
        let one = scene.finding(asked);
        json!({"finding": asked, "title": one["title"], "question": one["question"], "answer": word})
    };
    let one = scene.plan("one.json", &[entry(safe[0])], &[answer("no")]);
    assert_eq!(sorted(scene.planned(&["--plan", &one])), sorted([safe[0], asked]));
    // Options change it.
    assert_eq!(scene.planned(&["--plan", &one, "--keep", asked]), [safe[0]]);
    assert_eq!(scene.planned(&["--plan", &one, "--answer", &format!("{asked}=yes")]), [safe[0]]);
    assert_eq!(
        sorted(scene.planned(&["--plan", &one, "--remove", safe[1]])),
        sorted([safe[0], safe[1], asked])
    );
    let used = scene.plan("used.json", &[], &[answer("yes")]);
    assert_eq!(scene.planned(&["--plan", &used]), [""; 0]);
    assert_eq!(scene.planned(&["--plan", &used, "--remove", asked]), [asked]);
    // An unsure finding in the list counts as answered, whether the answer is written down or not.
    let listed = scene.plan("listed.json", &[entry(asked)], &[]);
    assert_eq!(scene.json(&["--plan", &listed])["plan"]["answers"][0]["answer"], "no");
    // Fields that this version does not know are passed over; those that are left out are not needed.
    let short = json!({"schema": "cutaway.plan/1", "findings": [{"id": safe[0], "new": 1}], "later": {}});
    let short = scene.place.put("short.json", short.to_string());
    assert_eq!(scene.planned(&["--plan", &short]), [safe[0]]);
}

#[test]
fn a_saved_report_is_a_plan() {
    let scene = Scene::new();
    let saved = scene.place.run(&["report", IMAGE, "--format", "json"]).stdout;
    let saved = scene.place.put("report.json", saved);
    assert_eq!(scene.text(&["--format", "json", "--plan", &saved]), scene.text(&["--format", "json"]));
    let mut report: Value = serde_json::from_str(&fs::read_to_string(&saved).unwrap()).unwrap();
    let safe = scene.ids("safe");
    report["plan"]["findings"] = json!([safe[1]]);
    let changed = scene.place.put("changed.json", report.to_string());
    assert_eq!(scene.planned(&["--plan", &changed]), [safe[1]]);
    report["plan"] = Value::Null;
    let none = scene.place.put("none.json", report.to_string());
    assert!(scene.failure(&["--plan", &none]).contains("the report has no plan"));
}

#[test]
fn a_plan_of_another_image_is_a_warning_while_it_fits() {
    let scene = Scene::new();
    let safe = scene.ids("safe");
    let title = &scene.finding(safe[0])["title"];
    let other = |findings: Value| {
        json!({"schema": "cutaway.plan/1", "generator": {"name": "cutaway", "version": "0"}, "answers": [],
            "image": {"manifest_digest": "sha256:00", "config_digest": "sha256:01"}, "findings": findings})
    };
    // Numbered anew there: the title says which one is meant.
    let rule = safe[0].split(':').next().unwrap();
    let moved = other(json!([{"id": format!("{rule}:safe:77"), "title": title}]));
    let moved = scene.place.put("moved.json", moved.to_string());
    let outcome = scene.place.run(&["dockerfile", IMAGE, "--format", "json", "--plan", &moved]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(
        outcome.stderr.starts_with(&format!("warning: {moved} was saved for another image")),
        "{}",
        outcome.stderr
    );
    let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(answer["plan"]["findings"], json!([safe[0]]));
    let gone = scene.place.put("gone.json", other(json!([{"id": "toys:safe", "title": "Toys"}])).to_string());
    let message = scene.failure(&["--plan", &gone]);
    assert!(message.contains("findings[0]: no such finding: toys:safe"), "{message}");
    assert!(message.contains("\nhint: the plan was saved for another image"), "{message}");
}

#[test]
fn what_cannot_be_planned_is_an_error_that_says_why() {
    let scene = Scene::new();
    let (safe, asked, needed) = (scene.ids("safe")[0], scene.ids("unsure")[0], scene.ids("needed")[0]);
    let all = scene.report["findings"].as_array().unwrap();
    let bare = all.iter().find(|one| one["bytes"] == 0 && one["verdict"] != "needed").unwrap();
    let bare = bare["id"].as_str().unwrap();
    let reason = scene.finding(needed)["reason"].as_str().unwrap().split('.').next().unwrap();
    let (yes, no) = (format!("{asked}=yes"), format!("{asked}=no"));
    let rule = safe.split(':').next().unwrap();
    for (options, parts) in [
        (&["--remove", needed][..], &[needed, "required at run time", reason][..]),
        (&["--remove", bare], &[bare, "no files of its own", "hint: `cutaway explain "]),
        (&["--remove", rule], &["no such finding: ", rule, "hint: similar findings: ", safe]),
        (&["--keep", "toys"], &["no such finding: toys", "hint: findings of this image: ", safe]),
        (&["--answer", "toys=no"], &["no such finding: toys"]),
        (&["--answer", &format!("{safe}=no")], &[safe, "it has no question", "hint: use --keep "]),
        (&["--answer", &format!("{needed}=yes")], &[needed, "it has no question"]),
        (&["--remove", safe, "--keep", safe], &["conflicting requests", safe, "--remove and --keep"]),
        (&["--remove", asked, "--answer", &yes], &["conflicting requests", "--remove and --answer yes"]),
        (&["--keep", asked, "--answer", &no], &["conflicting requests", "--keep and --answer no"]),
        (&["--answer", &yes, "--answer", &no], &["conflicting requests", "--answer yes and --answer no"]),
    ] {
        let message = scene.failure(options);
        for part in parts {
            assert!(message.contains(part), "{options:?}: no {part:?}: {message}");
        }
    }
    for answer in ["toys", "toys=maybe", "=yes", "toys=YES", ""] {
        let outcome = scene.place.run(&["dockerfile", IMAGE, "--answer", answer]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{answer}");
        assert!(outcome.stderr.contains("expected ID=yes or ID=no"), "{}", outcome.stderr);
    }
}

#[test]
fn what_is_no_plan_is_refused_with_its_place() {
    let scene = Scene::new();
    let (safe, asked, needed) = (scene.ids("safe")[0], scene.ids("unsure")[0], scene.ids("needed")[0]);
    let put = |text: &str| scene.place.put("plan.json", text);
    for (text, part) in [
        ("", "unexpected end of the JSON at line 1"),
        ("{\n  \"schema\": \"cutaway.plan/1\",\n  oops\n}", "JSON syntax error at line 3 column 3"),
        ("[]", "not a plan"),
        ("{}", "no schema given"),
        (r#"{"schema": "cutaway.compare/1"}"#, "schema cutaway.compare/1, expected cutaway.plan/1"),
        (r#"{"schema": "cutaway.plan/2"}"#, "schema cutaway.plan/2"),
        ("{\"schema\": \"cutaway.plan/1\",\n\"findings\": 7}", "unexpected JSON type at line 2 column 13"),
    ] {
        let file = put(text);
        let message = scene.failure(&["--plan", &file]);
        assert!(message.contains(&file) && message.contains(part), "{text}: {message}");
    }
    let title = |id: &str| scene.finding(id)["title"].clone();
    let answer = |word: &str, question: &str| json!({"finding": asked, "question": question, "answer": word});
    let question = scene.finding(asked)["question"].as_str().unwrap();
    for (findings, answers, part) in [
        (
            vec![json!({"id": safe}), json!({"id": needed, "title": title(needed)})],
            vec![],
            "findings[1]: cannot remove",
        ),
        (vec![json!({"id": "toys:safe"})], vec![], "findings[0]: no such finding: toys:safe"),
        (vec![json!({"id": safe, "title": "Toys"})], vec![], "is now "),
        (vec![], vec![answer("maybe", question)], "answers[0]: answer \"maybe\", expected \"yes\" or \"no\""),
        (vec![], vec![answer("no", "Can it go?")], "answers[0]: the question of finding "),
        (vec![], vec![json!({"finding": safe, "answer": "no"})], "answers[0]: cannot answer finding "),
    ] {
        let file = scene.plan("plan.json", &findings, &answers);
        let message = scene.failure(&["--plan", &file]);
        assert!(message.contains(&file) && message.contains(part), "{part}: {message}");
    }
    let folder = scene.place.path("");
    for (path, why) in
        [(folder.as_str(), "folder"), ("/dev/zero", "device"), ("no/such/file", "No such file")]
    {
        let message = scene.failure(&["--plan", path]);
        assert!(message.contains("cannot read the plan") && message.contains(why), "{message}");
    }
    // Names in a plan cannot steer a terminal: `Place::run` holds all output to it.
    let evil = scene.plan("evil.json", &[json!({"id": "\u{1b}[2Jtoys:safe\u{202e}"})], &[]);
    scene.failure(&["--plan", &evil]);
    let long = scene.plan("long.json", &[json!({"id": "x".repeat(1 << 20)})], &[]);
    assert!(scene.failure(&["--plan", &long]).len() < 2_000);
}

/// Scripts and the window offer the same two answers for every question: yes keeps, no removes.
#[test]
fn every_question_can_be_answered_with_yes_or_no() {
    const BEGIN: [&str; 11] =
        ["Is ", "Are ", "Does ", "Do ", "Did ", "Can ", "Must ", "Has ", "Have ", "Was ", "Were "];
    let mut asked = 0;
    let mut folders = vec![std::path::PathBuf::from("src/findings")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // A policy asks nothing of the image: its hints are of another kind.
                folders.extend(Some(path).filter(|path| !path.ends_with("policy")));
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            // Text of the rules' manual pages is no question to the user; hints of policies ask about spelling.
            let code = text.split("#[cfg(test)]").next().unwrap();
            for question in code.split('"').filter(|part| part.ends_with('?') && part.contains(' ')) {
                let plain = !question.contains('\n');
                assert!(
                    !plain || BEGIN.iter().any(|word| question.starts_with(word)),
                    "{}: {question}",
                    path.display()
                );
                asked += usize::from(plain);
            }
        }
    }
    assert!(asked > 30, "only {asked} questions were found");
}
