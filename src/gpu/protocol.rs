//! Messages of a child to its parent, one per line with a fixed prefix. Drivers also write to standard output; lines
//! without the prefix are theirs.

use std::fs::File;
use std::io::Write as _;

use serde::{Deserialize, Serialize};

use super::{Device, Driver, GpuError, SCHEMA, Stage, Step, TriedLibrary};

/// A message of a child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Message {
    /// A step begins: if nothing follows, the child ended in this step.
    Begin { stage: Stage, device: Option<u32> },
    /// A step has ended.
    Step(Step),
    /// A searched location of the library. It replaces an earlier one of the same path.
    Tried(TriedLibrary),
    /// Facts of the driver; replaces earlier ones.
    Driver(Driver),
    /// Facts of a device; replaces earlier ones.
    Device(Box<Device>),
    /// A remark.
    Note(String),
    /// Why a step failed. Only the first is stored.
    Error(Box<GpuError>),
    /// The check is complete.
    End,
}

impl Message {
    fn line(&self) -> serde_json::Result<String> {
        Ok(format!("{SCHEMA} {}\n", serde_json::to_string(self)?))
    }

    /// Parses a line without its line end; `None` if it is not a message.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let rest = line.strip_prefix(SCHEMA.as_bytes())?.strip_prefix(b" ")?;
        serde_json::from_slice(rest).ok()
    }
}

/// Writer of messages.
#[derive(Debug)]
pub(super) struct MessageWriter(pub(super) File);

impl MessageWriter {
    /// Writes one message; returns whether there is a reader. A line is a single write, so that it arrives even if the
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
