//! A registry, a proxy before it, and a folder with a home in which the program runs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::guard::Guard;
use super::proxy::{Kind, Proxy};
use super::server::Server;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{dir, file, symlink, tar, whiteout};
use crate::oracle;
use crate::support::{Outcome, Place, Report};

/// Milliseconds after which the program takes a server for slow, and from which it derives its waits.
pub const PATIENCE: &str = "2000";

/// Whether registries can be tested here.
pub fn ready() -> bool {
    oracle::have(&["docker-registry", "skopeo"])
}

/// The same, for logins and certificates.
pub fn ready_for_secrets() -> bool {
    oracle::have(&["docker-registry", "skopeo", "htpasswd", "openssl"])
}

/// Bytes that do not compress.
pub fn noise(seed: &str, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(seed.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

/// An image of three layers of more than 600 KB that do not compress.
pub fn image(packing: Packing) -> Image {
    let mut image = Image::of(
        packing,
        [
            tar([
                dir("etc"),
                file("etc/os-release", b"ID=debian\nVERSION_ID=\"12\"\n".to_vec()),
                file("opt/one", noise("one", 300_000)),
                file("opt/old", noise("old", 5_000)),
            ]),
            tar([whiteout("opt/old"), file("opt/two", noise("two", 200_000)), symlink("opt/link", "two")]),
            tar([file("opt/three", noise("three", 100_000)), file("opt/one", noise("one again", 3_000))]),
        ],
    );
    image.config = serde_json::json!({"Entrypoint": ["/bin/true"], "Env": ["PATH=/usr/bin"]});
    image
}

/// A registry that holds [`image`] as `team/app:1`, the proxy before it, and where the program runs.
pub struct Bench {
    pub server: Server,
    pub proxy: Proxy,
    pub place: Place,
    pub image: Image,
}

impl Bench {
    /// Everybody may ask.
    pub fn new() -> Self {
        let server = Server::plain();
        let proxy = Proxy::before(server.port);
        Self::of(server, proxy)
    }

    /// Who asks must bring a token.
    pub fn guarded(guard: Guard) -> Self {
        let server = Server::plain();
        let proxy = Proxy::guarded(server.port, guard);
        Self::of(server, proxy)
    }

    /// This server, with the proxy before it.
    pub fn at(server: Server) -> Self {
        let proxy = Proxy::before(server.port);
        Self::of(server, proxy)
    }

    fn of(server: Server, proxy: Proxy) -> Self {
        let image = image(Packing::Gzip);
        server.push(&Layout::of(&image, "1"), "1", "team/app:1");
        Self { server, proxy, place: Place::new(), image }
    }

    /// Host and port of the proxy.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.proxy.port)
    }

    /// The image, through the proxy.
    pub fn reference(&self) -> String {
        format!("docker://{}/team/app:1", self.host())
    }

    /// Digest of a layer.
    pub fn layer(&self, index: usize) -> &str {
        &self.image.layers[index].digest
    }

    /// Runs the program, which is soon out of patience. No secret may be in what it prints, and no file in its folder
    /// for temporary files.
    pub fn run(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Outcome {
        run(&self.place, environment, arguments)
    }

    /// The message of a report that cannot be made.
    pub fn fails(&self, environment: &[(&str, &str)], reference: &str) -> String {
        let outcome = self.run(environment, &["report", reference, "--format", "json"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{}", outcome.stderr);
        assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
        outcome.stderr
    }

    /// The report of `reference`, however the run ended.
    pub fn report(&self, environment: &[(&str, &str)], reference: &str) -> Report {
        report(&self.place, environment, reference)
    }

    /// The report of the image; it must be what the same image gives from a folder.
    pub fn succeeds(&self, environment: &[(&str, &str)]) {
        same(&self.place, &self.image, &self.report(environment, &self.reference()));
    }

    /// Requests for blobs of layers.
    pub fn layer_requests(&self) -> Vec<super::proxy::Seen> {
        let of_layer = |path: &str| self.image.layers.iter().any(|layer| path.contains(&layer.digest));
        self.proxy.of(Kind::Blob).into_iter().filter(|seen| of_layer(&seen.path)).collect()
    }

    /// The home folder of the runs.
    pub fn home(&self) -> PathBuf {
        home(&self.place)
    }
}

/// The home folder of the runs at a place.
pub fn home(place: &Place) -> PathBuf {
    place.cache().ancestors().nth(2).expect("a home").to_owned()
}

/// Writes a file of the home folder.
pub fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs the program as [`Bench::run`] does, without a registry at hand.
pub fn run(place: &Place, environment: &[(&str, &str)], arguments: &[&str]) -> Outcome {
    let temporary = home(place).join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut all = vec![
        ("CUTAWAY_REGISTRY_TIMEOUT_MS", PATIENCE),
        ("TMPDIR", temporary.to_str().unwrap()),
        ("RUST_BACKTRACE", "1"),
    ];
    all.extend(environment);
    let outcome = place.run_with(&all, arguments);
    for output in [&outcome.stdout, &outcome.stderr] {
        assert!(!output.contains("HUNTER2"), "a secret is shown: {output}");
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "a temporary file was left");
    outcome
}

/// The report of `reference`, however the run ended.
pub fn report(place: &Place, environment: &[(&str, &str)], reference: &str) -> Report {
    let outcome = run(place, environment, &["report", reference, "--format", "json"]);
    let json = serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("no JSON for {reference} ({error}): {}", outcome.stderr));
    crate::schema::fits("report", &json);
    Report { code: outcome.code, json }
}

/// Without what names the source.
fn of_no_source(report: &Report) -> Value {
    let mut json = report.json.clone();
    for name in ["source", "reference", "tags"] {
        json["image"][name] = Value::Null;
    }
    json
}

/// Asserts that `report` is what `image` gives from a folder.
pub fn same(place: &Place, image: &Image, report: &Report) {
    assert_eq!(report.code, 0, "{:#}", report.json["warnings"]);
    let other = Place::new();
    let reference = format!("oci:{}", other.put_layout("layout", &Layout::of(image, "1")));
    // A plain layer is proven by one digest, which a folder is held against on request only.
    let options: &[&str] = if image.packing == Packing::Plain { &["--verify"] } else { &[] };
    let expected = other.report_with(&reference, options);
    let mut found = Vec::new();
    differences("", &of_no_source(report), &of_no_source(&expected), &mut found);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(place.cache().exists(), "nothing was kept");
}

/// What two documents have different, by its path.
fn differences(path: &str, ours: &Value, expected: &Value, found: &mut Vec<String>) {
    let keys = |value: &Value| -> Vec<String> {
        match value {
            Value::Object(map) => map.keys().cloned().collect(),
            Value::Array(items) => (0..items.len()).map(|place| place.to_string()).collect(),
            _ => Vec::new(),
        }
    };
    let (names, others) = (keys(ours), keys(expected));
    if names.is_empty() || names != others {
        if ours != expected {
            found.push(format!("{path}: {ours} is not {expected}"));
        }
        return;
    }
    for name in names {
        let path = format!("{path}/{name}");
        let at = |value: &Value| match value {
            Value::Array(items) => items[name.parse::<usize>().unwrap()].clone(),
            value => value[&name].clone(),
        };
        differences(&path, &at(ours), &at(expected), found);
    }
}
