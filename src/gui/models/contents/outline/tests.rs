use std::sync::Arc;

use super::super::search::Searched as _;
use super::{MOST_DEPTH, Outline, OutlineError, OutlineRows, Syntax, TextDocument};

fn parse(text: &str, syntax: Syntax) -> Result<Outline, OutlineError> {
    Outline::parse(&Arc::new(TextDocument::decode(text.as_bytes(), true).unwrap()), syntax)
}

fn shown(rows: &OutlineRows) -> Vec<String> {
    let row = |row| {
        let row = rows.row(row);
        let sign = match row.open {
            Some(true) => "v ",
            Some(false) => "> ",
            None => "",
        };
        format!("{}{sign}{}", " ".repeat(row.depth), row.spoken())
    };
    (0..rows.len()).map(row).collect()
}

const JSON: &str = r#" {"z": [1.50, true, {"deep": null}], "a": "x \"y\" \u00e4", "": {}, "big": 123456789012345678901234567890} "#;

#[test]
fn json_keeps_order_and_numbers() {
    let rows = OutlineRows::new(Arc::new(parse(JSON, Syntax::Json).unwrap()));
    let wanted = [
        "v z, 3 items",
        " 0: 1.50",
        " 1: true",
        " v 2, 1 member",
        "  deep: null",
        r#"a: "x \"y\" \u00e4""#,
        "0 members",
        "big: 123456789012345678901234567890",
    ];
    assert_eq!(shown(&rows), wanted);
    let outline = rows.outline();
    assert_eq!(outline.copied(6), "x \"y\" ä");
    assert_eq!(outline.copied(1), r#"[1.50, true, {"deep": null}]"#);
    assert_eq!(outline.find("DEEP"), [5]);
    assert_eq!(outline.values(), 8);
    for (text, value) in [("[]", "0 items"), ("7", "7")] {
        let rows = OutlineRows::new(Arc::new(parse(text, Syntax::Json).unwrap()));
        assert_eq!(shown(&rows), Vec::from_iter((text == "7").then_some(value)));
    }
}

#[test]
fn rows_open_and_close() {
    let list = (0..300).map(|item| format!("{{\"n\": {item}, \"in\": [1]}}")).collect::<Vec<_>>();
    let text = format!("{{\"list\": [{}], \"end\": 1}}", list.join(","));
    let mut rows = OutlineRows::new(Arc::new(parse(&text, Syntax::Json).unwrap()));
    assert_eq!(shown(&rows), ["> list, 300 items", "end: 1"]);
    rows.select(1);
    rows.open(0);
    assert_eq!((rows.len(), rows.selected()), (302, Some(301)));
    rows.open(1);
    assert_eq!(shown(&rows)[1..5], [" v 0, 2 members", "  n: 0", "  > in, 1 item", " > 1, 2 members"]);
    rows.select(2);
    rows.select_parent(2);
    assert_eq!(rows.selected(), Some(1));
    rows.select(3);
    rows.close(0);
    assert_eq!((rows.len(), rows.selected()), (2, Some(0)));
    // What was open below is open again.
    rows.open(0);
    assert_eq!(rows.len(), 304);
    rows.set_all(true);
    assert_eq!(rows.len(), 300 * 4 + 2);
    rows.set_all(false);
    assert_eq!(rows.len(), 2);
    let node = rows.outline().find("299")[0];
    rows.reveal(node);
    assert_eq!(rows.row(rows.selected().unwrap()).spoken(), "n: 299");
}

#[test]
fn toml_keeps_the_order_of_the_text() {
    let text = "z = 1.50 # comment\na.b.c = 'x'\n\n[[bin]]\nname = \"one\"\nat = 2026-01-02\n[[bin]]\nname = \"two\"\n\
                [a.d]\nlist = [1, {k = 0x1F}]\n";
    let outline = Arc::new(parse(text, Syntax::Toml).unwrap());
    let rows = OutlineRows::new(Arc::clone(&outline));
    let wanted = [
        "z: 1.50",
        "v a, 2 members",
        " v b, 1 member",
        "  c: 'x'",
        " v d, 1 member",
        "  v list, 2 items",
        "   0: 1",
        "   v 1, 1 member",
        "    k: 0x1F",
        "v bin, 2 items",
        " v 0, 2 members",
        "  name: \"one\"",
        "  at: 2026-01-02",
        " v 1, 1 member",
        "  name: \"two\"",
    ];
    assert_eq!(shown(&rows), wanted);
    assert_eq!(outline.line(outline.find("two")[0]), 7);
}

#[test]
fn faults_have_their_place() {
    let cases = [
        (
            "{\n  \"a\": 1,\n}",
            Syntax::Json,
            "Not valid JSON, line 3, column 1: key must be a string",
            Some(2),
        ),
        ("{} x", Syntax::Json, "Not valid JSON, line 1, column 4: trailing characters", Some(0)),
        ("a = 1\nb = = 2\n", Syntax::Toml, "Not valid TOML, line 2, column 5: ", Some(1)),
        ("a = 1\na = 2\n", Syntax::Toml, "Not valid TOML, line 2, column 1: duplicate key", Some(1)),
    ];
    for (text, syntax, words, line) in cases {
        let error = parse(text, syntax).unwrap_err();
        assert!(error.words.starts_with(words), "{}", error.words);
        assert_eq!(error.line, line);
    }
}

#[test]
fn depth_and_size_are_bounded() {
    let deep = 200_000;
    let json = "[".repeat(deep) + &"]".repeat(deep);
    let keys = "a.".repeat(deep) + "a = 1";
    let table = format!("[{}a]\nb = 1", "a.".repeat(deep));
    let inline = "a = ".to_owned() + &"[".repeat(deep) + &"]".repeat(deep);
    for (text, syntax) in
        [(json, Syntax::Json), (keys, Syntax::Toml), (table, Syntax::Toml), (inline, Syntax::Toml)]
    {
        let error = parse(&text, syntax).unwrap_err();
        assert!(error.words.starts_with("Shown as text"), "{}", error.words);
    }
    let right = "[".repeat(MOST_DEPTH) + &"]".repeat(MOST_DEPTH);
    assert!(parse(&right, Syntax::Json).is_ok());
    let many = format!("[{}0]", "0,".repeat(1_000_000));
    assert_eq!(
        parse(&many, Syntax::Json).unwrap_err().words,
        "Shown as text, line 1, column 2,000,002: more than 1,000,000 values"
    );
    let large = format!("\"{}\"", "x".repeat(8 << 20));
    assert_eq!(parse(&large, Syntax::Json).unwrap_err().words, "JSON of more than 8.00 MiB is shown as text");
}

#[test]
fn hostile_text_takes_bounded_memory() {
    let most = Syntax::Toml.most_bytes();
    let deep = (0..most / 400).map(|n| format!("[k{n}.{}b]\n", "a.".repeat(70))).collect::<String>();
    for (text, reason) in [
        (format!("a=[{}]", "1,".repeat(most / 2 - 3)), "more than 500,000 values and lines"),
        (format!("a=[{}]", "[],".repeat(most / 3 - 3)), "more than 65,536 tables and lists"),
        ("[[a]]\n".repeat(most / 6), "more than 65,536 tables and lists"),
        (format!("a=[{}]", "{a=1},".repeat(most / 6 - 3)), "more than 65,536 tables and lists"),
        (deep, "more than 65,536 tables and lists"),
        ("= ".repeat(most / 2), "more than 500,000 values and lines"),
        ("\n".repeat(most), "more than 500,000 values and lines"),
        ("[[a]]\n".repeat(32_000), ""),
        (format!("a=[{}]", "{a=1},".repeat(65_000)), ""),
        ((0..240_000).map(|n| format!("a{n} = 1\n")).collect(), ""),
        (format!("[{}b]\n", "a.".repeat(70)), ""),
        ((0..900).map(|n| format!("[k{n}.{}b]\n", "a.".repeat(70))).collect(), ""),
        // Signs in strings and comments are text.
        (format!("a = \"{}\" # {}", "\\\"=,[".repeat(most / 10 - 4), "=,[".repeat(most / 6 - 4)), ""),
        (format!("a = '''{}'''\nb = 1", "\n'[\"".repeat(most / 4 - 8)), ""),
        ("[".repeat(most), "tables"),
        ("'".repeat(most), "Not valid TOML"),
    ] {
        let mut error = None;
        let used = allocation_counter::measure(|| error = parse(&text, Syntax::Toml).err());
        let words = error.map(|error| error.words).unwrap_or_default();
        let start: String = text.chars().take(30).collect();
        assert!(words.contains(reason) && words.is_empty() == reason.is_empty(), "{start}: {words}");
        assert!(used.bytes_max < 256 << 20, "{start}: {} MiB", used.bytes_max >> 20);
    }
    let json = format!("[{}0]", "0,".repeat(4_000_000));
    let used = allocation_counter::measure(|| assert!(parse(&json, Syntax::Json).is_err()));
    assert!(used.bytes_max < 64 << 20, "{}", used.bytes_max);
}
