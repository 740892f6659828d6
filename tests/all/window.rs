//! The real window: the program under a display in memory, driven by synthetic keys and photographed,
//! with both renderers; and what the program does where there is no display.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use crate::oracle::have;
use crate::support::{Place, program};

/// Runs a script with a display of its own; `$P` is the program, `$T` a folder that is also the home.
fn with_display(folder: &Path, renderer: &str, script: &str) -> Output {
    // xvfb-run looks for a free number and then takes it, which two at a time may do with the same one.
    static ONE_AT_A_TIME: Mutex<u32> = Mutex::new(0);
    let mut runs = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // Never the number of the display before: a server that is ending takes its socket away, be it that of the next.
    *runs += 1;
    let number = (200 + std::process::id() % 1000 * 8 + *runs % 8).to_string();
    let home = folder.join("home");
    fs::create_dir_all(&home).unwrap();
    Command::new("timeout")
        // Without -noreset the server starts over when its last client leaves, and refuses the next one meanwhile.
        .args(["280", "xvfb-run", "-a", "-n", &number, "-s", "-screen 0 1000x700x24 -noreset"])
        .args(["bash", "-c", &format!("{ANSWERS}\n{script}")])
        .env("P", env!("CARGO_BIN_EXE_cutaway"))
        .env("T", folder)
        .env("HOME", &home)
        .env("CUTAWAY_NO_CACHE", "1")
        .env("XDG_DATA_HOME", home.join("data"))
        .env("CUTAWAY_SETTINGS", home.join("settings.toml"))
        .env("CUTAWAY_RENDERER", renderer)
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .env_remove("DISPLAY")
        .output()
        .expect("the shell runs")
}

/// Waits until the display takes connections: on a busy machine it says that it is ready before it does.
const ANSWERS: &str =
    "for _ in $(seq 50); do xdotool getdisplaygeometry >/dev/null 2>&1 && break; sleep 0.2; done";

fn tools() -> bool {
    have(&["xvfb-run", "xdotool", "import", "identify", "timeout"])
}

fn told(output: &Output) -> String {
    let mut text = format!("{}\n", output.status);
    for part in [&output.stdout, &output.stderr] {
        writeln!(text, "{}", String::from_utf8_lossy(part)).unwrap();
    }
    text
}

/// Starts the program with a sample, waits for its window, presses keys, and takes two pictures.
const JOURNEY: &str = r#"
set -u
"$P" sample:devel 2>"$T/errors" & pid=$!
window=
for _ in $(seq 150); do
    window=$(xdotool search --onlyvisible --pid $pid 2>/dev/null | tail -1)
    [ -n "$window" ] && break
    kill -0 $pid 2>/dev/null || { cat "$T/errors" >&2; exit 3; }
    sleep 0.2
done
[ -n "$window" ] || { echo "no window" >&2; exit 4; }
xdotool windowmove "$window" 0 0 windowsize "$window" 1000 700 windowfocus "$window"
title() { xdotool getwindowname "$window"; }
for _ in $(seq 100); do [ "$(title)" = "sample:devel – Cutaway" ] && break; sleep 0.1; done
echo "title: $(title)"
# Colours of the picture tell a painted window from an empty one; wait until it is painted.
colours() { import -window root "$1" && identify -format '%k' "$1"; }
for _ in $(seq 50); do first=$(colours "$T/first.png"); [ "$first" -gt 60 ] && break; sleep 0.2; done
echo "first: $first"
xdotool key ctrl+w
for _ in $(seq 100); do [ "$(title)" = "Cutaway" ] && break; sleep 0.1; done
echo "title: $(title)"
sleep 1
echo "second: $(colours "$T/second.png")"
cmp -s "$T/first.png" "$T/second.png" && echo "nothing changed"
xdotool key ctrl+q
for _ in $(seq 100); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
if kill -0 $pid 2>/dev/null; then kill $pid; echo "it had to be stopped"; fi
wait $pid
echo "status: $?"
cat "$T/errors" >&2
"#;

fn drives_and_photographs(renderer: &str) {
    if !tools() {
        return;
    }
    let folder = tempfile::Builder::new().prefix("cutaway-window-").tempdir().unwrap();
    let output = with_display(folder.path(), renderer, JOURNEY);
    let text = told(&output);
    for wanted in ["title: sample:devel – Cutaway\n", "title: Cutaway\n", "status: 0\n"] {
        assert!(text.contains(wanted), "{renderer}: no {wanted:?} in {text}");
    }
    for fault in ["nothing changed", "panicked", "it had to be stopped", "is not available"] {
        assert!(!text.contains(fault), "{renderer}: {text}");
    }
    for name in ["first: ", "second: "] {
        let colours = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        let colours: u32 = colours.parse().unwrap_or_else(|_| panic!("{renderer}: {text}"));
        assert!(colours > 60, "{renderer}: a window of {colours} colours is empty: {text}");
    }
}

#[test]
fn glow_paints_and_takes_keys() {
    drives_and_photographs("glow");
}

#[test]
fn wgpu_paints_and_takes_keys() {
    drives_and_photographs("wgpu");
}

/// The journey of a user at a desktop: a window manager gives the window its keys, and all that the user does is typed.
/// What it leaves behind tells whether it worked.
const DESKTOP: &str = r#"
set -u
openbox >/dev/null 2>&1 & manager=$!
"$P" 2>"$T/errors" & pid=$!
window=
for _ in $(seq 150); do
    window=$(xdotool search --onlyvisible --pid $pid 2>/dev/null | tail -1)
    [ -n "$window" ] && break
    kill -0 $pid 2>/dev/null || { cat "$T/errors" >&2; exit 3; }
    sleep 0.2
done
until_title() { for _ in $(seq 100); do [ "$(xdotool getwindowname "$window")" = "$1" ] && break; sleep 0.1; done; echo "title: $(xdotool getwindowname "$window")"; }
until_file() { for _ in $(seq 150); do [ -s "$1" ] && break; sleep 0.1; done; [ -s "$1" ] && echo "saved: ${1##*/}"; }
# Keys that come while a frame is being painted are for what was there before it.
still() {
    sleep 0.4
    local before= now
    for _ in $(seq 20); do
        now=$(import -window root rgb:- | sha256sum)
        [ "$now" = "$before" ] && return
        before=$now
        sleep 0.1
    done
}
key() { xdotool key "$@"; still; }
words() { xdotool type --delay 12 "$1"; still; }
command() { key ctrl+k; words "$1"; key Return; }
# On a busy machine the window is there before it is painted and has the keys, and what is typed before that is lost.
for _ in $(seq 100); do
    [ "$(import -window root png:- | identify -format '%k' -)" -gt 60 ] && [ "$(xdotool getwindowfocus)" = "$window" ] && break
    sleep 0.2
done
still
for _ in $(seq 5); do
    words "sample:devel"
    key Return
    until_title "sample:devel – Cutaway" | grep -q sample && break
    # Back to an empty start.
    key ctrl+w
    key ctrl+a
done
until_title "sample:devel – Cutaway"
# The proposed Dockerfile.
key ctrl+5
for _ in $(seq 20); do
    key ctrl+s
    key ctrl+a
    words "$T/Dockerfile.slim"
    key Return
    [ -s "$T/Dockerfile.slim" ] && break
    key Escape
done
until_file "$T/Dockerfile.slim"
# The report.
key ctrl+e
key ctrl+a
words "$T/report.html"
key Return
until_file "$T/report.html"
# The plan and the slim image, which opens beside its source.
command "select all removable"
command "write slim"
words "$T/slim:1"
key Return
until_file "$T/slim/index.json"
for _ in $(seq 100); do [ -e "$T/slim/oci-layout" ] && break; sleep 0.1; done
still
key Escape
# A file of the image.
key ctrl+2
key Down Down
key ctrl+i
key ctrl+q
for _ in $(seq 100); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
if kill -0 $pid 2>/dev/null; then kill $pid; echo "it had to be stopped"; import -window root "$T/last.png"; fi
wait $pid
echo "status: $?"
kill $manager
cat "$T/errors" >&2
"#;

#[test]
fn a_journey_at_a_desktop_is_typed() {
    if !tools() || !have(&["openbox"]) {
        return;
    }
    let folder = tempfile::Builder::new().prefix("cutaway-window-").tempdir().unwrap();
    let output = with_display(folder.path(), "glow", DESKTOP);
    let text = told(&output);
    for wanted in ["title: sample:devel – Cutaway\n", "saved: Dockerfile.slim\n", "saved: report.html\n"] {
        assert!(text.contains(wanted), "no {wanted:?} in {text}");
    }
    for wanted in ["saved: index.json\n", "status: 0\n"] {
        assert!(text.contains(wanted), "no {wanted:?} in {text}");
    }
    assert!(!text.contains("panicked") && !text.contains("it had to be stopped"), "{text}");
    let dockerfile = fs::read_to_string(folder.path().join("Dockerfile.slim")).unwrap();
    assert!(dockerfile.contains("\nFROM "), "{dockerfile}");
    let report = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(report.contains("vision-service"), "the report is of the image");
    let slim = format!("oci:{}:1", folder.path().join("slim").display());
    let compared = program().args(["compare", "sample:devel", &slim, "--format", "json"]).output().unwrap();
    assert!(compared.status.success(), "{}", told(&compared));
}

/// Under Wayland: a compositor without a screen, and a window that loads an image and ends after some frames.
const WAYLAND: &str = r#"
set -u
export XDG_RUNTIME_DIR="$T/run"
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
weston --backend=headless-backend.so --socket=cutaway --width=1000 --height=700 >"$T/weston" 2>&1 & compositor=$!
for _ in $(seq 100); do [ -S "$XDG_RUNTIME_DIR/cutaway" ] && break; sleep 0.1; done
unset DISPLAY
WAYLAND_DISPLAY=cutaway WAYLAND_DEBUG=1 timeout 60 "$P" sample:runtime --exit-after-frames 40 2>"$T/errors"
echo "status: $?"
kill $compositor
grep -o 'set_title("[^"]*")' "$T/errors"
grep -c 'wl_surface.*commit' "$T/errors"
grep -v '^\[' "$T/errors" >&2
true
"#;

#[test]
fn the_window_opens_under_wayland() {
    if !tools() || !have(&["weston"]) {
        return;
    }
    let folder = tempfile::Builder::new().prefix("cutaway-window-").tempdir().unwrap();
    let output = with_display(folder.path(), "glow", WAYLAND);
    let text = told(&output);
    assert!(text.contains("status: 0\n"), "{text}");
    assert!(text.contains("set_title(\"sample:runtime – Cutaway\")"), "{text}");
    assert!(!text.contains("panicked") && !text.contains("is not available"), "{text}");
}

#[test]
fn the_window_closes_after_a_set_number_of_frames_and_remembers() {
    if !tools() {
        return;
    }
    let folder = tempfile::Builder::new().prefix("cutaway-window-").tempdir().unwrap();
    let output = with_display(folder.path(), "glow", "\"$P\" sample:runtime --exit-after-frames 5");
    let text = told(&output);
    assert!(output.status.success(), "{text}");
    assert!(output.stdout.is_empty(), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    let kept = fs::read_to_string(folder.path().join("home/data/cutaway/app.ron")).unwrap();
    assert!(kept.contains("version:1"), "{kept}");
}

#[test]
fn one_renderer_stands_in_for_the_other() {
    if !tools() {
        return;
    }
    let folder = tempfile::Builder::new().prefix("cutaway-window-").tempdir().unwrap();
    let script = "VK_ICD_FILENAMES=/dev/null WGPU_BACKEND=vulkan \"$P\" --exit-after-frames 3";
    let output = with_display(folder.path(), "wgpu", script);
    let text = told(&output);
    assert!(output.status.success() && output.stdout.is_empty(), "{text}");
    assert!(text.contains("note: renderer wgpu is not available: "), "{text}");
}

#[test]
fn without_a_display_the_report_is_printed() {
    let place = Place::new();
    let outcome = place.run(&["sample:runtime"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("Largest files"), "{}", outcome.stdout);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{}", outcome.stderr);
    assert!(lines[0].contains("neither WAYLAND_DISPLAY nor DISPLAY is set"), "{}", lines[0]);
}

#[test]
fn with_a_display_that_is_not_there_the_report_is_printed() {
    let output = program()
        .arg("sample:runtime")
        .env("DISPLAY", ":4242")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .unwrap();
    let text = told(&output);
    assert!(output.status.success(), "{text}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Largest files"), "{text}");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("cannot use the display: "), "{text}");
    assert_eq!(errors.lines().count(), 1, "{text}");
}
