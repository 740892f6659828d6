use super::super::parse;
use super::{Joiner, ShellCommand, commands};

fn of(run: &str) -> (String, Vec<ShellCommand>) {
    let text = format!("FROM a\n{run}\n");
    let file = parse(text.as_bytes()).unwrap();
    let list = commands(&file, 1);
    (text, list)
}

/// Commands as `joiner plain words`, one line each.
fn seen(run: &str) -> Vec<String> {
    let line = |command: &ShellCommand| {
        let joiner = match command.joiner {
            Joiner::First => "",
            Joiner::And => "&& ",
            Joiner::Or => "|| ",
            Joiner::Sequence => "; ",
            Joiner::Pipe => "| ",
        };
        let words: Vec<_> = command.words.iter().map(|word| word.text.as_str()).collect();
        let plain = if command.plain { "" } else { "? " };
        let writes = command.writes.iter().flat_map(|file| [" > ", file.as_str()]).collect::<String>();
        format!("{joiner}{plain}{}{writes}", words.join("|"))
    };
    of(run).1.iter().map(line).collect()
}

#[test]
fn lists_of_commands_are_parted() {
    for (run, expected) in [
        (
            "RUN apt-get update && apt-get install -y a b",
            &["apt-get|update", "&& apt-get|install|-y|a|b"][..],
        ),
        ("RUN set -e; a || true; b & c | d |& e", &["set|-e", "; a", "|| true", "; b", "; c", "| d", "| e"]),
        ("RUN a;", &["a"]),
        ("RUN A=1 B='x y' cmd \"q $V\" e\\ f 'l'\"m\"n", &["A=1|B=x y|cmd|q $V|e f|lmn"]),
        ("RUN a # b && c", &["a"]),
        ("RUN a#b && c \\#d", &["a#b", "&& c|#d"]),
        ("RUN # nothing", &[]),
        ("RUN", &[]),
        ("RUN a > f 2>&1 < g 2>> \"h i\" >&2 b", &["a|b > f > h i"]),
        ("RUN a &> f && b >| g <<< \"x y\" && c >&log 3<>k", &["a > f", "&& b > g", "&& c > log"]),
        ("RUN > f", &["?  > f"]),
        ("RUN > f a", &["a > f"]),
        ("RUN echo 2>f 2 >g a2>h", &["echo|2|a2 > f > g > h"]),
        (
            "RUN make -j$(nproc) \"$(echo \"a)b\")\" `x \"y` ${A:-\"}\"} $((1 < 2))",
            &["make|-j$(nproc)|$(echo \"a)b\")|`x \"y`|${A:-\"}\"}|$((1 < 2))", "? nproc", "? echo|a)b"],
        ),
        (
            "RUN a \"$(b $(c $(d)) && e)\" && f",
            &["a|$(b $(c $(d)) && e)", "? b|$(c $(d))", "? c|$(d)", "? d", "&& ? e", "&& f"],
        ),
        ("RUN a $'x\\n' && b", &["? a|$'x\\n'", "&& b"]),
        ("RUN a $'x\\'y' && b", &["? a"]),
        ("RUN a <(b) && c", &["? a|<(b)", "? b", "&& c"]),
        ("RUN echo $ \"$\" a$", &["echo|$|$|a$"]),
        ("RUN echo \"a\\b\\$c\\\"\" '\\'", &["echo|a\\b$c\"|\\"]),
        ("RUN echo if then fi { } [[ ! case", &["echo|if|then|fi|{|}|[[|!|case"]),
        ("RUN {fd}>f", &["? {fd} > f"]),
        ("RUN --mount=type=cache,target=/x --network=none a && b", &["a", "&& b"]),
    ] {
        assert_eq!(seen(run), expected, "{run}");
    }
}

#[test]
fn compound_commands_are_not_plain_but_what_follows_is() {
    for (run, expected) in [
        ("RUN (a && b) && c", &["? a", "&& ? b", "&& c"][..]),
        ("RUN { a; b; } > f 2>&1 && c", &["? a", "; ? b", "&& c"]),
        (
            "RUN if a; then b; elif c; then d; else e; fi && f",
            &["? a", "; ? b", "; ? c", "; ? d", "; ? e", "&& f"],
        ),
        ("RUN for x in 1 \"$(y)\"; do a $x; done; b", &["? y", "? a|$x", "; b"]),
        ("RUN for x do a; done", &["? a"]),
        ("RUN while a | b; do c; done < f && d", &["? a", "| ? b", "; ? c", "&& d"]),
        ("RUN case $x in a|b) c;; (*) d ;; esac; e", &["? c", "; ? d", "; e"]),
        ("RUN case x in a) b; esac", &["? b"]),
        ("RUN f() { a; } && b && f", &["? a", "&& b", "&& f"]),
        ("RUN function f { a; }; function g() { b; }; c", &["? a", "; ? b", "; c"]),
        ("RUN ! a && b", &["? a", "&& b"]),
        ("RUN [[ a < b && ( c || d ) ]] && e", &["? [[|a|b|c|d|]]", "&& e"]),
        ("RUN [ -f x ] || a", &["[|-f|x|]", "|| a"]),
        ("RUN if (a) then b; fi", &["? a", "? b"]),
    ] {
        assert_eq!(seen(run), expected, "{run}");
    }
}

#[test]
fn what_is_not_understood_is_never_plain() {
    for run in [
        "RUN a && ( b",
        "RUN a && b )",
        "RUN a 'b",
        "RUN a \"b",
        "RUN a $(b",
        "RUN a `b",
        "RUN a ${b",
        "RUN a &&",
        "RUN && a",
        "RUN a && && b",
        "RUN a ;; b",
        "RUN a | | b",
        "RUN if a; then b",
        "RUN a; fi",
        "RUN a; done; b",
        "RUN { a; }  b",
        "RUN x=(1 2) && a",
        "RUN x=() && a",
        "RUN a >",
        "RUN a > && b",
        "RUN a && f() b",
        "RUN for ((i=0;i<3;i++)); do a; done; b",
        "RUN a && $(case x in a) b;; esac)",
        "RUN a && [[ b",
        "RUN case x y in a) b;; esac && a",
        "RUN a; for; do b; done",
        "RUN cat<<EOF && a",
        "RUN echo a\u{1}b",
        "RUN a $'b",
        "RUN a $\"b\"",
        "RUN a && b \"${c:-'}\"",
        "RUN a \"$(b <<c)\"",
        "RUN a && in b",
        "RUN a | ! b",
        "RUN a $$(b)",
        "RUN a && case x in (@(b|c) d;; esac",
        "RUN a && case x in b c) d;; esac",
        "RUN a && case x in ) d;; esac",
        "RUN a && b $(do c)",
        "RUN a $(b $(c $(d $(e $(f)))))",
        "RUN time { a; }; b",
        "RUN a $[ 1 + 2 ]",
    ] {
        let list = of(run).1;
        assert!(list.iter().all(|command| !command.plain), "{run}: {list:?}");
    }
}

#[test]
fn places_reach_over_continuation_lines() {
    let (text, list) = of(
        "RUN apt-get install -y \\\n    # why\n    foo=1.0\\\n-2 \\\n\n  'b'ar > log && \\\r\n  rm -rf /x",
    );
    let words: Vec<_> =
        list[0].words.iter().map(|word| (&text[word.span.clone()], word.text.as_str())).collect();
    assert_eq!(words[2..], [("-y", "-y"), ("foo=1.0\\\n-2", "foo=1.0-2"), ("'b'ar", "bar")]);
    assert!(
        text[list[0].span.clone()].starts_with("apt-get install")
            && text[list[0].span.clone()].ends_with("> log")
    );
    assert_eq!(&text[list[0].before.clone()], "");
    assert_eq!(&text[list[1].before.clone()], " && \\\r\n  ");
    assert_eq!(&text[list[1].span.clone()], "rm -rf /x");
    assert!(list.iter().all(|command| command.plain));
}

#[test]
fn heredocs_are_read_when_a_shell_reads_them() {
    for (run, expected) in [
        (
            "RUN <<EOF\n# no\nset -e\n\napt-get install \\\n  a b # c\nfoo &&\n  bar\nEOF",
            &["set|-e", "; apt-get|install|a|b", "; foo", "&& bar"][..],
        ),
        ("RUN <<-'E F'\n\ta\n\tcat <<X > f\n\ta && (\n\tX\n\tb\n\tE F", &["a", "; cat > f", "; b"]),
        ("RUN << EOF\na\nEOF", &["a"]),
        ("RUN <<EOF\ncat <<A <<'B'\nx\nA\n$(\nB\nc\nEOF", &["cat", "; c"]),
        (
            "RUN <<EOF\nif a\nthen\n  b\nfi\nf()\n{\n c\n}\ncase x in\n a)\n  d\n  ;;\nesac\ne\nEOF",
            &["? a", "; ? b", "; ? c", "; ? d", "; e"],
        ),
        ("RUN <<EOF\na\ncat <<X\nEOF", &["? a", "; ? cat"]),
        ("RUN <<EOF\na\r\nb\nEOF", &["? a\r", "; b"]),
        ("RUN <<EOF\n#!/usr/bin/env -S python3\na\nEOF", &[]),
        ("RUN <<EOF\n#!/bin/bash -e\na\nEOF", &["a"]),
        ("RUN <<EOF\n#!/usr/bin/env bash\na\nEOF", &["a"]),
        ("RUN a && cat <<EOF > f && b\nc && (\nEOF", &["a", "&& cat > f", "&& b"]),
        ("RUN a; bash -e <<EOF && b\nc && d\nEOF", &["a", "; bash|-e", "&& b", "? c", "&& ? d"]),
        ("RUN bash a.sh <<EOF\nc && d\nEOF", &["bash|a.sh"]),
        ("RUN python3 <<EOF\nprint(1)\nEOF", &["python3"]),
        ("RUN <<A cat <<B\nA\nB", &["cat"]),
        ("RUN <<A <<B\nx\nA\ny\nB", &["? "]),
    ] {
        assert_eq!(seen(run), expected, "{run}");
    }
}

#[test]
fn the_exec_form_is_one_command_or_the_text_of_a_shell() {
    for (run, expected) in [
        ("RUN [\"apt-get\", \"install\", \"a b\"]", &["? apt-get|install|a b"][..]),
        ("RUN []", &[]),
        ("RUN [\"/bin/sh\", \"-c\", \"a \\\"b c\\\" && d\\n(e)\"]", &["? a|b c", "&& ? d", "; ? e"]),
        ("RUN [\"bash\", \"-o\", \"pipefail\", \"-lc\", \"a | b\"]", &["? a", "| ? b"]),
        ("RUN [\"bash\", \"--login\", \"-c\", \"a\", \"x\"]", &["? a"]),
        ("RUN [\"bash\", \"-c\", \"-e\", \"a\"]", &["? bash|-c|-e|a"]),
        ("RUN [\"bash\", \"a\", \"-c\", \"b\"]", &["? bash|a|-c|b"]),
        ("RUN [\"python\", \"-c\", \"a; b\"]", &["? python|-c|a; b"]),
        ("RUN sh -c \"a && b\"", &["sh|-c|a && b"]),
    ] {
        assert_eq!(seen(run), expected, "{run}");
    }
    let (text, list) = of("RUN [\"sh\", \"-c\", \"\\u0061b \\\"\\ud83d\\ude00\\\" \\\n && é\"]");
    let words: Vec<_> =
        list.iter().flat_map(|command| &command.words).map(|word| &text[word.span.clone()]).collect();
    assert_eq!(words, ["\\u0061b", "\\\"\\ud83d\\ude00\\\"", "é"]);
    assert_eq!(list[0].words[1].text, "😀");
    assert_eq!(&text[list[1].before.clone()], " \\\n && ");
}

#[test]
fn other_shells_are_left_alone() {
    let file = parse(
        b"FROM a AS x\nRUN a\nSHELL [\"powershell\", \"-c\"]\nRUN b\nONBUILD RUN c\nFROM x\nRUN d\nSHELL [\"/bin/bash\", \"-c\"]\nRUN e\nCMD f\nFROM mcr.microsoft.com/windows/nanoserver\nRUN g\n",
    )
    .unwrap();
    let plain: Vec<Vec<bool>> =
        (0..12).map(|number| commands(&file, number).iter().map(|command| command.plain).collect()).collect();
    let none = Vec::new;
    assert_eq!(
        plain,
        [
            none(),
            vec![true],
            none(),
            none(),
            none(),
            none(),
            none(),
            none(),
            vec![true],
            none(),
            none(),
            vec![false]
        ]
    );
    let file = parse(b"# escape=`\nFROM a\nRUN a `\n && b\n").unwrap();
    assert_eq!(commands(&file, 1).iter().map(|command| command.plain).collect::<Vec<_>>(), [false, false]);
}

#[test]
fn hostile_texts_take_one_pass() {
    for part in [
        "(",
        "$(",
        "${x:-",
        "\"$(",
        "`",
        "$((",
        "{ ",
        "if ",
        "a;",
        "<<A ",
        "$(<",
        "'",
        "((<",
        "case x in ",
        "\\",
        "#",
        "[[",
    ] {
        for start in ["RUN ", "RUN <<E\n"] {
            let text = format!("FROM a\n{start}{}\nE\nE\n", part.repeat(30_000));
            if let Ok(file) = parse(text.as_bytes()) {
                let list = commands(&file, 1);
                assert!(list.iter().all(|command| !command.plain) || list.len() < 3, "{part}");
            }
        }
    }
}
