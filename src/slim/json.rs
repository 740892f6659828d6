//! A JSON object with its members in order and their text as it is: only what is set changes.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// An object whose members are not interpreted.
#[derive(Clone, Debug, Default)]
pub(super) struct Object(Vec<(String, Box<RawValue>)>);

impl Object {
    /// The object in `bytes`; an empty one if it is none.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    pub(super) fn get(&self, key: &str) -> Option<&RawValue> {
        // Of a key that is there twice, readers take the last one.
        self.0.iter().rev().find(|(known, _)| known == key).map(|(_, value)| &**value)
    }

    /// The value as `T`; `None` if it is missing or something else.
    pub(super) fn read<'a, T: Deserialize<'a>>(&'a self, key: &str) -> Option<T> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// Sets a member where it is, or as the last one.
    pub(super) fn set(&mut self, key: &str, value: &impl Serialize) {
        let Ok(value) = to_raw_value(value) else { return };
        let mut places = self.0.iter_mut().rev().filter(|(known, _)| known == key);
        match places.next() {
            Some((_, known)) => *known = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    pub(super) fn set_default(&mut self, key: &str, value: &Value) {
        if self.get(key).is_none() {
            self.set(key, value);
        }
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.0.retain(|(known, _)| known != key);
    }

    /// Keeps the members whose names `keep` accepts.
    pub(super) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|(key, _)| keep(key));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
