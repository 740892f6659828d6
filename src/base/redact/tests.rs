use super::{assignment, instruction, json_fault, reference, url_user_info, value};

fn words(words: &[&str]) -> Vec<String> {
    super::words(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
}

#[test]
fn values_go_by_name() {
    assert_eq!(assignment("HF_TOKEN=hf_abc"), "HF_TOKEN=<redacted>");
    assert_eq!(assignment("PATH=/usr/bin"), "PATH=/usr/bin");
    assert_eq!(assignment("API_KEY="), "API_KEY=");
    assert_eq!(
        assignment("INDEX=https://me:pw@pypi.example/simple"),
        "INDEX=https://<redacted>@pypi.example/simple"
    );
    assert_eq!(url_user_info("see https://example.org/a@b"), "see https://example.org/a@b");
    assert_eq!(assignment("JAVA_OPTS=-Xmx1g -Dpassword=x"), "JAVA_OPTS=-Xmx1g -Dpassword=<redacted>");
    for same in [
        "NVIDIA_REQUIRE_CUDA=cuda>=12.4 brand=tesla,driver>=470",
        "LD_LIBRARY_PATH=/usr/local/keys:/usr/lib",
        "DESCRIPTION=the keys of a token, and \"quotes\"",
    ] {
        assert_eq!(assignment(same), same);
    }
    assert_eq!(value("conf", r#"{"password": "x y", "a": 1}"#), r#"{"password": "<redacted>", "a": 1}"#);
}

#[test]
fn json_faults_quote_nothing() {
    let fault = serde_json::from_str::<Vec<String>>("\n\"TOKEN=x\"").unwrap_err();
    assert_eq!(json_fault(&fault), "unexpected JSON type at line 2 column 9");
    let fault = serde_json::from_value::<Vec<String>>("TOKEN=x".into()).unwrap_err();
    assert_eq!(json_fault(&fault), "unexpected JSON type");
    let fault = serde_json::from_str::<Vec<String>>("[\"").unwrap_err();
    assert_eq!(json_fault(&fault), "unexpected end of the JSON at line 1 column 2");
    let fault = serde_json::from_str::<Vec<String>>("[HUNTER2]").unwrap_err();
    assert_eq!(json_fault(&fault), "JSON syntax error at line 1 column 2");
}

#[test]
fn commands_lose_their_secrets_only() {
    let shown = words(&["serve", "--api-key", "abc", "--token=x", "--port", "80", "http://u:p@h"]);
    assert_eq!(
        shown,
        ["serve", "--api-key", "<redacted>", "--token=<redacted>", "--port", "80", "http://<redacted>@h"]
    );
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["/bin/sh", "-c", "serve --token HUNTER2 --fast"],
            &["/bin/sh", "-c", "serve --token <redacted> --fast"],
        ),
        (&["sh", "-c", "A=1 TOKEN=HUNTER2 run"], &["sh", "-c", "A=1 TOKEN=<redacted> run"]),
        (
            &["sh", "-c", "curl -H \"X-Token: HUNTER2 HUNTER2\" h && TOKEN='HUNTER2 HUNTER2' run"],
            &["sh", "-c", "curl -H \"X-Token: <redacted>\" h && TOKEN=<redacted> run"],
        ),
        (&["--env=TOKEN=HUNTER2&HUNTER2"], &["--env=TOKEN=<redacted>"]),
        (&["TOKEN=HUNTER2 HUNTER2"], &["TOKEN=<redacted>"]),
        (&["--header", "X-Token: HUNTER2"], &["--header", "X-Token: <redacted>"]),
        (&["X-Token:", "HUNTER2"], &["X-Token:", "<redacted>"]),
        (&["--token=", "HUNTER2", "x"], &["--token=", "<redacted>", "x"]),
        (&["--token", "-HUNTER2", "x"], &["--token", "<redacted>", "x"]),
        (&["--token", "--", "HUNTER2", "x"], &["--token", "--", "<redacted>", "x"]),
        // What stands where a value may stand is hidden, and a switch hides no secret that comes after.
        (&["--key", "--fast", "x"], &["--key", "<redacted>", "x"]),
        (&["--use-key", "--token", "HUNTER2"], &["--use-key", "<redacted>", "<redacted>"]),
        (
            &["serve", "{\"password\":\"HUNTER2\",\"port\":80}"],
            &["serve", "{\"password\":\"<redacted>\",\"port\":80}"],
        ),
        (&["cp", "/keys/pub.key", "keyring", "-"], &["cp", "/keys/pub.key", "keyring", "-"]),
    ];
    for (given, wanted) in cases {
        assert_eq!(words(given), *wanted);
    }
}

#[test]
fn instructions_lose_their_secrets_only() {
    let cases = [
        ("ENV API_KEY=abc def MODE=fast", "ENV API_KEY=<redacted> MODE=fast"),
        ("/bin/sh -c #(nop)  ENV TOKEN=abc", "/bin/sh -c #(nop)  ENV TOKEN=<redacted>"),
        (
            "RUN |2 MODE=x GIT_TOKEN=a b /bin/sh -c make # buildkit",
            "RUN |2 MODE=x GIT_TOKEN=<redacted> /bin/sh -c make # buildkit",
        ),
        ("|1 GIT_TOKEN=a b /bin/sh -c make", "|1 GIT_TOKEN=<redacted> /bin/sh -c make"),
        ("RUN export A_SECRET='x y' && run --fast", "RUN export A_SECRET=<redacted> && run --fast"),
        ("RUN login --password hunter2 --user me", "RUN login --password <redacted> --user me"),
        (
            "RUN curl -H \"X-Token: abc\" https://u:p@h/x",
            "RUN curl -H \"X-Token: <redacted>\" https://<redacted>@h/x",
        ),
        // The value of build arguments and ENV goes on over paths and hashes.
        (
            "RUN |2 GIT_TOKEN=a /HUNTER2 #HUNTER2 MODE=x /bin/bash -o pipefail -c make # buildkit",
            "RUN |2 GIT_TOKEN=<redacted> MODE=x /bin/bash -o pipefail -c make # buildkit",
        ),
        ("RUN |1 A_KEY=HUNTER2 make all # buildkit", "RUN |1 A_KEY=<redacted> # buildkit"),
        ("ENV TOKEN=a /HUNTER2", "ENV TOKEN=<redacted>"),
        ("ENV TOKEN=a #HUNTER2 MODE=x", "ENV TOKEN=<redacted> MODE=x"),
        ("ENV TOKEN=don't HUNTER2 MODE=it's # buildkit", "ENV TOKEN=<redacted> MODE=it's # buildkit"),
        ("ENV TOKEN=\"a B=HUNTER2\" MODE=x", "ENV TOKEN=<redacted> MODE=x"),
        ("ENV TOKEN HUNTER2 A=HUNTER2", "ENV TOKEN <redacted>"),
        ("env token HUNTER2", "env token <redacted>"),
        ("ARG TOKEN HUNTER2", "ARG TOKEN <redacted>"),
        ("ARG TOKEN", "ARG TOKEN"),
        ("LABEL api.key HUNTER2", "LABEL api.key <redacted>"),
        ("ONBUILD ENV TOKEN HUNTER2", "ONBUILD ENV TOKEN <redacted>"),
        ("/bin/sh -c #(nop)  ENV TOKEN HUNTER2", "/bin/sh -c #(nop)  ENV TOKEN <redacted>"),
        ("ENV OPTS=-Dpassword=HUNTER2 HUNTER2 MODE=x", "ENV OPTS=-Dpassword=<redacted> MODE=x"),
    ];
    for (text, shown) in cases {
        assert_eq!(instruction(text), shown, "{text}");
    }
}

#[test]
fn secrets_are_found_wherever_they_stand() {
    let cases = [
        // Lists, as JSON has them and as docker prints them.
        (
            "CMD [\"serve\" \"--api-key\" \"HUNTER2\" \"--fast\"]",
            "CMD [\"serve\" \"--api-key\" \"<redacted>\" \"--fast\"]",
        ),
        ("ENTRYPOINT [\"a\",\"--api-key\",\"b\"]", "ENTRYPOINT [\"a\",\"--api-key\",\"<redacted>\"]"),
        (
            "/bin/sh -c #(nop)  CMD [\"sh\" \"-c\" \"serve --token HUNTER2\" \"x\"]",
            "/bin/sh -c #(nop)  CMD [\"sh\" \"-c\" \"serve --token <redacted>\" \"x\"]",
        ),
        (
            "CMD [\"--token=\" \"HUNTER2\" \"--env=TOKEN=a&HUNTER2\" \"--key\" \"--\" \"HUNTER2\" \"x\"]",
            "CMD [\"--token=\" \"<redacted>\" \"--env=TOKEN=<redacted>\" \"--key\" \"--\" \"<redacted>\" \"x\"]",
        ),
        (
            "CMD [\"sh\",\"-c\",\"A=1 TOKEN=\\\"HUNTER2 HUNTER2\\\" run\"]",
            "CMD [\"sh\",\"-c\",\"A=1 TOKEN=<redacted> run\"]",
        ),
        // Assignments, wherever they stand.
        (
            "RUN docker build --build-arg=GITHUB_TOKEN=x --env=TOKEN=x -e=TOKEN=x -eTOKEN=x .",
            "RUN docker build --build-arg=GITHUB_TOKEN=<redacted> --env=TOKEN=<redacted> \
             -e=TOKEN=<redacted> -eTOKEN=<redacted> .",
        ),
        ("RUN sh -c \"serve --token x\" && y", "RUN sh -c \"serve --token <redacted>\" && y"),
        ("RUN export A=1 TOKEN=x && y", "RUN export A=1 TOKEN=<redacted> && y"),
        ("RUN X=$(TOKEN=x cmd) y", "RUN X=$(TOKEN=<redacted> cmd) y"),
        ("RUN {TOKEN=x cmd; }", "RUN {TOKEN=<redacted> cmd; }"),
        ("RUN \"$X\"TOKEN=x y", "RUN \"$X\"TOKEN=<redacted> y"),
        ("RUN TOKEN+=x y", "RUN TOKEN+=<redacted> y"),
        ("RUN export \"TOKEN=x HUNTER2\" && y", "RUN export \"TOKEN=<redacted>\" && y"),
        ("RUN TOKEN=$(echo \"HUNTER2 )\" HUNTER2) y", "RUN TOKEN=<redacted> y"),
        ("RUN TOKEN=a\\ HUNTER2 y", "RUN TOKEN=<redacted> y"),
        ("RUN TOKEN=a\"b HUNTER2\"c y", "RUN TOKEN=<redacted> y"),
        ("RUN echo don't; TOKEN='a HUNTER2' y", "RUN echo don't; TOKEN=<redacted> y"),
        (
            "RUN x ${TOKEN:-HUNTER2} ${TOKEN} $KEY_DIR:/bin",
            "RUN x ${TOKEN:-<redacted>} ${TOKEN} $KEY_DIR:/bin",
        ),
        ("RUN echo 'aws_secret_key = HUNTER2' > c", "RUN echo 'aws_secret_key = <redacted>' > c"),
        ("RUN cat <<E\npassword: a HUNTER2\nx: y\nE", "RUN cat <<E\npassword: <redacted>\nx: y\nE"),
        ("RUN serve --token \\\n  HUNTER2 --fast", "RUN serve --token \\\n  <redacted> --fast"),
        ("RUN serve --key && run", "RUN serve --key && run"),
        (
            "RUN npm config set //r.example/:_authToken HUNTER2; aws configure set aws_secret HUNTER2 -v",
            "RUN npm config set //r.example/:_authToken <redacted>; aws configure set aws_secret <redacted> -v",
        ),
        (
            "RUN printf \"machine h\\nlogin u\\npassword HUNTER2\\n\" > .netrc",
            "RUN printf \"machine h\\nlogin u\\npassword <redacted>\" > .netrc",
        ),
        ("RUN x --token \"$(cat \"a HUNTER2\")\" y", "RUN x --token <redacted> y"),
        ("RUN gh auth --with-token < f", "RUN gh auth --with-token < f"),
        ("RUN curl h/?token=x&b=c", "RUN curl h/?token=<redacted>&b=c"),
        (
            "RUN echo '{\"password\":\"x\", \"b\": \"c\", \"my key\" : [\"HUNTER2\"]}' > f",
            "RUN echo '{\"password\":\"<redacted>\", \"b\": \"c\", \"my key\" : <redacted>}' > f",
        ),
        (
            "RUN echo {\"password\":\"x\",\"b\":\"c\"} \"{\\\"token\\\":\\\"HUNTER2\\\"}\" z",
            "RUN echo {\"password\":\"<redacted>\",\"b\":\"c\"} \"{\\\"token\\\":\\\"<redacted>\\\"}\" z",
        ),
        (
            "RUN npm set //registry.example/:_authToken=x y",
            "RUN npm set //registry.example/:_authToken=<redacted> y",
        ),
        ("ENV GPG_KEY=ABC", "ENV GPG_KEY=<redacted>"),
        ("RUN x --tökey=HUNTER2ö ü", "RUN x --tökey=<redacted> ü"),
    ];
    for (text, shown) in cases {
        assert_eq!(instruction(text), shown, "{text}");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    for text in [
        "RUN apt-get install -y cuda-keyring",
        "RUN apt-get install -y libsecret-1-0:amd64 curl",
        "COPY keys/pub.key /etc/apt/keyrings/",
        "COPY --from=quay.io/keycloak/keycloak:21 /opt /opt # buildkit",
        "RUN --mount=type=secret,id=x --mount=type=bind,source=a.key,target=/k make",
        "RUN wget -qO- https://host/key.pub | apt-key add -",
        "RUN echo \"deb [arch=amd64 signed-by=/usr/share/keyrings/x.gpg] https://h/ubuntu jammy main\" > x",
        "RUN dpkg -i cuda-keyring_1.1-1_all.deb && rm -rf /var/lib/apt/lists/*",
        "ENV PATH=/opt/keys/bin:/usr/bin",
        "ENV TOKEN=",
        "RUN TOKEN= make; test -n \"$TOKEN\" && echo '{\"password\":\"\",\"a\":\"b\"}'",
        "CMD [\"python\" \"tokenizer.py\" \"--fast\"]",
    ] {
        assert_eq!(instruction(text), text);
    }
}

#[test]
fn user_info_goes_and_paths_stay() {
    for (text, shown) in [
        ("postgres://u:p/HUNTER2@h/db", "postgres://<redacted>@h/db"),
        ("postgres://u:p#HUNTER2@h/db \"x\"", "postgres://<redacted>@h/db \"x\""),
        ("postgres://u:p@HUNTER2/x@h.example/db", "postgres://<redacted>@h.example/db"),
        ("https://u:p@h.example/img@sha256:abc", "https://<redacted>@h.example/img@sha256:abc"),
        ("a=https://u:p@h,https://v:q@i", "a=https://<redacted>@h,https://<redacted>@i"),
        ("https://u:p<x@h 'http://t@h/x'", "https://<redacted>@h 'http://<redacted>@h/x'"),
        ("https://<redacted>@h:80/a@b", "https://<redacted>@h:80/a@b"),
    ] {
        assert_eq!(url_user_info(text), shown, "{text}");
    }
    for same in ["https://h:8080/a@b", "http://[::1]:80/a@b", "https://example.org/a:b@c", "x://", "a@b"] {
        assert_eq!(url_user_info(same), same);
    }
}

/// Every value is skipped once: were the rest of the text looked at for each, these would take hours.
#[test]
fn the_work_grows_with_the_length_only() {
    for part in [
        "A_KEY=b ",
        "A_KEY=' ",
        "A_KEY=\" ",
        "--key ",
        "\"--key\" ",
        "[\"",
        "key: ",
        "{\"key\":",
        "a://",
        "u:p@a:b/",
        "${KEY:-",
        "KEY=$(",
        "KEY=\"$(\"",
        "set key ",
        "\\\"",
        "key\\",
        "https://a:b/c@",
        "KEY    ",
        "-- ",
        "KEY=\\\"",
        "'\"",
    ] {
        for head in ["", "ENV ", "RUN |1 ", "ENV KEY ", "RUN --key "] {
            let text = format!("{head}{}", part.repeat((1 << 17) / part.len()));
            assert!(instruction(&text).len() <= 3 * text.len());
            let _shown = reference(&text, |_| None);
        }
    }
}

/// Cutting a text anywhere makes no panic, and hiding twice hides no more.
#[test]
fn odd_pieces_do_no_harm() {
    let text = "RUN |1 ö_KEY=ä \\\"ü\\\" [\"--kéy\\\n\" 'é']: ${KEYö:-x} https://ö:ü/é@h {\"kéy\" : [1]} --token= \\";
    let starts: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
    for &start in &starts {
        for &end in starts.iter().filter(|end| **end >= start) {
            let once = instruction(&text[start..end]);
            let _words = words(&[&text[start..end], &once]);
            let _reference = reference(&text[start..end], |_| None);
        }
    }
}
