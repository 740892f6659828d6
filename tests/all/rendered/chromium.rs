//! Chromium without a window: what a page says to the console, what it fetches, how it is laid out.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Starting takes a second; a slow machine may need many.
const PATIENCE: Duration = Duration::from_mins(2);

const SCRIPT: &str = include_str!("../../rendered/measure.js");

/// What Chromium made of a page.
pub(super) struct Seen {
    /// The document after it was loaded.
    pub(super) dom: String,
    /// What it said to the console: errors, warnings, refusals of its policy.
    pub(super) console: Vec<String>,
    /// What it asked for beside itself.
    pub(super) requests: Vec<String>,
    /// The printed document, if there was to be one.
    pub(super) pdf: Vec<u8>,
}

/// Opens a page with more `options`.
pub(super) fn open(html: &str, options: &[&str]) -> Seen {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().expect("a path in UTF-8").to_owned();
    fs::write(path("page.html"), html).unwrap();
    let mut command = Command::new("chromium");
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions"])
        // Its own traffic is told apart below; with these it gets no answers.
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--proxy-server=direct://", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"])
        .args(["--enable-logging=stderr", "--v=0", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", path("profile")))
        .arg(format!("--log-net-log={}", path("requests.json")))
        .args(options.iter().map(|option| option.replace("FOLDER", &path("."))))
        .arg(format!("file://{}", path("page.html")))
        .env("HOME", folder.path())
        .env_remove("DISPLAY")
        .stdin(Stdio::null())
        .stdout(File::create(path("stdout")).unwrap())
        .stderr(File::create(path("stderr")).unwrap())
        .process_group(0);
    let status = wait(command.spawn().expect("chromium starts"));
    let said = String::from_utf8_lossy(&fs::read(path("stderr")).unwrap()).into_owned();
    assert!(status, "chromium failed: {said}");
    let log: Value = serde_json::from_slice(&fs::read(path("requests.json")).unwrap()).expect("a whole log");
    Seen {
        dom: String::from_utf8_lossy(&fs::read(path("stdout")).unwrap()).into_owned(),
        console: said.lines().filter(|line| line.contains(":CONSOLE:")).map(str::to_owned).collect(),
        requests: requests(&log),
        pdf: fs::read(path("printed.pdf")).unwrap_or_default(),
    }
}

/// Whether it ended well, in time; all that it started ends with it.
fn wait(mut child: Child) -> bool {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("chromium can be waited for") {
            return status.success();
        }
        if started.elapsed() > PATIENCE {
            Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status().ok();
            child.wait().ok();
            panic!("chromium did not end within {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The addresses that the page asked for. What the browser asks for by itself has no origin.
fn requests(log: &Value) -> Vec<String> {
    let kind = &log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"];
    assert!(kind.is_u64(), "chromium's log has another form");
    let events = log["events"].as_array().expect("events are a list").iter();
    let starts = events.filter(|event| event["type"] == *kind && event["params"]["url"].is_string());
    let of_page = starts.filter(|event| event["params"]["initiator"] != "not an origin");
    of_page.map(|event| event["params"]["url"].as_str().unwrap_or_default().to_owned()).collect()
}

/// What `measure.js` finds of a page in frames of several widths, closed and opened, in one of the themes.
pub(super) fn measure(html: &str, widths: &[u32], dark: bool) -> Vec<Value> {
    let quoted = html.replace('&', "&amp;").replace('"', "&quot;");
    let frame =
        |width: &u32| format!("<iframe width=\"{width}\" height=\"800\" srcdoc=\"{quoted}\"></iframe>");
    let frames: Vec<String> = widths.iter().map(frame).collect();
    let wrapper = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"color-scheme\" content=\"light dark\">\
         <style>iframe {{ border: 0 }}</style><script>{SCRIPT}</script>\n{}",
        frames.join("\n")
    );
    let theme = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
    let seen = open(&wrapper, &["--window-size=1500,900", &theme, "--dump-dom"]);
    let found = seen.dom.split_once("id=\"found\">").and_then(|(_, rest)| rest.split_once("</script>"));
    let (json, _) = found.unwrap_or_else(|| panic!("nothing was measured: {:?}", seen.console));
    serde_json::from_str(json).expect("JSON")
}

/// Prints a page; how many sheets that takes.
pub(super) fn sheets(html: &str) -> usize {
    let seen = open(html, &["--no-pdf-header-footer", "--print-to-pdf=FOLDER/printed.pdf"]);
    assert!(seen.pdf.starts_with(b"%PDF"), "nothing was printed");
    let text = String::from_utf8_lossy(&seen.pdf);
    text.matches("/Type /Page\n").count() + text.matches("/Type /Page ").count()
}
