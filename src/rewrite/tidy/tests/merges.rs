use super::*;

const MIB: u64 = 1 << 20;

#[test]
fn what_is_deleted_is_deleted_where_it_was_made() {
    let made = [file(0, "/model.tar", 5 * MIB).hidden_by(1)];
    let tidied = becomes(
        "FROM a\nRUN curl -O https://x/model.tar && tar xf /model.tar\n\n# What is left over.\nRUN rm /model.tar\nCMD b\n",
        &made,
        "FROM a\nRUN curl -O https://x/model.tar && tar xf /model.tar \\\n    # What is left over.\n    && rm /model.tar\nCMD b\n",
    );
    assert_eq!(told(&tidied.reasons), [(Some(5 * MIB), Applicability::Review)]);
    assert_eq!(
        (tidied.gone.as_slice(), tidied.reasons[0].line, tidied.reasons[0].lines),
        (&["/model.tar"][..], 2, 3)
    );
    assert!(tidied.reasons[0].text.contains("line 5"));
    // Joiners at the end of lines.
    becomes(
        "FROM a\nRUN b && \\\n  c\nRUN rm -rf /x && \\\n  rm /y\n",
        &[file(0, "/x/y", 1).hidden_by(1)],
        "FROM a\nRUN b && \\\n  c && \\\n  rm -rf /x && \\\n  rm /y\n",
    );
}

#[test]
fn chains_of_instructions_become_one() {
    becomes(
        "FROM a\nRUN b\nRUN c && rm /1\nRUN rm /2\n",
        &[file(0, "/1", 2 * MIB).hidden_by(1), file(1, "/2", 3).hidden_by(2)],
        "FROM a\nRUN b \\\n    && c && rm /1 \\\n    && rm /2\n",
    );
    // Instructions between without effect on a RUN move up.
    becomes(
        "FROM a\nRUN b\n# Why.\nLABEL c=d\nEXPOSE 80\nRUN rm /1\n",
        &[file(0, "/1", 3).hidden_by(1)],
        "FROM a\n# Why.\nLABEL c=d\nEXPOSE 80\nRUN b \\\n    && rm /1\n",
    );
}

#[test]
fn merged_installations_are_cleaned_up_after_once() {
    let lists = "/var/lib/apt/lists/Packages";
    becomes(
        "FROM a\nRUN apt-get update\nRUN apt-get install -y --no-install-recommends b\nRUN apt-get install -y --no-install-recommends c\n",
        &[
            file(0, lists, 40),
            file(1, "/var/cache/apt/archives/b.deb", 9 * MIB),
            file(2, "/var/cache/apt/archives/c.deb", 9 * MIB),
        ],
        "FROM a\nRUN apt-get update \\\n    && apt-get install -y --no-install-recommends b \\\n    && apt-get install -y --no-install-recommends c \\\n    && apt-get clean \\\n    && rm -rf /var/lib/apt/lists/*\n",
    );
}

#[test]
fn lists_of_apt_that_a_later_run_removes_are_not_removed_twice() {
    let lists = "/var/lib/apt/lists/Packages";
    becomes(
        "FROM a\nRUN apt-get update && apt-get install -y --no-install-recommends b\nRUN rm -rf /var/lib/apt/lists/*\n",
        &[file(0, lists, 40).hidden_by(1)],
        "FROM a\nRUN apt-get update && apt-get install -y --no-install-recommends b \\\n    && rm -rf /var/lib/apt/lists/*\n",
    );
    // A second installation replaces the lists: that is no reason to merge.
    becomes(
        "FROM a\nRUN apt-get update && apt-get install -y --no-install-recommends b\nRUN apt-get update && apt-get install -y --no-install-recommends c\n",
        &[
            file(0, lists, 40 * MIB).hidden_by(1),
            file(0, "/var/lib/dpkg/status", 1000).hidden_by(1),
            file(1, lists, 40 * MIB),
        ],
        "FROM a\nRUN apt-get update && apt-get install -y --no-install-recommends b \\\n    && rm -rf /var/lib/apt/lists/*\nRUN apt-get update && apt-get install -y --no-install-recommends c \\\n    && rm -rf /var/lib/apt/lists/*\n",
    );
}

#[test]
fn fetching_lists_and_installing_become_one() {
    let tidied = becomes(
        "FROM a\nRUN apt-get update\nRUN apt-get install -y --no-install-recommends b\nRUN apt-get install -y --no-install-recommends c\nRUN d\n",
        &[file(0, "/var/lib/apt/lists/Packages", 40)],
        "FROM a\nRUN apt-get update \\\n    && apt-get install -y --no-install-recommends b \\\n    && apt-get install -y --no-install-recommends c \\\n    && rm -rf /var/lib/apt/lists/*\nRUN d\n",
    );
    let review = Applicability::Review;
    assert_eq!(told(&tidied.reasons), [(None, review), (None, review), (Some(40), review)]);
}

#[test]
fn edits_within_merged_instructions_hold() {
    let tidied = becomes(
        "# syntax=docker/dockerfile:1\nFROM a\nRUN pip install b\nRUN pip install c && rm -rf /x\n",
        &[
            file(0, "/x", 2 * MIB).hidden_by(1),
            file(0, "/root/.cache/pip/b", 5),
            file(1, "/root/.cache/pip/c", 6),
        ],
        "# syntax=docker/dockerfile:1\nFROM a\nRUN --mount=type=cache,target=/root/.cache/pip pip install b \\\n    && pip install c && rm -rf /x\n",
    );
    assert_eq!(tidied.gone.len(), 3);
    becomes(
        "FROM a\nRUN dnf install b\nRUN conda install c && rm -rf /x\n",
        &[file(0, "/x", 2 * MIB).hidden_by(1), file(0, "/var/cache/dnf/b", 5), file(1, "/conda/pkgs/c", 6)],
        "FROM a\nRUN dnf install b \\\n    && dnf clean all \\\n    && conda install c && rm -rf /x \\\n    && conda clean -afy\n",
    );
}

#[test]
fn instructions_are_not_merged_where_that_means_something_else() {
    for (one, between, other) in [
        ("RUN b", "USER c\n", "RUN rm /1"),
        ("RUN b", "COPY c /\n", "RUN rm /1"),
        ("RUN b", "ENV C=d\n", "RUN rm /1"),
        ("RUN b", "RUN c\n", "RUN rm /1"),
        ("RUN b", "", "RUN rm /1 || true"),
        ("RUN b", "", "RUN rm /1; rm /2"),
        ("RUN b", "", "RUN [\"rm\", \"/1\"]"),
        ("RUN b", "", "RUN <<EOF\nrm /1\nEOF"),
        ("RUN <<EOF\nb\nEOF", "", "RUN rm /1"),
        ("RUN b && exit 0", "", "RUN rm /1"),
        ("RUN b &", "", "RUN rm /1"),
        ("RUN export X=1 && b", "", "RUN rm /1"),
        ("RUN X=1; b", "", "RUN rm /1"),
        ("RUN cd /src && b", "", "RUN rm 1"),
        ("RUN cd /src && b", "", "RUN make clean"),
        ("RUN set -u; b", "", "RUN rm /$X"),
        ("RUN --network=none b", "", "RUN rm /1"),
        ("COPY b /", "", "RUN rm /1"),
        ("RUN b", "", "RUN if c; then rm /1; fi"),
    ] {
        let by = if between.starts_with("RUN") || between.starts_with("COPY") { 2 } else { 1 };
        let tidied =
            stays(&format!("FROM a\n{one}\n{between}{other}\n"), &[file(0, "/1", 2 * MIB).hidden_by(by)]);
        assert_eq!(tidied.hints.len(), 1, "{one} {between} {other}");
        assert_eq!(tidied.hints[0].bytes, Some(2 * MIB));
        assert!(tidied.hints[0].reason.contains("line 2"), "{}", tidied.hints[0].reason);
    }
    // Paths that do not depend on the folder; little that is rewritten by the way.
    becomes(
        "FROM a\nRUN cd /src && make -j$(nproc) > log\nRUN rm -rf /src && apt-get autoremove -y\n",
        &[file(0, "/src/x", 3).hidden_by(1)],
        "FROM a\nRUN cd /src && make -j$(nproc) > log \\\n    && rm -rf /src && apt-get autoremove -y\n",
    );
    stays("FROM a\nRUN b\nRUN c\n", &[file(0, "/1", 1000).hidden_by(1)]);
    // Of a strict list only one more can follow.
    becomes(
        "FROM a\nRUN set -ex; b; c\nRUN rm /1\nRUN rm /2\n",
        &[file(0, "/1", 5).hidden_by(1), file(1, "/2", 5).hidden_by(2)],
        "FROM a\nRUN set -ex; b; c \\\n    && rm /1\nRUN rm /2\n",
    );
}
