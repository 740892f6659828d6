//! What a child tells its parent: one message a line, each behind a fixed prefix. Drivers print on their own
//! account; lines without the prefix are theirs.

use std::fs::File;
use std::io::Write as _;

use serde::{Deserialize, Serialize};

use super::{Device, Driver, GpuError, SCHEMA, Stage, Step, TriedLibrary};

/// What a child tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Message {
    /// A step begins: when nothing follows, it is the one that ended the child.
    Begin { stage: Stage, device: Option<u32> },
    /// A step is over.
    Step(Step),
    /// A place where the library was looked for. A second one of the same path replaces the first.
    Tried(TriedLibrary),
    /// What is known of the driver, in place of what was.
    Driver(Driver),
    /// What is known of a device, in place of what was.
    Device(Box<Device>),
    /// A sentence.
    Note(String),
    /// Why something failed. Only the first is kept.
    Error(Box<GpuError>),
    /// Everything was told.
    End,
}

impl Message {
    fn line(&self) -> serde_json::Result<String> {
        Ok(format!("{SCHEMA} {}\n", serde_json::to_string(self)?))
    }

    /// The message of a line, without its line end; `None` when it is none of ours.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let rest = line.strip_prefix(SCHEMA.as_bytes())?.strip_prefix(b" ")?;
        serde_json::from_slice(rest).ok()
    }
}

/// Where a child tells what it knows.
#[derive(Debug)]
pub(super) struct Teller(pub(super) File);

impl Teller {
    /// Tells one thing; whether somebody listens. A line goes out in one write, so that it is there when the
    /// next step ends the process.
    pub(super) fn tell(&mut self, message: &Message) -> bool {
        message.line().is_ok_and(|line| self.0.write_all(line.as_bytes()).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::Message;
    use crate::gpu::{Stage, TriedLibrary};

    #[test]
    fn a_message_is_one_line_whatever_it_holds() {
        let messages = [
            Message::Begin { stage: Stage::Init, device: Some(3) },
            Message::Tried(TriedLibrary { path: "a\nb".into(), outcome: "\u{2028}\u{0}".into() }),
            Message::End,
        ];
        for message in messages {
            let line = message.line().unwrap();
            let text = line.strip_suffix('\n').unwrap();
            assert!(!text.contains('\n'));
            assert_eq!(Message::parse(text.as_bytes()), Some(message));
        }
    }

    #[test]
    fn what_a_driver_prints_is_no_message() {
        for line in [
            "",
            "\"end\"",
            "cutaway.gpu/1",
            "cutaway.gpu/1 {",
            "cutaway.gpu/2 \"end\"",
            "x cutaway.gpu/1 \"end\"",
        ] {
            assert_eq!(Message::parse(line.as_bytes()), None, "{line}");
        }
    }
}
