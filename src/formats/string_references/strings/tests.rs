use super::{Language, Strings};

/// The strings of a source, `None` if they are not certain.
fn strings(text: &str, language: Language) -> Option<Vec<&str>> {
    let found = Strings::of(text.as_bytes(), language)?;
    Some(found.strings.iter().map(|range| &text[range.clone()]).collect())
}

fn js(text: &str) -> Option<Vec<&str>> {
    strings(text, Language::JavaScript)
}

fn py(text: &str) -> Option<Vec<&str>> {
    strings(text, Language::Python)
}

#[test]
fn strings_of_java_script() {
    assert_eq!(js("exec('a', \"b\\\"c\") // 'd'\n/* 'e' */ x"), Some(vec!["a", "b\\\"c"]));
    assert_eq!(js("`a ${b + 'c' + `d${{e: 'f'}}`} g`"), Some(vec!["a ", "c", "d", "f", "", " g"]));
    assert_eq!(js("x = a / 'b' / c"), Some(vec!["b"]));
    assert_eq!(js("x = /['\"]/g; y = 'z'"), Some(vec!["z"]));
    assert_eq!(js("return /[/'\"]/.test('a')"), Some(vec!["a"]));
    assert_eq!(js("a.return / 'b' / 2"), Some(vec!["b"]));
    assert_eq!(js("i++ / 'a' / 2"), Some(vec!["a"]));
    assert_eq!(js("#!/usr/bin/env node don't\n'a'"), Some(vec!["a"]));
    assert_eq!(js("'a\\\nb'"), Some(vec!["a\\\nb"]));
    assert_eq!(js("a = 1./3, b = 'c', d = e/2"), Some(vec!["c"]));
    assert_eq!(js("a = [.../[']/.exec(b)], 'c'"), Some(vec!["c"]));
    assert_eq!(js("a = x!/2, b = 'c', d = e! / 2; f = g!=/'/"), Some(vec!["c"]));
    assert_eq!(js("f(a) / 2 + b / 3; 'c'"), Some(vec!["c"]));
    assert_eq!(js("f(a) / b[1]; 'c'"), Some(vec!["c"]));
    assert_eq!(js("f(a)\n!/\\//.test(p) && exec('gcc')"), Some(vec!["gcc"]));
    assert_eq!(js("f(a)\n\t!/\\//.test(p) && exec('gcc')"), Some(vec!["gcc"]));
}

#[test]
fn uncertain_strings_of_java_script_are_none() {
    for text in [
        // JSX, a damaged text, a text cut in the middle.
        "<p>Don't</p>\n",
        "'a",
        "`a",
        "f(",
        "f)",
        "(]",
        "/* a",
        "x = /a",
        // An element of JSX in one line, with a pair of apostrophes.
        "const v = () => <p>It's {exec('gcc')} and that's all</p>",
        // A pattern with an escaped slash after a closing bracket: the rest would be a comment.
        "if (cc) /\\//.test(cc) || exec('gcc')",
        "function f() {}\n/^\\//.test(p) && exec('gcc')",
        // A pattern or two divisions.
        "if (a) /'/.test(b); 'c'",
        "{} /\"/.test(b); 'c'",
    ] {
        assert_eq!(js(text), None, "{text}");
    }
    assert_eq!(js(&"(".repeat(5_000)), None);
    assert_eq!(js(&"''".repeat(2_000_000)), None);
}

#[test]
fn strings_of_python() {
    assert_eq!(py("run(['gcc', \"a\"])  # don't\nr'\\'x'"), Some(vec!["gcc", "a", "\\'x"]));
    assert_eq!(py("x = '''a\n'b' \\''' c'''\n"), Some(vec!["a\n'b' \\''' c"]));
    assert_eq!(py("x = ''\ny = ''''''\n"), Some(vec!["", ""]));
    // Quotes in an expression of an f-string end it, in Python before 3.12.
    assert_eq!(py("f\"{run(['ld'])} {{}}\""), Some(vec!["{run(['ld'])} {{}}"]));
    assert_eq!(py("f\"{run([\"ld\", \"-o\"])}\"\n"), None);
    assert_eq!(py("\u{feff}x = 'a'\r\ny = 'b'\r\n"), Some(vec!["a", "b"]));
    for text in ["x = 'a\\", "x = '''a\\", "x = 'a\n'", "f(", ")", "'''a"] {
        assert_eq!(py(text), None, "{text}");
    }
}

#[test]
fn strings_that_are_statements_are_documentation() {
    let text = "'''Module'''\ndef f():\n    r\"\"\"Runs gcc.\n\n    More.\n    \"\"\"\n    run(\n        '''make'''\n    )\n    x = \\\n    '''cc'''\n    'a'.join(b)\n";
    let found = Strings::of(text.as_bytes(), Language::Python).unwrap();
    let documentation: Vec<&str> = found.documentation.iter().map(|range| &text[range.clone()]).collect();
    assert_eq!(documentation, ["'''Module'''", "\"\"\"Runs gcc.\n\n    More.\n    \"\"\""]);
    assert!(found.is_documentation(text.find("gcc").unwrap()));
    assert!(
        !found.is_documentation(text.find("make").unwrap()) && found.contains(text.find("make").unwrap())
    );
}
