"""The results as Markdown."""

import os


def mib(size):
    return f"{size / (1 << 20):,.0f}"


def less(before, after):
    return f"{100 * (1 - after / before):.1f} %" if before else "-"


def sizes(state):
    before, after = state["image"]["unpacked"], state["slim"]["unpacked"]
    rows = [("deflated with level 6 (what a pull costs)", "deflated_bytes"), ("files", "file_bytes"), ("on disk", "disk_bytes")]
    lines = ["| MiB | before | after | less |", "| --- | ---: | ---: | ---: |"]
    for title, key in rows:
        lines.append(f"| {title} | {mib(before[key])} | {mib(after[key])} | {less(before[key], after[key])} |")
    lines.append(f"| blobs as written | | {mib(after['blob_bytes'])} | |")
    row = state["slim"]
    lines += [
        "",
        f"`cutaway slim`: {row['seconds']} s, {row['processor_seconds']} s of processor time, {row['peak_mib']} MiB at most; "
        f"{len(row['changed']['differ'])} of {row['changed']['files']} files changed.",
    ]
    return lines


def libraries(state):
    rows = (state["slim"].get("gpu_code") or {}).get("libraries", [])
    if not rows:
        return []
    keys = ["before_bytes", "after_bytes", "containers", "entries_kept", "entries_removed", "file_bytes_after"]
    lines = ["", f"| library | {' | '.join(key.replace('_', ' ') for key in keys)} |", "| --- |" + " ---: |" * len(keys)]
    for row in sorted(rows, key=lambda one: -(one.get("before_bytes") or 0)):
        cells = [f"{row[key]:,}" if isinstance(row.get(key), int) else "-" for key in keys]
        lines.append(f"| {os.path.basename(row['path'])} | {' | '.join(cells)} |")
    return lines


def work(state):
    rows = state["work"]["rows"]
    counts = {}
    for row in rows:
        counts[row["verdict"]] = counts.get(row["verdict"], 0) + 1
    lines = ["", f"Kinds of work: {', '.join(f'{count} {verdict}' for verdict, count in sorted(counts.items()))}.", ""]
    for name, run in state["runs"].items():
        lines.append(f"- {name}: {run['seconds']} s, {run['peak_mib']} MiB at most")
    lines += ["", "| work | result |", "| --- | --- |"]
    for row in sorted(rows, key=lambda one: (one["verdict"] == "same", one["name"])):
        why = row.get("why", "").replace("|", "\\|")
        lines.append(f"| {row['name']} | {row['verdict']}{': ' + why if why else ''} |")
    return lines


def wrong(state, options):
    row = state["wrong"]
    lines = [
        "",
        f"Pruned for {options.wrong_target}: {len(row['no_kernel_image'])} kinds of work end with "
        f"'no kernel image' (codes {row['codes']}), {len(row['other_errors'])} with another error, "
        f"{len(row['succeeded'])} give a result.",
    ]
    for name, error in row["other_errors"].items():
        lines.append(f"- {name}: {error}")
    if row["succeeded"]:
        lines.append(f"- with a result: {', '.join(row['succeeded'])}")
    return lines


def table(state, options):
    lines = ["# GPU code of one target: before and after", ""]
    ends = [run["end"] for run in state.get("runs", {}).values() if run.get("end")]
    if ends:
        lines.append(f"{ends[0].get('device', 'no GPU')}, torch {ends[0]['torch']}, pruned for {options.target}.")
        lines.append("")
    if "slim" in state:
        lines += sizes(state) + libraries(state)
    if "work" in state:
        lines += work(state)
    if "startup" in state:
        row = state["startup"]
        lines += ["", f"Import and first kernel, medians of {len(row['seconds']['original'])}: "
                  f"{row['median']['original']:.3f} s before, {row['median']['pruned']:.3f} s after, ratio {row['ratio']}."]
    if "run" in state.get("wrong", {}):
        lines += wrong(state, options)
    problems = [(step, one) for step, rows in state["problems"].items() for one in rows]
    lines += ["", "No problem." if not problems else "Problems:"]
    lines += [f"- {step}: {one}" for step, one in problems]
    missing = [step for step in ("image", "slim", "work", "startup", "wrong") if step not in state]
    if missing:
        lines.append(f"- not run: {', '.join(missing)}")
    return "\n".join(lines) + "\n"
