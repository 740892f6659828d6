use super::*;

/// Cleans up with paths that existed before, and other paths in the changing layer.
#[track_caller]
fn becomes_with(text: &str, files: &[File], before: &[&str], beside: &[&str], after: &str) -> Tidied {
    let tidied = tidied_with(text, &Told { files, before, beside });
    assert_eq!(tidied.text, after);
    tidied
}

#[test]
fn owners_are_given_by_the_copy() {
    let tidied = becomes(
        "FROM a\nRUN useradd app\nCOPY models /models\nRUN chown -R app:app /models\nCMD b\n",
        &[file(1, "/models/x", 500).again_in(2)],
        "FROM a\nRUN useradd app\nCOPY --chown=app:app models /models\nCMD b\n",
    );
    assert_eq!(told(&tidied.reasons), [(Some(500), Applicability::Review), (None, Applicability::Review)]);
    assert_eq!(tidied.gone, ["/models/x"]);
    // Two copies into one folder, relative paths, lower case, a user without group.
    becomes(
        "from a\nworkdir /app\ncopy b .\ncopy --from=c / ./\nrun chown -R 1000 . && d\n",
        &[file(0, "/app/b", 5).again_in(2), file(1, "/app/c", 6).again_in(2)],
        "from a\nworkdir /app\ncopy --chown=1000:0 b .\ncopy --from=c --chown=1000:0 / ./\nrun d\n",
    );
}

#[test]
fn a_folder_that_was_there_before_keeps_its_command() {
    becomes_with(
        "FROM a\nWORKDIR /app\nCOPY . .\nRUN chown -R app:app /app\n",
        &[file(0, "/app/b", 5).again_in(1)],
        &["/app"],
        &[],
        "FROM a\nWORKDIR /app\nCOPY --chown=app:app . .\nRUN chown app:app /app\n",
    );
    becomes(
        "FROM a\nCOPY b /app/b\nRUN x && chown -R app:app /app && y\n",
        &[file(0, "/app/b/c", 5).again_in(1)],
        "FROM a\nCOPY --chown=app:app b /app/b\nRUN x && chown app:app /app && y\n",
    );
}

#[test]
fn modes_are_given_by_the_copy() {
    let script = [file(0, "/run.sh", 5).again_in(1)];
    for (copy, run, after) in [
        ("COPY run.sh /run.sh", "RUN chmod +x /run.sh", "COPY --chmod=755 run.sh /run.sh\n"),
        ("COPY run.sh /", "RUN chmod 0700 /run.sh", "COPY --chmod=0700 run.sh /\n"),
        (
            "COPY run.sh /run.sh",
            "RUN chmod +x /run.sh && chown app:app /run.sh && b",
            "COPY --chmod=755 --chown=app:app run.sh /run.sh\nRUN b\n",
        ),
        (
            "COPY run.sh /run.sh",
            "RUN b && chmod +x /run.sh && chown app:app /run.sh",
            "COPY --chmod=755 --chown=app:app run.sh /run.sh\nRUN b\n",
        ),
        (
            "COPY run.sh /run.sh",
            "RUN chmod +x /run.sh && chown app:app /run.sh",
            "COPY --chmod=755 --chown=app:app run.sh /run.sh\n",
        ),
    ] {
        becomes(&format!("FROM a\n{copy}\n{run}\n"), &script, &format!("FROM a\n{after}"));
    }
}

#[test]
fn owners_stay_where_the_copy_cannot_give_them() {
    for (copy, between, run) in [
        ("COPY b /app", "", "RUN useradd app && chown -R app:app /app"),
        ("COPY b /app", "USER c\nUSER root\n", "RUN ./make_users.sh && chown -R app:app /app"),
        ("COPY --chown=x b /app", "", "RUN chown -R app:app /app"),
        ("ADD b.tar.gz /app", "", "RUN chown -R app:app /app"),
        ("ADD https://x/b /app", "", "RUN chown -R app:app /app"),
        ("RUN make-it", "USER c\n", "RUN chown -R app:app /app"),
        ("COPY b /app", "", "RUN chown -R app:app /app /data"),
        ("COPY b /app", "", "RUN chown -R app: /app"),
        ("COPY b /app", "", "RUN chown -R \"$U:$U\" /app"),
        ("COPY b /app", "", "RUN chown -R app:app /*"),
        ("COPY b /app", "", "RUN chown -R app:app /"),
        ("COPY b /app", "", "RUN chown --from=x -R app:app /app"),
        ("COPY b /app", "", "RUN true || chown -R app:app /app"),
        ("COPY b /app", "", "RUN x; chown -R app:app /app"),
        ("COPY b /app", "", "RUN chmod -R u+rwX /app"),
        ("COPY b .", "", "RUN chown -R app:app /app"),
        ("COPY b c /app/", "", "RUN chown app:app /app/x"),
    ] {
        let text = format!("FROM a\n{copy}\n{between}{run}\n");
        let tidied = stays(&text, &[file(0, "/app/x", 2 << 20).again_in(1)]);
        assert_eq!(tidied.hints.len(), 1, "{text}");
        assert!(tidied.hints[0].reason.contains("copies files"), "{}", tidied.hints[0].reason);
    }
    // The command changes more than the COPY added.
    let text = "FROM a\nCOPY b /app\nRUN chown -R app:app /app\n";
    becomes_with(text, &[file(0, "/app/x", 5).again_in(1)], &[], &["/app/other"], text);
    // The user does not exist when the COPY runs.
    stays(
        "FROM a\nCOPY b /app\nRUN useradd app\nRUN chown -R app:app /app\n",
        &[file(0, "/app/x", 5).again_in(2)],
    );
}

#[test]
fn what_a_whole_context_brings_is_a_hint() {
    let files = [
        file(0, "/app/.git/objects/pack/x", 100),
        file(0, "/app/lib/.git/x", 10),
        file(0, "/app/src/a.o", 20),
        file(0, "/app/src/b.o", 20),
        file(0, "/app/kernels/build/CMakeFiles/x.o", 30),
        file(0, "/app/.cache/pip/x", 5),
    ];
    let tidied = stays("FROM a\nWORKDIR /app\nCOPY --chown=b . .\n", &files);
    assert_eq!(tidied.hints.len(), 1);
    let hint = &tidied.hints[0];
    assert_eq!((hint.file.as_str(), hint.bytes), (".dockerignore", Some(185)));
    assert_eq!(hint.lines, ["**/*.o", "**/.cache", "**/.git", "**/CMakeFiles", ".git"]);
    // The file is part of the proposal: what it excludes is not in the image.
    assert_eq!(tidied.gone.len(), files.len());
    for copy in ["COPY src /app", "COPY --from=x . /app", "RUN b"] {
        assert!(stays(&format!("FROM a\n{copy}\n"), &files).hints.is_empty(), "{copy}");
    }
}
