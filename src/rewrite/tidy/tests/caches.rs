use super::*;

const LISTS: &str = "/var/lib/apt/lists/archive_Packages";

#[test]
fn lists_of_apt_are_removed_in_the_style_of_the_file() {
    for (before, after) in [
        // No style yet.
        (
            "FROM a\nRUN apt-get update && apt-get install -y --no-install-recommends b\n",
            "FROM a\nRUN apt-get update && apt-get install -y --no-install-recommends b \\\n    && rm -rf /var/lib/apt/lists/*\n",
        ),
        // Joiners at the beginning of lines, a narrow indentation, packages on lines of their own.
        (
            "from a\nrun apt-get update \\\n && apt-get install -y --no-install-recommends \\\n      b \\\n      c\ncmd x",
            "from a\nrun apt-get update \\\n && apt-get install -y --no-install-recommends \\\n      b \\\n      c \\\n && rm -rf /var/lib/apt/lists/*\ncmd x",
        ),
        // Joiners at the end, tabs.
        (
            "FROM a\nRUN apt-get update && \\\n\tapt-get install --no-install-recommends -y b\n",
            "FROM a\nRUN apt-get update && \\\n\tapt-get install --no-install-recommends -y b && \\\n\trm -rf /var/lib/apt/lists/*\n",
        ),
        // A strict list.
        (
            "FROM a\nRUN set -eux; \\\n\tapt-get update; \\\n\tapt-get install -y --no-install-recommends b\n",
            "FROM a\nRUN set -eux; \\\n\tapt-get update; \\\n\tapt-get install -y --no-install-recommends b; \\\n\trm -rf /var/lib/apt/lists/*\n",
        ),
        // A heredoc, strict and not.
        (
            "FROM a\nRUN <<EOF\nset -e\napt-get update\napt-get install -y --no-install-recommends b\nEOF\nCMD c\n",
            "FROM a\nRUN <<EOF\nset -e\napt-get update\napt-get install -y --no-install-recommends b\nrm -rf /var/lib/apt/lists/*\nEOF\nCMD c\n",
        ),
        (
            "FROM a\nRUN <<-EOF\n\tapt-get update\n\tapt-get install -y --no-install-recommends b\n\tEOF\n",
            "FROM a\nRUN <<-EOF\n\tapt-get update\n\tapt-get install -y --no-install-recommends b && rm -rf /var/lib/apt/lists/*\n\tEOF\n",
        ),
        // The removal runs with the rights of the installation.
        (
            "FROM a\nUSER b\nRUN sudo apt-get update && sudo -E apt-get install -y --no-install-recommends b # c",
            "FROM a\nUSER b\nRUN sudo apt-get update && sudo -E apt-get install -y --no-install-recommends b # c",
        ),
        (
            "FROM a\nUSER b\nRUN sudo apt-get update && sudo -E apt-get install -y --no-install-recommends b",
            "FROM a\nUSER b\nRUN sudo apt-get update && sudo -E apt-get install -y --no-install-recommends b \\\n    && sudo rm -rf /var/lib/apt/lists/*",
        ),
    ] {
        let tidied = becomes(before, &[file(0, LISTS, 40)], after);
        if before != after {
            assert_eq!(told(&tidied.reasons), [(Some(40), Applicability::Safe)], "{before}");
            assert_eq!(tidied.gone, [LISTS]);
        }
    }
}

#[test]
fn style_is_taken_from_another_instruction_when_there_is_none() {
    becomes(
        "FROM a\nRUN b && \\\n  c\nRUN apt-get update && apt-get install -yq --no-install-recommends d\n",
        &[file(1, LISTS, 40)],
        "FROM a\nRUN b && \\\n  c\nRUN apt-get update && apt-get install -yq --no-install-recommends d && \\\n  rm -rf /var/lib/apt/lists/*\n",
    );
}

#[test]
fn every_package_manager_has_its_own_way() {
    for (before, path, after) in [
        (
            "apt-get download b",
            "/var/cache/apt/archives/b.deb",
            "apt-get download b \\\n    && apt-get clean",
        ),
        ("dnf install -y b", "/var/cache/dnf/b.rpm", "dnf install -y b \\\n    && dnf clean all"),
        ("microdnf install -y b", "/var/cache/yum/b", "microdnf install -y b \\\n    && microdnf clean all"),
        ("yum install -y b", "/var/cache/yum/b", "yum install -y b \\\n    && yum clean all"),
        ("zypper install -y b", "/var/cache/zypp/b", "zypper install -y b \\\n    && zypper clean --all"),
        ("apk add b", "/var/cache/apk/b", "apk add b \\\n    && rm -rf /var/cache/apk/*"),
        ("conda install -y b", "/opt/conda/pkgs/b", "conda install -y b \\\n    && conda clean -afy"),
        ("npm ci", "/root/.npm/_cacache/b", "npm ci \\\n    && npm cache clean --force"),
        ("yarn install", "/root/.cache/yarn/b", "yarn install \\\n    && yarn cache clean"),
        ("pip install b", "/root/.cache/pip/b", "pip install --no-cache-dir b"),
        ("pip3.11 install -U b", "/app/.cache/pip/b", "pip3.11 install --no-cache-dir -U b"),
        (
            "/venv/bin/python3 -m pip install b",
            "/root/.cache/pip/b",
            "/venv/bin/python3 -m pip install --no-cache-dir b",
        ),
        ("X=1 uv sync --frozen", "/root/.cache/uv/b", "X=1 uv sync --no-cache --frozen"),
    ] {
        let text = |run: &str| format!("FROM a\nRUN {run}\n");
        let tidied = becomes(&text(before), &[file(0, path, 7)], &text(after));
        assert_eq!(told(&tidied.reasons), [(Some(7), Applicability::Safe)], "{before}");
        // Without the files there is nothing to do, and files of another layer are irrelevant.
        stays(&text(before), &[]);
        stays(&text(before), &[file(1, path, 7)]);
    }
    stays("FROM a\nRUN pip install b\n", &[file(0, "/root/.cache/pip/selfcheck/c.json", 7)]);
}

#[test]
fn cache_mounts_are_used_where_the_file_has_some() {
    for head in ["# syntax=docker/dockerfile:1\nFROM a\n", "FROM a\nRUN --mount=type=cache,target=/x b\n"] {
        let layer = u16::from(head.contains("RUN"));
        let text = format!("{head}RUN --network=host pip install b && pip install c\n");
        let after = format!(
            "{head}RUN --network=host --mount=type=cache,target=/root/.cache/pip pip install b && pip install c\n"
        );
        let tidied = becomes(&text, &[file(layer, "/root/.cache/pip/b", 9)], &after);
        assert_eq!(told(&tidied.reasons), [(Some(9), Applicability::Safe)]);
        // The mount would be another folder.
        let after = format!(
            "{head}RUN --network=host pip install --no-cache-dir b && pip install --no-cache-dir c\n"
        );
        let tidied = becomes(&text, &[file(layer, "/home/x/.cache/pip/b", 9)], &after);
        assert_eq!(told(&tidied.reasons), [(None, Applicability::Safe); 2]);
        assert_eq!(tidied.gone.len(), 1);
    }
    stays(
        "FROM a\nRUN --mount=type=cache,target=/root/.cache/pip pip install b\n",
        &[file(0, "/root/.cache/pip/b", 9)],
    );
}

#[test]
fn a_cache_mount_for_apt_is_a_hint() {
    let run = "RUN apt-get update && apt-get install -y --no-install-recommends b";
    for (head, hints) in [("", 0), ("# syntax=docker/dockerfile:1\n", 1)] {
        let text = format!("{head}FROM a\n{run}\n");
        let after = format!("{head}FROM a\n{run} \\\n    && rm -rf /var/lib/apt/lists/*\n");
        assert_eq!(becomes(&text, &[file(0, LISTS, 40)], &after).hints.len(), hints);
    }
}

#[test]
fn what_is_not_understood_is_left_alone() {
    for run in [
        "RUN [\"apt-get\", \"install\", \"-y\", \"b\"]",
        "RUN [\"/bin/sh\", \"-c\", \"apt-get update && apt-get install -y b\"]",
        "RUN if true; then apt-get update && apt-get install -y b; fi",
        "RUN (apt-get update && apt-get install -y b)",
        "RUN apt-get update; apt-get install -y \"b",
        "RUN ./install.sh",
        "RUN <<EOF\n#!/usr/bin/env python3\napt-get install -y b\nEOF",
    ] {
        stays(&format!("FROM a\n{run}\n"), &[file(0, LISTS, 40), file(0, "/root/.cache/pip/b", 9)]);
    }
    stays("# escape=`\nFROM a\nRUN apt-get update `\n && apt-get install -y b\n", &[file(0, LISTS, 40)]);
    let powershell = "FROM a\nSHELL [\"powershell\", \"-c\"]\nRUN apt-get install -y b\n";
    stays(powershell, &[file(0, LISTS, 40)]);
    // Nothing can follow these.
    for end in ["exit 0", "exec b", "b &", "b;"] {
        stays(
            &format!("FROM a\nRUN apt-get update && apt-get install -y --no-install-recommends b && {end}\n"),
            &[file(0, LISTS, 40)],
        );
    }
}

#[test]
fn stages_that_are_not_in_the_image_are_left_alone() {
    let tidied = becomes(
        "FROM a AS build\nRUN apt-get update && apt-get install -y b\nFROM a\nRUN apt-get update && apt-get install -y b\n",
        &[file(0, LISTS, 40)],
        "FROM a AS build\nRUN apt-get update && apt-get install -y b\nFROM a\nRUN apt-get update && apt-get install -y --no-install-recommends b \\\n    && rm -rf /var/lib/apt/lists/*\n",
    );
    assert_eq!(told(&tidied.reasons), [(None, Applicability::Review), (Some(40), Applicability::Safe)]);
}

#[test]
fn lists_stay_where_a_later_instruction_reads_them() {
    let first = "RUN apt-get update && apt-get install -y --no-install-recommends b";
    let lists = [file(0, LISTS, 40)];
    let second = "RUN apt-get install -y --no-install-recommends c";
    stays(&format!("FROM a\n{first}\nENV d=e\n{second}\n"), &lists);
    stays(&format!("FROM a\n{first}\n{second}\nRUN f\n{second}\n"), &lists);
    stays(&format!("FROM a\n{first}\nUSER d\n{second}\n"), &lists);
    stays(&format!("FROM a\n{first}\nUSER d\nRUN apt-cache policy c\n"), &lists);
    for (later, applicability) in [
        ("RUN apt-get update && apt-get install -y --no-install-recommends c", Applicability::Safe),
        ("RUN apt-get remove -y b && make-free", Applicability::Safe),
        ("RUN ./more.sh", Applicability::Review),
        ("RUN curl https://x | bash -", Applicability::Review),
        ("RUN if true; then b; fi", Applicability::Review),
        ("ONBUILD RUN b", Applicability::Review),
    ] {
        let after = format!("FROM a\n{first} \\\n    && rm -rf /var/lib/apt/lists/*\n{later}\n");
        let tidied = becomes(&format!("FROM a\n{first}\n{later}\n"), &lists, &after);
        assert_eq!(told(&tidied.reasons), [(Some(40), applicability)], "{later}");
        assert_eq!(tidied.assumed.is_empty(), applicability == Applicability::Safe);
    }
    // A stage that starts from this one.
    let text =
        "FROM x AS one\nRUN apt-get update\nFROM one\nRUN apt-get install -y --no-install-recommends b\n";
    stays(text, &[file(0, LISTS, 40)]);
}

#[test]
fn recommended_packages_are_left_out() {
    for (before, after) in [
        ("apt-get install b", "apt-get install --no-install-recommends b"),
        ("apt-get install -y b", "apt-get install -y --no-install-recommends b"),
        ("apt-get -qq install -y -t c b", "apt-get -qq install -y --no-install-recommends -t c b"),
        ("apt install -yq \\\n  b \\\n  c", "apt install -yq --no-install-recommends \\\n  b \\\n  c"),
        (
            "DEBIAN_FRONTEND=noninteractive apt-get -o A=b install b && c",
            "DEBIAN_FRONTEND=noninteractive apt-get -o A=b install --no-install-recommends b && c",
        ),
        ("apt-get install -y b=$(cat v)", "apt-get install -y --no-install-recommends b=$(cat v)"),
    ] {
        let tidied = becomes(&format!("FROM a\nRUN {before}\n"), &[], &format!("FROM a\nRUN {after}\n"));
        assert_eq!(told(&tidied.reasons), [(None, Applicability::Review)]);
        assert_eq!(tidied.assumed.len(), 1);
    }
    for run in [
        "apt-get install -y --no-install-recommends b",
        "apt-get install --install-recommends b",
        "apt-get -o APT::Install-Recommends=false install b",
        "apt-get install -f",
        "apt-get update",
        "aptly install b",
        "echo 'APT::Install-Recommends \"0\";' > /etc/apt/apt.conf.d/x && apt-get install b",
    ] {
        stays(&format!("FROM a\nRUN {run}\n"), &[]);
    }
}
