//! The user's settings on the command line.

use std::fs;
use std::path::Path;

use crate::support::Place;

/// A place with these settings, and the path of their file.
fn with(text: &str) -> (Place, String) {
    let place = Place::new();
    let path = place.run(&["settings", "path"]).stdout.trim_end().to_owned();
    fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    (place, path)
}

#[test]
fn the_file_is_the_one_of_the_environment_else_of_the_desktop() {
    let place = Place::new();
    let path = |environment: &[(&str, &str)]| place.run_with(environment, &["settings", "path"]);
    assert!(path(&[]).stdout.ends_with("/config/cutaway/settings.toml\n"));
    assert_eq!(path(&[("CUTAWAY_SETTINGS", "/a/b.toml")]).stdout, "/a/b.toml\n");
    let home = [("XDG_CONFIG_HOME", ""), ("HOME", "/home/of")];
    assert_eq!(path(&home).stdout, "/home/of/.config/cutaway/settings.toml\n");
    let relative = path(&[("CUTAWAY_SETTINGS", "b.toml")]);
    assert!(relative.code == 2 && relative.stderr.contains("expected an absolute path"), "{relative:?}");
}

#[test]
fn what_is_in_effect_is_shown_as_a_file() {
    let place = Place::new();
    let shown = place.run(&["settings", "show"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    assert!(shown.stdout.contains("which does not exist: all values are defaults"), "{}", shown.stdout);
    let (place, path) = with("[display]\nunits = \"decimal\"\n[cache]\nlimit = \"1GiB\"\n");
    let shown = place.run_with(&[("CUTAWAY_CACHE_SIZE", "3 GiB")], &["settings", "show"]).stdout;
    assert!(shown.starts_with(&format!("# {path}\n")), "{shown}");
    assert!(shown.contains("\nunits = \"decimal\"\n") && shown.contains("\ntheme = \"system\"\n"), "{shown}");
    assert!(shown.contains("(CUTAWAY_CACHE_SIZE overrides it)\nlimit = \"1 GiB\"\n"), "{shown}");
    fs::write(&path, &shown).unwrap();
    assert_eq!(place.run(&["settings", "show"]).stdout.lines().count(), shown.lines().count());
}

#[test]
fn a_fault_stops_commands_that_read_settings_and_names_its_place() {
    let (place, path) = with("[display]\ntheme = \"dark\"\nfont = 12\n");
    for command in [&["report", "sample:runtime"][..], &["cache", "size"], &["settings", "show"]] {
        let message = place.failure(command);
        assert!(
            message.contains(&format!("invalid {path}, line 3, column 1: unknown field `font`")),
            "{message}"
        );
        assert!(message.contains("hint: `cutaway explain settings` lists all keys"), "{message}");
    }
    for command in [&["settings", "path"][..], &["explain", "settings"], &["completions", "bash"]] {
        assert_eq!(place.run(command).code, 0, "{command:?}");
    }
}

#[test]
fn settings_are_defaults_that_options_and_the_environment_override() {
    let (place, _) = with("[cache]\nlimit = \"1 MiB\"\n");
    assert!(place.run(&["cache", "size"]).stdout.contains("limit 1.00 MiB"));
    let with_variable = place.run_with(&[("CUTAWAY_CACHE_SIZE", "3 MiB")], &["cache", "size"]);
    assert!(with_variable.stdout.contains("limit 3.00 MiB"));

    let (place, path) = with("[analysis]\ntargets = [\"gpu:h100\"]\n");
    let targets = |options: &[&str]| -> Vec<String> {
        let report = place.report_with("sample:devel", options);
        let targets = report.json["compatibility"]["targets"].as_array().unwrap();
        targets.iter().map(|target| target["target"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(targets(&[]), ["gpu:h100"]);
    assert_eq!(targets(&["--target", "gpu:l4"]), ["gpu:l4"]);
    fs::write(&path, "[analysis]\ntargets = [\"gpu:h100\",\n  \"gpu:none\"]\n").unwrap();
    let message = place.failure(&["report", "sample:devel"]);
    assert!(message.contains("line 3, column 3: ") && message.contains("gpu:none"), "{message}");
    // A project is judged alike for everybody: by its own file.
    place.put("cutaway.toml", "[budget]\nmerged_bytes = \"1 GiB\"\n");
    assert_eq!(place.run(&["check", "sample:devel"]).code, 0);
}

#[test]
fn units_are_those_of_the_settings_in_text_and_none_in_json() {
    let (place, path) = with("");
    let text = |place: &Place| place.run(&["report", "sample:devel"]).stdout;
    let json = |place: &Place| place.report("sample:devel").json["totals"].clone();
    let (binary, totals) = (text(&place), json(&place));
    assert!(binary.contains(" MiB") && !binary.contains(" MB"), "{binary}");
    fs::write(path, "[display]\nunits = \"decimal\"\n").unwrap();
    let decimal = text(&place);
    assert!(decimal.contains(" MB") && !decimal.contains(" MiB"), "{decimal}");
    assert_eq!(json(&place), totals);
}

#[test]
fn every_key_is_in_the_manual() {
    let page = cutaway::findings::chapter("settings").unwrap();
    for key in cutaway::settings::KEYS {
        let row = format!("| `{}.{}` | ", key.table, key.name);
        assert!(page.contains(&row), "assets/manual/settings.md has no row {row:?}");
    }
}
