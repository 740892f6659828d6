//! While an image arrives from a registry.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

use cutaway::analysis::Analysis;
use cutaway::source::Image;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;

use super::window;
use crate::pictures::half_of;

/// A registry in trouble: asks everybody to come back much later.
fn overloaded() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut asked = [0; 4096];
            let answer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 60\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            if stream.read(&mut asked).is_ok() {
                stream.write_all(answer.as_bytes()).ok();
            }
        }
    });
    port
}

#[test]
fn what_the_work_has_to_tell_is_shown_and_kept_in_the_log() {
    let port = overloaded();
    let mut window = window();
    window.open(&format!("127.0.0.1:{port}/team/tool:1"));
    window.sees("retrying in 60 s");
    let told = window.harness.query_all_by_label_contains("retrying in 60 s").count();
    assert!(told >= 2, "in the middle and in the status bar: {told}");
    assert!(window.shows("No warnings"), "that it waits is no warning");
    window.press(Modifiers::COMMAND, Key::Period);
    window.settles();
    window.press(Modifiers::COMMAND, Key::J);
    window.sees("note: tool:1: 127.0.0.1");
}

#[test]
fn sizes_are_known_before_layers_arrive() {
    let (half, progress) = half_of("sample:devel");
    let mut analysis = Analysis::clone(&half);
    let mut image = Image::clone(&analysis.image);
    (image.source, image.reference) = ("registry".into(), "ghcr.io/team/tool:1".into());
    analysis.image = Arc::new(image);
    let mut window = window();
    window.harness.state_mut().open_still(Arc::new(analysis), progress);
    window.sees("Receiving layer 11 of 20: 259 KiB of 778 KiB.");
    assert!(window.shows("registry ghcr.io"), "the status bar names the host");
    assert!(window.shows("778 KiB compressed"), "the manifest says how much there is");
    window.press(Modifiers::COMMAND, Key::Num2);
    let last = window.harness.query_all_by_label_contains("Layer 11: ").next().is_some();
    assert!(last && window.shows("not read yet, compressed "));
}
