use super::super::parse;

fn known(name: &str) -> Option<String> {
    match name {
        "A" => Some("1".to_owned()),
        "EMPTY" => Some(String::new()),
        "LONG" => Some("x".repeat(1000)),
        "1" => Some("one".to_owned()),
        _ => None,
    }
}

#[test]
fn variables_are_filled_in_and_the_unknown_stands() {
    let file = parse(b"FROM a\n").unwrap();
    for (text, expected) in [
        ("", ""),
        ("$A-${A}-$B-${B}", "1-1-$B-${B}"),
        ("${A:-x}${B:-x}${EMPTY:-x}${EMPTY-x}|", "1xx|"),
        ("${A:+x}${B:+x}${EMPTY:+x}${EMPTY+x}|", "xx|"),
        ("${B:-${C:-$A}}", "1"),
        ("${B:-${C}}", "${C}"),
        ("${A:-${B:-x}}${A:+}", "1"),
        ("${A:?no}${B:?no}${B?}", "1${B:?no}${B?}"),
        ("${A#1}${A%%.*}${A/1/${B:-2}}.", "${A#1}${A%%.*}${A/1/${B:-2}}."),
        ("$", "$"),
        ("$$A ${} ${:-x} ${A!} ${", "$$A ${} ${:-x} ${A!} ${"),
        ("a${B:-b${A}", "a${B:-b${A}"),
        ("${A:-b${A}", "${A:-b${A}"),
        ("\\$A \\\\$A 'a'\"$A\"", "$A \\$A 'a'\"1\""),
        ("$1$12$Aé${A}é}", "one$12$Aé1é}"),
        ("c:\\dir\\$A\\", "c:\\dir$A\\"),
    ] {
        assert_eq!(file.expand(text, &known), expected, "{text}");
    }
}

#[test]
fn words_are_expanded_as_they_are_quoted() {
    let text = "FROM a\nENV X='$A'\"$A\"\\$A Y=\"a 'b' $A \\\" \\$A \\n\" Z=${B:-\"a b\"}\\\n# no\n$A W=a\\ b 'V=x y'\n";
    let file = parse(text.as_bytes()).unwrap();
    let words: Vec<String> =
        file.instructions[1].words.iter().map(|word| file.expand_word(word, &known)).collect();
    assert_eq!(words, ["X=$A1$A", "Y=a 'b' 1 \" $A \\n", "Z=a b1", "W=a b", "V=x y"]);
    let file = parse(b"# escape=`\nFROM a\nENV X=c:\\$A Y=`$A`\n Z=1\n").unwrap();
    let words: Vec<String> =
        file.instructions[1].words.iter().map(|word| file.expand_word(word, &known)).collect();
    assert_eq!(words, ["X=c:\\1", "Y=$A", "Z=1"]);
}

#[test]
fn filling_in_is_bounded_and_needs_no_recursion() {
    let file = parse(b"FROM a\n").unwrap();
    let deep = "${B:-".repeat(100_000) + &"}".repeat(100_000);
    assert_eq!(file.expand(&deep, &known), "");
    let deep = "${B#".repeat(100_000) + &"}".repeat(100_000);
    assert_eq!(file.expand(&deep, &known), deep);
    let open = "${B:-".repeat(100_000);
    assert_eq!(file.expand(&open, &known), open);
    let grown = file.expand(&"$LONG".repeat(10_000), &known);
    assert!(grown.len() < (1 << 20) + 50_000 && grown.ends_with("$LONG"), "{}", grown.len());
}

#[test]
fn variables_of_variables_do_not_grow_without_end() {
    use std::fmt::Write as _;
    let mut text = "ARG A0=0123456789\n".to_owned();
    for number in 1..60 {
        let before = number - 1;
        writeln!(text, "ARG A{number}=$A{before}$A{before}").unwrap();
    }
    text.push_str("FROM $A59\nFROM ${A3}\n");
    let stages = parse(text.as_bytes()).unwrap().stages();
    assert!(stages[0].base.len() <= 4096);
    assert_eq!(stages[1].base, "0123456789".repeat(8));
}

#[test]
fn stages_know_their_names_and_parents() {
    let text = "ARG TAG=12.4 FLAVOR=\"devel\"\nARG IMAGE='nvidia/cuda':${TAG}-$FLAVOR\nARG NONE\n\
        FROM --platform=$BUILDPLATFORM $IMAGE AS Build\nRUN a\nRUN b\nFROM build\nfrom $NONE as build\n\
        FROM ${NONE:-scratch}\nCOPY --from=build / /\nFROM BUILD as last\n";
    let stages = parse(text.as_bytes()).unwrap().stages();
    let seen: Vec<_> = stages
        .iter()
        .map(|stage| {
            (stage.from, stage.body.clone(), stage.name.as_deref(), stage.base.as_str(), stage.parent)
        })
        .collect();
    assert_eq!(
        seen,
        [
            (3, 4..6, Some("build"), "nvidia/cuda:12.4-devel", None),
            (6, 7..7, None, "build", Some(0)),
            (7, 8..8, Some("build"), "$NONE", None),
            (8, 9..10, None, "scratch", None),
            (10, 11..11, Some("last"), "BUILD", Some(2)),
        ]
    );
    assert_eq!(stages[0].platform.as_deref(), Some("$BUILDPLATFORM"));
    assert_eq!(stages[1].platform, None);
}

#[test]
fn places_are_counted_in_characters() {
    let file = parse("\u{feff}FROM é\r\nRUN \"ü\"x\n".as_bytes()).unwrap();
    for (offset, expected) in [
        (0, (1, 1)),
        (3, (1, 1)),
        (8, (1, 6)),
        (9, (1, 6)),
        (10, (1, 7)),
        (12, (2, 1)),
        (20, (2, 8)),
        (21, (2, 9)),
        (999, (3, 1)),
    ] {
        assert_eq!(file.position(offset), expected, "{offset}");
    }
}
