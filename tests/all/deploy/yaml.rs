//! YAML as JSON, by the rules of the core schema.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

/// The documents of a stream. Fails on anything but plain data without aliases.
pub fn documents(text: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, _) = event.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let value = match event {
            Event::Scalar(text, style, ..) => scalar(&text, style != ScalarStyle::Plain),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop().unwrap() {
                Open::List(items) => Value::Array(items),
                Open::Map(entries, _) => Value::Object(entries),
            },
            Event::Alias(_) => panic!("an alias in {text}"),
            _ => continue,
        };
        match open.last_mut() {
            None => all.push(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(entries, key)) => match key.take() {
                None => *key = Some(value.as_str().unwrap().to_owned()),
                Some(key) => assert!(entries.insert(key.clone(), value).is_none(), "{key} twice in {text}"),
            },
        }
    }
    all
}

fn scalar(text: &str, quoted: bool) -> Value {
    if quoted {
        return text.into();
    }
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        _ => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
    }
}
