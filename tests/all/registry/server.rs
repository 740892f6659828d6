//! Debian's docker-registry on the loopback, images pushed to it by skopeo, certificates made by openssl.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::http::{Head, ask, connect};
use crate::fixtures::image::Image;
use crate::fixtures::layout::{Layout, flat_dir, write_files};
use crate::offline::offline;

/// The name that the registry with a login knows, and its password.
pub const USER: &str = "tester";
pub const PASSWORD: &str = "HUNTER2-password";
/// A name that the certificate is for, beside the loopback.
pub const NAME: &str = "registry.example";

/// A running registry with a storage of its own; it ends with the value.
pub struct Server {
    pub port: u16,
    pub folder: TempDir,
    login: bool,
    child: Child,
}

impl Server {
    /// Plain HTTP, for everybody.
    pub fn plain() -> Self {
        Self::start(TempDir::new().unwrap(), "", "")
    }

    /// Plain HTTP, for [`USER`] only.
    pub fn with_login() -> Self {
        let folder = TempDir::new().unwrap();
        let auth = htpasswd(folder.path());
        Self::start(folder, "", &auth)
    }

    /// TLS with a certificate of a private CA (`ca.crt` in the folder), for everybody.
    pub fn secure() -> Self {
        let folder = certificates();
        let tls = tls(folder.path(), "server");
        Self::start(folder, &tls, "")
    }

    /// TLS for [`USER`] only.
    pub fn secure_with_login() -> Self {
        let folder = certificates();
        let (tls, auth) = (tls(folder.path(), "server"), htpasswd(folder.path()));
        Self::start(folder, &tls, &auth)
    }

    /// TLS for [`USER`] only, who has to show a certificate (`client.cert` and `client.key` in `certs`), too.
    pub fn secure_with_everything() -> Self {
        let folder = certificates();
        let clients = format!("clientcas: [{}]", folder.path().join("keys/ca.crt").display());
        let tls = tls(folder.path(), "server").replace('}', &format!(", {clients}}}"));
        let auth = htpasswd(folder.path());
        Self::start(folder, &tls, &auth)
    }

    /// TLS with the certificate of the CA itself.
    pub fn with_certificate_of_ca() -> Self {
        let folder = certificates();
        let tls = tls(folder.path(), "ca");
        Self::start(folder, &tls, "")
    }

    fn start(folder: TempDir, tls: &str, auth: &str) -> Self {
        // Between the look for a free port and its use somebody else may take it.
        for _ in 0..5 {
            let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
            let storage = folder.path().join("storage");
            let settings = format!(
                "version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\n\
                 storage: {{filesystem: {{rootdirectory: {}}}}}\n\
                 http:\n  addr: 127.0.0.1:{port}\n{tls}{auth}",
                storage.display()
            );
            let path = folder.path().join("registry.yml");
            fs::write(&path, settings).unwrap();
            let log = fs::File::create(folder.path().join("registry.log")).unwrap();
            let mut child = Command::new("docker-registry")
                .arg("serve")
                .arg(&path)
                .stdin(Stdio::null())
                .stdout(log.try_clone().unwrap())
                .stderr(log)
                .spawn()
                .expect("docker-registry starts");
            if answers(&mut child, port, !tls.is_empty()) {
                let login = !auth.is_empty();
                return Self { port, folder, login, child };
            }
            child.kill().ok();
            child.wait().ok();
        }
        panic!(
            "docker-registry does not answer: {:?}",
            fs::read_to_string(folder.path().join("registry.log"))
        );
    }

    /// The certificate of the CA.
    pub fn ca(&self) -> PathBuf {
        self.folder.path().join("certs/ca.crt")
    }

    /// Pushes what `layout` has as `tag` to `name`, with everything that an index lists.
    pub fn push(&self, layout: &Layout, tag: &str, name: &str) {
        let work = TempDir::new().unwrap();
        layout.write(work.path());
        self.copy(&format!("oci:{}:{tag}", work.path().display()), name);
    }

    /// The same with docker's media types, which skopeo does not look for in a layout.
    pub fn push_docker(&self, image: &Image, name: &str) {
        let work = TempDir::new().unwrap();
        write_files(&flat_dir(image), work.path());
        self.copy(&format!("dir:{}", work.path().display()), name);
    }

    fn copy(&self, source: &str, name: &str) {
        let policy = self.folder.path().join("policy.json");
        fs::write(&policy, r#"{"default": [{"type": "insecureAcceptAnything"}]}"#).unwrap();
        let mut command = Command::new("skopeo");
        command.arg("--policy").arg(&policy);
        command.args(["copy", "--quiet", "--all", "--preserve-digests", "--dest-cert-dir"]);
        command.arg(self.folder.path().join("certs"));
        if !self.ca().exists() {
            command.arg("--dest-tls-verify=false");
        }
        if self.login {
            command.arg(format!("--dest-creds={USER}:{PASSWORD}"));
        }
        command.arg(source).arg(format!("docker://127.0.0.1:{}/{name}", self.port));
        command.env("HOME", self.folder.path()).env("TMPDIR", self.folder.path());
        let output = offline(&mut command).output().expect("skopeo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn answers(child: &mut Child, port: u16, secure: bool) -> bool {
    let started = Instant::now();
    let ping = Head { first: "GET /v2/ HTTP/1.0".into(), headers: Vec::new() };
    while started.elapsed() < Duration::from_secs(30) {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        if if secure { connect(port).is_some() } else { ask(port, &ping, b"").is_some() } {
            return true;
        }
        sleep(Duration::from_millis(10));
    }
    false
}

fn shell(folder: &Path, script: &str) {
    let output = Command::new("sh").arg("-euc").arg(script).current_dir(folder).output().expect("a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The settings for a login, with the file that they name.
fn htpasswd(folder: &Path) -> String {
    shell(folder, &format!("htpasswd -Bbn -C 4 {USER} {PASSWORD} >htpasswd"));
    format!("auth: {{htpasswd: {{realm: tests, path: {}}}}}\n", folder.join("htpasswd").display())
}

/// The settings for TLS.
fn tls(folder: &Path, name: &str) -> String {
    let path = |end: &str| folder.join(format!("keys/{name}.{end}")).display().to_string();
    format!("  tls: {{certificate: {}, key: {}}}\n", path("crt"), path("key"))
}

/// A private CA, and a certificate by it. The one of the CA is good for a server but for being that of a CA.
fn certificates() -> TempDir {
    let folder = TempDir::new().unwrap();
    let script = format!(
        r#"
mkdir keys certs
names=subjectAltName=DNS:localhost,IP:127.0.0.1,DNS:{NAME}
new() {{ openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 "$@" 2>/dev/null; }}
new -x509 -subj "/CN=CA of a test" -addext "$names" -keyout keys/ca.key -out keys/ca.crt
new -subj "/CN=server of a test" -keyout keys/server.key -out server.csr
printf '%s\nbasicConstraints=CA:FALSE\n' "$names" >extensions
openssl x509 -req -in server.csr -CA keys/ca.crt -CAkey keys/ca.key -CAcreateserial -days 30 \
    -extfile extensions -out keys/server.crt 2>/dev/null
echo extendedKeyUsage=clientAuth >usage
new -subj "/CN=client of a test" -keyout certs/client.key -out client.csr
openssl x509 -req -in client.csr -CA keys/ca.crt -CAkey keys/ca.key -CAcreateserial -days 30 \
    -extfile usage -out certs/client.cert 2>/dev/null
cp keys/ca.crt certs/ca.crt
"#
    );
    shell(folder.path(), &script);
    folder
}
