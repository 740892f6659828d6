use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::super::environment::Environment;
use super::{Places, places_in};

const DIGEST: bool = true;
const TAG: bool = false;

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Where `example.test/team/app` and others are looked for under this registries.conf.
fn places(conf: &str, host: &str, repository: &str, by_digest: bool) -> Places {
    let folder = TempDir::new().unwrap();
    put(folder.path(), "etc/containers/registries.conf", conf);
    places_in(&Environment::below(folder.path()), host, repository, by_digest)
}

fn names(places: &Places) -> Vec<String> {
    assert_eq!(places.faults, []);
    let name = |endpoint: &super::Endpoint| {
        let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
        format!(
            "{}/{}{}{}",
            endpoint.host,
            endpoint.repository,
            mark(endpoint.mirror, " mirror"),
            mark(endpoint.insecure, " insecure")
        )
    };
    places.endpoints.iter().map(name).collect()
}

#[test]
fn without_settings_the_registry_itself_is_the_only_place() {
    let folder = TempDir::new().unwrap();
    let environment = Environment::below(folder.path());
    assert_eq!(names(&places_in(&environment, "example.test:5000", "a/b", TAG)), ["example.test:5000/a/b"]);
    let hub = places_in(&environment, "docker.io", "library/debian", TAG);
    assert_eq!(names(&hub), ["registry-1.docker.io/library/debian"]);
}

#[test]
fn the_longest_prefix_counts_and_ends_where_a_name_ends() {
    let conf = r#"
unqualified-search-registries = ["never.test"]
[[registry]]
location = "example.test"
insecure = true
[[registry]]
prefix = "example.test/team"
location = "inner.test:8443/copies/"
[[registry]]
prefix = "example.test/team/app/below"
location = "wrong.test"
[[registry]]
prefix = "example.test/tea"
location = "wrong.test"
"#;
    let at = |repository: &str| names(&places(conf, "example.test", repository, TAG));
    assert_eq!(at("team/app"), ["inner.test:8443/copies/app"]);
    assert_eq!(at("team"), ["inner.test:8443/copies"]);
    assert_eq!(at("teams/app"), ["example.test/teams/app insecure"]);
    assert_eq!(names(&places(conf, "example.test.org", "team/app", TAG)), ["example.test.org/team/app"]);
    assert_eq!(names(&places(conf, "never.test", "team/app", TAG)), ["never.test/team/app"]);
}

#[test]
fn a_wildcard_covers_subdomains_and_leaves_names_alone() {
    let conf = "[[registry]]\nprefix = \"*.example.test\"\ninsecure = true\n\
                [[registry.mirror]]\nlocation = \"mirror.test/all\"\n";
    let at = |host: &str| names(&places(conf, host, "a/b", TAG));
    assert_eq!(
        at("one.two.example.test"),
        ["mirror.test/all/a/b mirror", "one.two.example.test/a/b insecure"]
    );
    for host in ["example.test", "badexample.test", "one.example.test.org"] {
        assert_eq!(at(host), [format!("{host}/a/b")]);
    }
    let moved = "[[registry]]\nprefix = \"*.example.test\"\nlocation = \"all.test/x\"\n";
    assert_eq!(names(&places(moved, "one.example.test", "a/b", TAG)), ["all.test/x/a/b"]);
}

#[test]
fn mirrors_come_first_and_serve_what_they_are_for() {
    let conf = r#"
[[registry]]
location = "docker.io"
[[registry.mirror]]
location = "all.test"
insecure = true
[[registry.mirror]]
location = "digests.test/hub"
pull-from-mirror = "digest-only"
[[registry.mirror]]
location = "tags.test"
pull-from-mirror = "tag-only"
"#;
    assert_eq!(
        names(&places(conf, "docker.io", "library/debian", TAG)),
        [
            "all.test/library/debian mirror insecure",
            "tags.test/library/debian mirror",
            "registry-1.docker.io/library/debian"
        ]
    );
    assert_eq!(
        names(&places(conf, "docker.io", "library/debian", DIGEST)),
        [
            "all.test/library/debian mirror insecure",
            "digests.test/hub/library/debian mirror",
            "registry-1.docker.io/library/debian"
        ]
    );
    let only = "[[registry]]\nlocation = \"a.test\"\nmirror-by-digest-only = true\n\
                [[registry.mirror]]\nlocation = \"m.test\"\n";
    assert_eq!(names(&places(only, "a.test", "x", TAG)), ["a.test/x"]);
    assert_eq!(names(&places(only, "a.test", "x", DIGEST)), ["m.test/x mirror", "a.test/x"]);
}

#[test]
fn a_blocked_registry_has_no_places() {
    let places = places("[[registry]]\nlocation = \"a.test\"\nblocked = true\n", "a.test", "x", TAG);
    assert_eq!(places.blocked.as_deref(), Some("~/etc/containers/registries.conf blocks a.test"));
    assert!(places.endpoints.is_empty());
}

#[test]
fn files_that_are_dropped_in_replace_what_was_said_before() {
    let folder = TempDir::new().unwrap();
    let to = |place: &str| format!("[[registry]]\nprefix = \"a.test\"\nlocation = \"{place}\"\n");
    let mut environment = Environment::below(folder.path());
    let expect = |file: &str, place: &str| {
        put(folder.path(), file, &to(place));
        assert_eq!(names(&places_in(&environment, "a.test", "x", TAG)), [format!("{place}/x")]);
    };
    expect("etc/containers/registries.conf", "system.test");
    expect("etc/containers/registries.conf.d/50-a.conf", "fifty.test");
    expect("etc/containers/registries.conf.d/90-a.conf", "ninety.test");
    put(folder.path(), "etc/containers/registries.conf.d/99-a.conf~", &to("wrong.test"));
    put(folder.path(), "etc/containers/registries.conf.d/10-a.conf", &to("wrong.test"));
    expect(".config/containers/registries.conf.d/00-a.conf", "dropped.test");
    fs::remove_dir_all(folder.path().join(".config/containers/registries.conf.d")).unwrap();
    expect(".config/containers/registries.conf", "own.test");
    fs::remove_dir_all(folder.path().join("etc/containers/registries.conf.d")).unwrap();
    put(folder.path(), "named.conf", &to("named.test"));
    environment.registries_conf = Some(folder.path().join("named.conf"));
    assert_eq!(names(&places_in(&environment, "a.test", "x", TAG)), ["named.test/x"]);
}

#[test]
fn a_faulty_file_is_named_with_its_line_and_left_out() {
    for (conf, reason) in [
        ("[[registry]\n", "line 1: "),
        ("\n[[registry]]\nlocation = 5\n", "line 3: invalid type: integer `5`, expected a string"),
        ("\n\n[[registry]]\ninsecure = true\n", "line 3: registry without prefix and location"),
        ("[[registry]]\nprefix = \"a.test\"\n", "line 1: registry a.test without location"),
        (
            "[[registry]]\nlocation = \"https://a.test\"\n",
            "line 1: name a registry by host and path, without http:// or https://",
        ),
        (
            "[[registry]]\nprefix = \"*.a.test/x\"\nlocation = \"b.test\"\n",
            "line 1: '*.a.test/x' is not just a wildcard and a domain",
        ),
        (
            "[[registry]]\nlocation = \"a.test\"\n\n[[registry.mirror]]\ninsecure = true\n",
            "line 4: mirror without location",
        ),
        (
            "[[registry]]\nlocation = \"a.test\"\nmirror-by-digest-only = true\n[[registry.mirror]]\n\
             location = \"m.test\"\npull-from-mirror = \"all\"\n",
            "line 4: pull-from-mirror and mirror-by-digest-only exclude each other",
        ),
        (
            "[[registry]]\nlocation = \"a.test\"\n[[registry.mirror]]\nlocation = \"m.test\"\npull-from-mirror = \"x\"\n",
            "line 5: ",
        ),
        (
            "[registries.search]\nregistries = [\"a.test\"]\n",
            "line 1: version 1 of the format is no longer supported",
        ),
    ] {
        let places = places(conf, "a.test", "x", TAG);
        let [fault] = places.faults.as_slice() else { panic!("{conf}: {:?}", places.faults) };
        assert_eq!(fault.way, "~/etc/containers/registries.conf");
        assert!(fault.result.starts_with(reason), "{conf}: {}", fault.result);
        assert_eq!(places.endpoints.len(), 1, "{conf}");
        assert_eq!(places.endpoints[0].host, "a.test");
    }
}

#[test]
fn certificates_are_found_in_all_folders_the_users_first() {
    let folder = TempDir::new().unwrap();
    let environment = Environment::below(folder.path());
    let host = "example.test:5000";
    for name in [
        "etc/docker/certs.d",
        "etc/containers/certs.d",
        ".config/docker/certs.d",
        ".config/containers/certs.d",
    ] {
        put(folder.path(), &format!("{name}/{host}/ca.crt"), "");
        put(folder.path(), &format!("{name}/other.test/no.crt"), "");
    }
    put(folder.path(), &format!("etc/docker/certs.d/{host}/b.crt"), "");
    put(folder.path(), &format!("etc/docker/certs.d/{host}/me.cert"), "");
    put(folder.path(), &format!("etc/docker/certs.d/{host}/me.key"), "");
    let found = places_in(&environment, host, "a", TAG);
    let endpoint = &found.endpoints[0];
    let shown: Vec<String> = endpoint.ca_files.iter().map(|path| environment.shown(path)).collect();
    assert_eq!(
        shown,
        [
            "~/.config/containers/certs.d/example.test:5000/ca.crt",
            "~/.config/docker/certs.d/example.test:5000/ca.crt",
            "~/etc/containers/certs.d/example.test:5000/ca.crt",
            "~/etc/docker/certs.d/example.test:5000/b.crt",
            "~/etc/docker/certs.d/example.test:5000/ca.crt",
        ]
    );
    let (certificate, key) = endpoint.identity.clone().unwrap();
    assert_eq!(environment.shown(&certificate), "~/etc/docker/certs.d/example.test:5000/me.cert");
    assert_eq!(environment.shown(&key), "~/etc/docker/certs.d/example.test:5000/me.key");
    assert_eq!(found.faults, []);

    put(folder.path(), &format!(".config/containers/certs.d/{host}/alone.cert"), "");
    let found = places_in(&environment, host, "a", TAG);
    assert_eq!(
        found.faults[0].to_string(),
        "~/.config/containers/certs.d/example.test:5000/alone.cert: no key beside it (same name, extension .key)"
    );
    assert!(found.endpoints[0].identity.is_some());
}

#[test]
fn docker_hub_has_certificates_under_both_of_its_names() {
    let folder = TempDir::new().unwrap();
    let environment = Environment::below(folder.path());
    put(folder.path(), "etc/docker/certs.d/docker.io/ca.crt", "");
    put(folder.path(), "etc/docker/certs.d/registry-1.docker.io/ca.crt", "");
    assert_eq!(places_in(&environment, "docker.io", "library/a", TAG).endpoints[0].ca_files.len(), 2);
    assert_eq!(
        places_in(&environment, "registry-1.docker.io", "library/a", TAG).endpoints[0].ca_files.len(),
        1
    );
}
