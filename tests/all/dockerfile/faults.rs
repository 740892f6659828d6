//! What no Dockerfile is, with the place of the fault.

use cutaway::formats::dockerfile::parse;

/// A text, and the line, the column and the words of its fault.
const FAULTS: &[(&str, u32, u32, &str)] = &[
    ("", 1, 1, "no instructions"),
    ("\u{feff}", 1, 1, "no instructions"),
    ("# only\n\n  # comments\n", 1, 1, "no instructions"),
    ("ARG A=1\n", 1, 1, "no FROM"),
    ("ARG A\n\nRUN a\nFROM b\n", 3, 1, "RUN before the first FROM"),
    ("# a\n  COPY a b\n", 2, 3, "COPY before"),
    ("FROM a\nRUM b\n", 2, 1, "unknown instruction \"RUM\""),
    ("FROM a\n\tFRÖM b\n", 2, 2, "unknown instruction"),
    ("\u{feff}FORM a\n", 1, 1, "unknown instruction \"FORM\""),
    ("FROM a\n\\\n# x\n  RUN\u{a0}b\n", 4, 3, "unknown instruction"),
    ("FROM a\nx\u{1}\u{202e}y\n", 2, 1, "\"x\\x01\\xe2\\x80\\xaey\""),
    ("FROM a\nRUN b\n  && c\n", 3, 3, "unknown instruction \"&&\""),
    ("FROM a\n\\\n", 2, 1, "missing instruction"),
    ("FROM a\nRUN a \\\\\nb\n", 3, 1, "unknown instruction \"b\""),
    ("FROM\n", 1, 1, "FROM needs an argument"),
    ("FROM a b\n", 1, 8, "FROM takes"),
    ("FROM a AS\n", 1, 8, "FROM takes"),
    ("FROM a AS b c\n", 1, 8, "FROM takes"),
    ("FROM a as 1b\n", 1, 11, "\"1b\" is not a stage name"),
    ("FROM a as \\\n b/c\n", 2, 2, "\"b/c\" is not a stage name"),
    ("FROM a\nENV\n", 2, 1, "ENV needs an argument"),
    ("FROM a\nENV A\n", 2, 5, "ENV needs a name and a value"),
    ("FROM a\nENV A=1 é B=2\n", 2, 9, "\"é\" is not NAME=VALUE"),
    ("FROM a\nENV \"é\"=1 \\\n  =2\n", 3, 3, "no name before"),
    ("FROM a\nLABEL a=b c\n", 2, 11, "\"c\" is not NAME=VALUE"),
    ("FROM a\nARG =1\n", 2, 5, "no name before"),
    ("FROM a\nCOPY a\n", 2, 1, "COPY needs a source and a destination"),
    ("FROM a\nADD [\"a\"]\n", 2, 1, "ADD needs a source and a destination"),
    ("FROM a\nCOPY --from=b\n", 2, 1, "COPY needs"),
    ("FROM a\nSHELL bash -c\n", 2, 1, "SHELL needs an array"),
    ("FROM a\nSHELL []\n", 2, 1, "SHELL needs an array"),
    ("FROM a\nRUN [\"a\", 1]\n", 2, 5, "strings only"),
    ("FROM a\nCMD [[\"a\"]]\n", 2, 5, "strings only"),
    ("FROM a\nHEALTHCHECK CMD [null]\n", 2, 17, "strings only"),
    ("FROM a\nHEALTHCHECK\n", 2, 1, "HEALTHCHECK needs an argument"),
    ("FROM a\nHEALTHCHECK curl\n", 2, 1, "needs CMD or NONE"),
    ("FROM a\nHEALTHCHECK NONE a\n", 2, 1, "NONE has no arguments"),
    ("FROM a\nHEALTHCHECK --interval=1s CMD\n", 2, 1, "CMD needs a command"),
    ("FROM a\nONBUILD\n", 2, 1, "ONBUILD needs an argument"),
    ("FROM a\nONBUILD ONBUILD RUN b\n", 2, 9, "cannot be followed by ONBUILD"),
    ("FROM a\nONBUILD FROM b\n", 2, 9, "cannot be followed by FROM"),
    ("FROM a\nONBUILD maintainer b\n", 2, 9, "cannot be followed by MAINTAINER"),
    ("FROM a\nONBUILD \\\n echo b\n", 3, 2, "unknown instruction \"echo\""),
    ("FROM a\nONBUILD --x RUN b\n", 2, 9, "ONBUILD takes no flags"),
    ("FROM a\nONBUILD COPY b\n", 2, 1, "COPY needs a source"),
    ("FROM a\nRUN <<EOF\necho\n", 2, 5, "unterminated heredoc \"EOF\""),
    ("FROM a\nRUN <<EOF\n EOF\nEOF2\n\tEOF", 2, 5, "unterminated"),
    ("FROM a\nCOPY <<A <<B /\nB\nA\n", 2, 10, "unterminated heredoc \"B\""),
    ("FROM a\nRUN echo $((1 << 3))\n", 2, 15, "unterminated heredoc \"3))\""),
    ("FROM a\nONBUILD RUN \\\n <<X", 3, 2, "unterminated heredoc \"X\""),
    ("# escape=x\nFROM a\n", 1, 10, "escape character must be \\ or `, not \"x\""),
    ("#escape = `` \r\nFROM a\n", 1, 11, "escape character"),
    ("# syntax=a\n# SYNTAX=b\nFROM a\n", 2, 1, "duplicate parser directive syntax"),
    ("# escape=`\n  #escape=`\nFROM a\n", 2, 3, "duplicate parser directive escape"),
    ("# escape=`\nFROM a\nRUN b \\\n  c\n", 4, 3, "unknown instruction \"c\""),
    ("FROM a\rRUN b\n", 1, 8, "FROM takes"),
];

#[test]
fn faults_have_their_place() {
    for (text, line, column, what) in FAULTS {
        let fault = parse(text.as_bytes()).expect_err(text);
        assert_eq!((fault.line, fault.column), (*line, *column), "{text:?}: {fault}");
        assert!(fault.what.contains(what), "{text:?}: {fault}");
        assert_eq!(fault.to_string(), format!("line {line}, column {column}: {}", fault.what));
    }
}

#[test]
fn bytes_that_are_no_text_have_their_place() {
    for (bytes, line, column, what) in [
        (&b"\xff"[..], 1, 1, "0xff"),
        (b"FROM a\nRUN \xc3\xa9\xe9\n", 2, 6, "0xe9"),
        (b"\xef\xbb\xbfFROM \xc3", 1, 6, "0xc3"),
        (b"FROM a\n\xf0\x9f\x98", 2, 1, "0xf0"),
        (b"F\0R\0O\0M\0", 1, 1, "unknown instruction"),
        (b"\xff\xfeF\0R\0", 1, 1, "0xff is not UTF-8"),
    ] {
        let fault = parse(bytes).unwrap_err();
        assert_eq!((fault.line, fault.column), (line, column), "{fault}");
        assert!(fault.what.contains(what), "{fault}");
    }
}

#[test]
fn what_a_fault_quotes_is_short() {
    let fault = parse(format!("FROM a\n{}\n", "x".repeat(1 << 20)).as_bytes()).unwrap_err();
    assert!(fault.what.len() < 100 && fault.what.ends_with("…\""), "{fault}");
}
