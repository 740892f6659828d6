//! Pushes to docker-registry on the loopback.

use super::folders::{names, place};
use super::writer::{POINTS, Task};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, tar};
use crate::registry::bench::{Bench, image, noise, ready, ready_for_secrets, run};
use crate::registry::guard::Guard;
use crate::registry::proxy::{Fault, Kind, Seen};
use crate::registry::server::{PASSWORD, Server, USER};

/// Requests with this method whose path has this part.
fn count(seen: &[Seen], method: &str, part: &str) -> usize {
    seen.iter().filter(|seen| seen.method == method && seen.path.contains(part)).count()
}

fn tags(bench: &Bench, repository: &str) -> Vec<String> {
    let reference = format!("127.0.0.1:{}/{repository}", bench.server.port);
    let listed = run(&bench.place, &[], &["tags", &reference]).stdout;
    let mut tags: Vec<String> = listed.lines().map(str::to_owned).collect();
    tags.sort_unstable();
    tags
}

#[test]
fn a_push_sends_what_is_not_there_and_the_tag_last() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let (place, source) = place();
    let destination = format!("docker://{}/team/new:2", bench.host());
    assert_eq!(Task::new(&source, &destination).succeeds(&place), destination);
    let seen = bench.proxy.seen();
    assert_eq!(count(&seen, "PUT", "blobs/uploads/"), 4, "{seen:#?}");
    let last = seen.iter().rfind(|seen| seen.method == "PUT").unwrap();
    assert!(last.path.ends_with("/manifests/2"), "{last:?}");
    let expected = place.report(&source);
    let report = bench.report(&[], &destination);
    assert_eq!(report.json["totals"], expected.json["totals"]);
    assert_eq!(report.json["image"]["manifest_digest"], expected.json["image"]["manifest_digest"]);
    // Again, under another tag: only what a caller writes anew.
    bench.proxy.forget();
    Task::new(&source, &destination.replace(":2", ":3")).succeeds(&place);
    assert_eq!(count(&bench.proxy.seen(), "PUT", "blobs/uploads/"), 1);
    assert_eq!(tags(&bench, "team/new"), ["2", "3"]);
}

#[test]
fn blobs_of_another_repository_are_mounted_and_others_streamed() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let (place, _) = place();
    let destination = format!("docker://{}/other/place:1", bench.host());
    Task::new(&bench.reference(), &destination).keeping_all().succeeds(&place);
    let seen = bench.proxy.seen();
    assert_eq!(count(&seen, "POST", "from=team/app"), 3, "{seen:#?}");
    assert_eq!(count(&seen, "PUT", "blobs/uploads/"), 1, "the config: {seen:#?}");
    assert_eq!(
        bench.report(&[], &destination).json["totals"],
        bench.report(&[], &bench.reference()).json["totals"]
    );

    let other = Server::plain();
    let destination = format!("docker://127.0.0.1:{}/other/place:1", other.port);
    Task::new(&bench.reference(), &destination).keeping_all().succeeds(&place);
    assert_eq!(
        bench.report(&[], &destination).json["totals"],
        bench.report(&[], &bench.reference()).json["totals"]
    );
}

#[test]
fn a_push_over_tls_with_a_login() {
    if !ready_for_secrets() {
        return;
    }
    let server = Server::secure_with_login();
    let (place, source) = place();
    let host = format!("127.0.0.1:{}", server.port);
    let destination = format!("docker://{host}/team/app:1");
    let ca = server.ca().to_str().unwrap().to_owned();
    let message = Task::new(&source, &destination).fails(&place);
    assert!(message.contains("not signed by a trusted CA") && message.contains("--ca-file"), "{message}");
    let trusting = Task::new(&source, &destination).trusting(&ca);
    let message = trusting.fails(&place);
    assert!(message.contains("cannot push") && message.contains("401"), "{message}");
    assert!(message.contains(&format!("docker login {host}")), "{message}");
    let login = |password: &str| {
        trusting
            .clone()
            .with("CUTAWAY_REGISTRY_HOST", &host)
            .with("CUTAWAY_REGISTRY_USERNAME", USER)
            .with("CUTAWAY_REGISTRY_PASSWORD", password)
    };
    assert!(login("HUNTER2-wrong").fails(&place).contains("401"));
    login(PASSWORD).succeeds(&place);
    let environment = [
        ("CUTAWAY_REGISTRY_HOST", host.as_str()),
        ("CUTAWAY_REGISTRY_USERNAME", USER),
        ("CUTAWAY_REGISTRY_PASSWORD", PASSWORD),
    ];
    let outcome = run(&place, &environment, &["report", &destination, "--format", "json", "--ca-file", &ca]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
}

#[test]
fn tokens_are_asked_for_writing_and_renewed() {
    if !ready() {
        return;
    }
    let bench = Bench::guarded(Guard::anonymous());
    let (place, source) = place();
    // In the middle of the push every token expires.
    bench.proxy.fault(Kind::Manifest, "manifests/sha256", 1, Fault::Expire);
    Task::new(&source, &format!("docker://{}/team/new:1", bench.host())).succeeds(&place);
    let tokens = bench.proxy.of(Kind::Token);
    assert!(tokens.len() >= 2, "{tokens:#?}");
    let own = "scope=repository%3Ateam%2Fnew%3Apull%2Cpush";
    // Reading asks for less.
    let writing = tokens.iter().filter(|seen| seen.path.contains(own)).count();
    assert!(writing >= 2, "{tokens:#?}");
    bench.proxy.forget();
    Task::new(&bench.reference(), &format!("docker://{}/team/mounted:1", bench.host()))
        .keeping_all()
        .succeeds(&place);
    let both = "scope=repository%3Ateam%2Fmounted%3Apull%2Cpush&scope=repository%3Ateam%2Fapp%3Apull";
    assert!(bench.proxy.of(Kind::Token).iter().any(|seen| seen.path.contains(both)));
}

#[test]
fn a_registry_that_hesitates_is_asked_again_and_one_that_refuses_is_quoted() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let (place, source) = place();
    let destination = format!("docker://{}/team/new:1", bench.host());
    let answer = |status: u16, message: &str| {
        let body = format!(r#"{{"errors":[{{"code":"DENIED","message":"{message}"}}]}}"#);
        Fault::Answer(status, vec![("Content-Type", "application/json".into())], body)
    };
    bench.proxy.fault(Kind::Blob, "blobs/uploads/", 2, answer(503, "busy"));
    bench.proxy.fault(Kind::Manifest, "manifests/sha256", 1, answer(502, "busy"));
    Task::new(&source, &destination).succeeds(&place);
    bench.proxy.forget();

    let refused = destination.replace(":1", ":9");
    bench.proxy.fault(Kind::Manifest, "manifests/9", 1, answer(409, "tag 9 stays as it is"));
    let message = Task::new(&source, &refused).fails(&place);
    assert!(message.contains("cannot push the manifest 9"), "{message}");
    assert!(message.contains("(409)") && message.contains("tag 9 stays as it is"), "{message}");
    assert_eq!(tags(&bench, "team/new"), ["1"]);
    bench.proxy.fault(Kind::Blob, "blobs/uploads/", 9, answer(405, "read-only"));
    let message = Task::new(&source, &destination.replace("new", "third")).fails(&place);
    assert!(message.contains("405") && message.contains("push to another registry"), "{message}");
}

#[test]
fn what_is_dropped_or_killed_has_no_tag() {
    if !ready() {
        return;
    }
    let bench = Bench::new();
    let (place, source) = place();
    let task = Task::new(&source, &format!("docker://{}/team/app:new", bench.host()));
    for point in POINTS {
        task.dropped_at(&place, point);
        task.killed_at(&place, point);
        assert_eq!(tags(&bench, "team/app"), ["1"], "{point}");
    }
    assert_eq!(names(&place.path("")), ["source"]);
}

#[test]
fn an_upload_that_is_given_up_is_discarded() {
    if !ready() {
        return;
    }
    let server = Server::plain();
    let (place, _) = place();
    let body = tar([file("opt/large", noise("large", 20 << 20))]);
    let large = image(Packing::Plain).layer("RUN large", &body);
    let layout = place.put_layout("large", &Layout::of(&large, "1"));
    let host = format!("127.0.0.1:{}", server.port);
    let task = Task::new(&format!("oci:{layout}:1"), &format!("docker://{host}/team/large:1"));
    // Docker's registry leaves a folder without data.
    let data = || -> usize {
        let uploads =
            server.folder.path().join("storage/docker/registry/v2/repositories/team/large/_uploads");
        let uploads = std::fs::read_dir(&uploads).unwrap().map(|upload| upload.unwrap().path());
        uploads.filter(|upload| upload.join("data").exists()).count()
    };
    task.dropped_at(&place, "blob");
    assert_eq!(data(), 0);
    task.killed_at(&place, "blob");
    assert_eq!(data(), 1, "a killed process tells nothing");
}
