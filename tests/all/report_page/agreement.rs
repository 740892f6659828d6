//! Every figure of a page is the report's.

use cutaway::base::labels::TARGET_VERDICTS;
use cutaway::base::size::{grouped, human};
use cutaway::report::page::{Block, Part};
use cutaway::report::{FindingLine, report_page};

use super::{chart, column, devel, fact, lead, section, table, tables};

#[test]
fn the_lead_says_sizes_what_can_go_and_whether_it_runs() {
    let (_, report) = devel();
    let page = report_page(report);
    let (totals, sums) = (&report.totals, report.reclaimable.as_ref().unwrap());
    let lead = lead(&page);
    let targets = &report.compatibility.as_ref().unwrap().targets;
    let runs = targets.iter().filter(|target| target.verdict.starts_with("runs")).count();
    let texts = [
        format!("{} layers, {} compressed", totals.layers, human(totals.compressed_bytes.unwrap())),
        format!("{} merged", human(totals.merged_bytes.unwrap())),
        format!("{} files", grouped(totals.merged_files.unwrap())),
        format!("{} wasted", human(totals.wasted_bytes.unwrap())),
        format!("{} removable", human(sums.safe_bytes)),
        format!("{} to review", human(sums.unsure_bytes)),
        human(report.plan.as_ref().unwrap().merged_bytes_after),
        human(report.plan.as_ref().unwrap().compressed_bytes_after.unwrap()),
        format!("Runs on {runs} of {} target GPUs", targets.len()),
    ];
    for text in texts {
        assert!(lead.contains(&text), "{text} is not in {lead}");
    }
    assert!(!lead.contains("ncomplete"), "{lead}");
    assert_eq!(page.title, "example.org/vision-service:devel");
    assert!(page.generator.contains(env!("CARGO_PKG_VERSION")), "{}", page.generator);
}

#[test]
fn the_sizes_are_those_of_the_totals() {
    let (_, report) = devel();
    let page = report_page(report);
    let (sizes, totals) = (section(&page, Part::Sizes), &report.totals);
    let figures = [
        ("Compressed", totals.compressed_bytes.unwrap()),
        ("Uncompressed", totals.uncompressed_bytes.unwrap()),
        ("Content", totals.content_bytes.unwrap()),
        ("Merged", totals.merged_bytes.unwrap()),
        ("Wasted", totals.wasted_bytes.unwrap()),
    ];
    for (name, bytes) in figures {
        assert!(fact(sizes, name).starts_with(&human(bytes)), "{name}: {}", fact(sizes, name));
    }
    assert_eq!(chart(sizes).total(), totals.content_bytes.unwrap(), "every byte of the content has a class");
}

#[test]
fn findings_stand_under_their_verdict_with_their_bytes() {
    let (_, report) = devel();
    let page = report_page(report);
    let findings = report.findings.as_ref().unwrap();
    let (section, sums) = (section(&page, Part::Findings), report.reclaimable.as_ref().unwrap());
    let listed: Vec<_> = tables(section, "findings");
    for (place, (verdict, bytes)) in
        [("safe", Some(sums.safe_bytes)), ("unsure", Some(sums.unsure_bytes)), ("needed", None)]
            .into_iter()
            .enumerate()
    {
        let of: Vec<&FindingLine> = findings.iter().filter(|one| one.verdict == verdict).collect();
        let table = listed[place];
        assert_eq!((table.rows.len(), table.more), (of.len(), 0), "{verdict}");
        let shown = |one: &&FindingLine| if one.bytes > 0 { human(one.bytes) } else { String::new() };
        assert_eq!(column(table, "Bytes"), of.iter().map(shown).collect::<Vec<_>>(), "{verdict}");
        assert_eq!(column(table, "Finding"), of.iter().map(|one| one.title.clone()).collect::<Vec<_>>());
        let sum: u64 = of.iter().map(|one| one.bytes).sum();
        assert_eq!(bytes.unwrap_or(sum), sum, "{verdict}");
        for (row, one) in table.rows.iter().zip(of) {
            let behind = format!("{:?}", row.details);
            let words = [format!("cutaway explain {}", one.rule), one.fix.clone()];
            let shown =
                |text: &String| behind.contains(&format!("{text:?}")[1..=text.chars().count().min(200)]);
            assert!(words.iter().all(shown), "{words:?} is not in {behind}");
            assert_eq!(one.question.is_some(), behind.contains("\"Question\""), "{}", one.id);
            let folder = one.folders.first().map(|folder| &folder.path);
            assert!(folder.or(one.paths.first()).is_none_or(|path| behind.contains(path)), "{}", one.id);
        }
    }
    let heading = |text: &str| {
        assert!(
            section.blocks.iter().any(|block| matches!(block, Block::Heading(title) if title == text)),
            "no {text} in {:#?}",
            section.blocks
        );
    };
    let safe = findings.iter().filter(|one| one.verdict == "safe").count();
    heading(&format!("Removable: {safe} findings, {}", human(sums.safe_bytes)));
}

#[test]
fn the_plan_and_the_best_proposal_are_the_reports() {
    let (_, report) = devel();
    let page = report_page(report);
    let part = section(&page, Part::Plan);
    let (plan, best) = (report.plan.as_ref().unwrap(), &report.proposals.as_ref().unwrap()[0]);
    assert!(fact(part, "Merged").ends_with(&format!("{} after", human(plan.merged_bytes_after))));
    assert!(
        fact(part, "Compressed").ends_with(&format!("{} after", human(plan.compressed_bytes_after.unwrap())))
    );
    let bytes: u64 = report
        .findings
        .iter()
        .flatten()
        .filter(|one| plan.findings.contains(&one.id))
        .map(|one| one.bytes)
        .sum();
    assert!(fact(part, "Removed").starts_with(&human(bytes)));
    assert!(fact(part, "Saves").starts_with(&human(best.saved_bytes)));
    assert_eq!(fact(part, "Base image"), best.base_image.as_deref().unwrap());
    let codes: Vec<(&str, &str)> = super::blocks(part)
        .into_iter()
        .filter_map(|block| match block {
            Block::Code(language, text) => Some((*language, text.as_str())),
            _ => None,
        })
        .collect();
    let texts =
        [("dockerfile", best.dockerfile.as_deref().unwrap()), ("diff", best.diff.as_deref().unwrap())];
    assert_eq!(codes, texts, "the Dockerfile stands there as it is");
}

#[test]
fn layers_libraries_and_packages_are_all_there_or_counted() {
    let (_, report) = devel();
    let page = report_page(report);
    let layers = table(section(&page, Part::Layers), "layers");
    assert_eq!(layers.rows.len(), report.layers.len());
    let sizes = report.layers.iter().map(|layer| human(layer.content_bytes.unwrap())).collect::<Vec<_>>();
    assert_eq!(column(layers, "Content"), sizes);
    let cuda = report.cuda.as_ref().unwrap();
    let libraries = table(section(&page, Part::Cuda), "libraries");
    assert_eq!(libraries.rows.len() as u64 + libraries.more, cuda.libraries.len() as u64);
    let mut bytes: Vec<u64> = cuda.libraries.iter().map(|one| one.bytes).collect();
    bytes.sort_unstable_by(|a, b| b.cmp(a));
    bytes.truncate(libraries.rows.len());
    assert_eq!(column(libraries, "Bytes"), bytes.into_iter().map(human).collect::<Vec<_>>());
    let components = table(section(&page, Part::Cuda), "components");
    assert_eq!(components.rows.len(), cuda.components.len());
    let packages = table(section(&page, Part::Packages), "packages");
    assert_eq!(packages.rows.len() as u64 + packages.more, report.packages.len() as u64);
    let code = section(&page, Part::GpuCode);
    assert_eq!(chart(code).total(), cuda.gpu_code.iter().map(|sum| sum.bytes).sum::<u64>());
    let duplicates = table(section(&page, Part::Duplicates), "sonames");
    assert_eq!(duplicates.rows.len() as u64 + duplicates.more, cuda.duplicates.len() as u64);
    let files = table(section(&page, Part::Files), "files");
    assert_eq!(
        column(files, "File"),
        report.largest_files.iter().map(|one| one.path.clone()).collect::<Vec<_>>()
    );
    let targets = table(section(&page, Part::Compatibility), "GPUs");
    let verdicts =
        report.compatibility.as_ref().unwrap().targets.iter().map(|one| TARGET_VERDICTS.shown(&one.verdict));
    assert_eq!(column(targets, "Verdict"), verdicts.collect::<Vec<_>>());
}

#[test]
fn parts_can_be_left_out() {
    let (_, report) = devel();
    let page = report_page(report);
    let parts: Vec<Part> = page.sections.iter().map(|section| section.part).collect();
    let without = Part::ALL.into_iter().filter(|part| *part != Part::Warnings).collect::<Vec<_>>();
    assert_eq!(parts, without, "all but the warnings, of which there are none");
    let only = page.clone().only(&[Part::Plan, Part::Sizes]);
    assert_eq!(
        only.sections.iter().map(|section| section.part).collect::<Vec<_>>(),
        [Part::Sizes, Part::Plan]
    );
    assert_eq!(only.lead, page.lead);
    assert!(page.only(&[]).sections.is_empty());
}
