use super::{KEYS, Settings, SettingsError, SettingsFile, Theme, Written};
use crate::base::size::Units;

fn fault(text: &str) -> (usize, usize, String) {
    match Settings::parse("settings.toml", text) {
        Err(SettingsError::Fault { line, column, message, .. }) => (line, column, message),
        other => panic!("{text}: {other:?}"),
    }
}

/// Every key with a value that is not the default.
fn unusual() -> Settings {
    Settings {
        theme: Theme::Dark,
        text_size: 140,
        units: Units::Decimal,
        restore_images: true,
        watch_files: false,
        targets: vec![Written::from("gpu:h100"), Written::from("cc=8.6")],
        profile: Some(Written::from("serverless")),
        cache_limit: Some(500_000_000),
        blob_limit: 20 << 30,
        list_engines: false,
        docker_host: Some("unix:///run/docker.sock".to_owned()),
        podman_host: Some("tcp://localhost:8080".to_owned()),
        ask: false,
        allowed: vec!["ghcr.io".to_owned(), "[::1]:5000".to_owned()],
        ca_file: Some("/etc/ssl/own.pem".into()),
    }
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path().join("not/there/settings.toml"));
    assert_eq!(file.load().unwrap(), Settings::default());
    assert_eq!(file.change(|_| ()).unwrap(), Settings::default());
    assert!(!file.path().exists(), "nothing changed, nothing is written");
    assert_eq!(file.change(|settings| *settings = unusual()).unwrap(), unusual());
    assert_eq!(file.load().unwrap(), unusual());
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert!(text.starts_with("# Settings of Cutaway"), "{text}");
    assert!(text.contains("blob_limit = \"20 GiB\"") && text.contains("limit = 500000000"), "{text}");
    assert_eq!(file.change(|settings| *settings = Settings::default()).unwrap(), Settings::default());
    assert_eq!(Settings::parse("", &unusual().to_text(|_| None)).unwrap(), unusual());
    assert_eq!(Settings::parse("", &Settings::default().to_text(|_| None)).unwrap(), Settings::default());
    assert!(KEYS.iter().all(|key| (key.value)(&unusual()).is_some()));
}

#[test]
fn a_change_keeps_comments_order_and_layout() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path().join("settings.toml"));
    let text = "# mine\nregistries.allowed = [\n  \"ghcr.io\", # work\n  \"quay.io\",\n]\n\n[display] # looks\n  theme = 'light'  # bright room\nunits=\"decimal\"\n# the end\n";
    std::fs::write(file.path(), text).unwrap();
    file.change(|settings| {
        settings.theme = Theme::Dark;
        settings.allowed.push("nvcr.io".to_owned());
        settings.text_size = 120;
    })
    .unwrap();
    let changed = std::fs::read_to_string(file.path()).unwrap();
    for kept in [
        "# mine\n",
        "\"ghcr.io\", # work\n",
        "[display] # looks\n",
        "theme = \"dark\"  # bright room\n",
        "units=\"decimal\"\n",
        "# the end\n",
        "text_size = 120\n",
        "\"nvcr.io\"",
    ] {
        assert!(changed.contains(kept), "no {kept:?} in {changed}");
    }
    let allowed = file.load().unwrap().allowed;
    assert_eq!(allowed, ["ghcr.io", "quay.io", "nvcr.io"]);
    file.change(|settings| settings.allowed.retain(|host| host != "quay.io")).unwrap();
    let changed = std::fs::read_to_string(file.path()).unwrap();
    assert!(changed.contains("\"ghcr.io\", # work\n") && !changed.contains("quay"), "{changed}");
    file.change(|settings| settings.allowed.retain(|host| host != "ghcr.io")).unwrap();
    let changed = std::fs::read_to_string(file.path()).unwrap();
    assert!(!changed.contains("# work") && changed.contains("# mine\n"), "{changed}");
    file.change(|settings| settings.allowed.clear()).unwrap();
    file.change(|settings| settings.allowed.push("a.example".to_owned())).unwrap();
    assert_eq!(file.load().unwrap().allowed, ["a.example"]);
}

#[test]
fn an_invalid_file_is_named_by_line_and_column_and_stays() {
    let cases = [
        ("[display]\ntheme = \"dim\"", 2, 9, "unknown theme \"dim\"; expected system, light or dark"),
        ("[display]\nfont = 1", 2, 1, "unknown field `font`"),
        ("dispaly = 1", 1, 1, "unknown field `dispaly`"),
        ("[display]\nunits = \"SI\"", 2, 9, "unknown units"),
        ("[display]\ntext_size = 20", 2, 13, "between 50 and 300"),
        ("[cache]\nlimit = \"4 gigs\"", 2, 9, "invalid size"),
        ("[cache]\nlimit = -1", 2, 9, "negative"),
        ("[cache]\nblob_limit = true", 2, 14, "found boolean"),
        ("[registries]\nallowed = [\"a\", \"https://b\"]", 2, 17, "not a host"),
        ("[registries]\nca_file = \"own.pem\"", 2, 11, "not an absolute path"),
        ("[analysis]\nprofile = \" \"", 2, 11, "empty value"),
        ("[window]\nwatch_files = 1", 2, 15, "invalid type"),
        ("# größe\n[cache", 2, 7, ""),
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path().join("settings.toml"));
    for (text, line, column, message) in cases {
        let found = fault(text);
        assert_eq!((found.0, found.1), (line, column), "{text}: {found:?}");
        assert!(found.2.contains(message), "{text}: {found:?}");
        std::fs::write(file.path(), text).unwrap();
        assert!(file.change(|settings| settings.ask = false).is_err(), "{text}");
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), text, "it stays as it is");
    }
}

#[test]
fn a_value_that_cannot_be_read_again_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = SettingsFile::new(folder.path().join("settings.toml"));
    let error = file.change(|settings| settings.allowed.push("not a host".to_owned())).unwrap_err();
    assert!(error.to_string().contains("not a host"), "{error}");
    assert!(!file.path().exists());
}
