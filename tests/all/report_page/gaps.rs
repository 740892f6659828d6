//! What is not known is said to be unknown, with the reason; it is never zero.

use cutaway::report::page::{Part, Tone};
use cutaway::report::{report_page, to_markdown};
use serde_json::json;

use super::{column, fact, finding, lead, of, page_of, section, small, table};
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, tar};
use crate::support::Place;

fn two_layers() -> Image {
    let tars = [vec![file("etc/a", vec![b'a'; 700])], vec![file("srv/b", vec![b'b'; 300])]];
    Image::of(Packing::Gzip, tars.into_iter().map(tar))
}

#[test]
fn an_image_without_cuda_has_no_empty_sections() {
    let place = Place::new();
    let image = place.put_layout("image", &Layout::of(&two_layers(), "latest"));
    let page = page_of(&place.report(&format!("oci:{image}")).json);
    let parts: Vec<Part> = page.sections.iter().map(|section| section.part).collect();
    for part in [Part::GpuCode, Part::Duplicates, Part::Packages, Part::Warnings] {
        assert!(!parts.contains(&part), "{part:?}");
    }
    assert!(page.sections.iter().all(|section| !section.blocks.is_empty()));
    let text = to_markdown(&page);
    assert!(text.contains("No CUDA libraries, GPU code or frameworks found."), "{text}");
    assert!(text.contains("0 B wasted"), "{text}");
    assert!(!text.contains("unknown: the rules"), "{text}");
}

#[test]
fn a_folder_has_no_sizes_as_stored() {
    let place = Place::new();
    place.put("root/etc/a", [b'a'; 700]);
    let page = page_of(&place.report(&format!("rootfs:{}", place.path("root"))).json);
    let sizes = section(&page, Part::Sizes);
    assert!(fact(sizes, "Compressed").starts_with("unknown: "), "{}", fact(sizes, "Compressed"));
    assert!(fact(sizes, "Merged").starts_with("700 B"));
    assert_eq!(column(table(section(&page, Part::Layers), "layers"), "Compressed"), ["–"]);
    assert!(lead(&page).starts_with("1 layer: 700 B merged"), "{}", lead(&page));
    assert!(!lead(&page).contains("compressed"), "{}", lead(&page));
    let settings = to_markdown(&page.only(&[Part::Settings]));
    assert!(settings.contains("unknown: this source has no image config"), "{settings}");
}

#[test]
fn an_incomplete_image_says_so_first() {
    let place = Place::new();
    let image = two_layers();
    let mut layout = Layout::of(&image, "latest");
    layout.remove_blob(&image.layers[1].digest);
    let path = place.put_layout("image", &layout);
    let report = of(&place.report_with(&format!("oci:{path}"), &[]).json);
    assert!(!report.totals.complete);
    let page = report_page(&report);
    let first = &page.lead[0];
    assert_eq!(first.tone, Tone::Bad);
    assert!(first.text.starts_with("Incomplete: 1 of 2 layers was not read"), "{}", first.text);
    assert!(!lead(&page).contains("0 B wasted"), "{}", lead(&page));
    let layers = table(section(&page, Part::Layers), "layers");
    for title in ["Content", "Wasted", "Files"] {
        assert_eq!(column(layers, title)[1], "–", "{title}");
    }
    let sizes = format!("{:?}", section(&page, Part::Sizes));
    assert!(sizes.contains("Not included: 1 layer") || sizes.contains("Contents unknown: "), "{sizes}");
    assert_eq!(table(section(&page, Part::Warnings), "warnings").rows.len(), report.warnings.len());
    let text = to_markdown(&page);
    let told = text.lines().position(|line| line.starts_with("**Incomplete: ")).unwrap();
    assert!(told < 6, "it stands on top: {text}");
}

#[test]
fn a_report_without_rules_says_what_is_unknown() {
    let page = page_of(&small());
    for part in [Part::Findings, Part::Compatibility, Part::Cuda, Part::GpuCode, Part::Packages] {
        assert_eq!(section(&page, part).note, "unknown", "{part:?}");
        let text = format!("{:?}", section(&page, part).blocks);
        assert!(text.contains(" unknown: "), "{text}");
    }
    assert!(lead(&page).contains("Removable bytes unknown"), "{}", lead(&page));
    assert!(lead(&page).contains("Compatibility unknown"), "{}", lead(&page));
    for part in [Part::Findings, Part::Compatibility, Part::Cuda, Part::GpuCode, Part::Packages] {
        let text = format!("{:?}", section(&page, part));
        assert!(!text.contains("0 B"), "unknown is shown as nothing: {text}");
    }
}

#[test]
fn findings_of_an_incomplete_image_are_of_what_could_be_read() {
    let mut json = small();
    json["totals"]["complete"] = json!(false);
    json["findings"] = json!([]);
    json["reclaimable"] =
        json!({"safe_bytes": 0, "unsure_bytes": 0, "potential_bytes": 0, "by_category": {}});
    let page = page_of(&json);
    assert!(lead(&page).contains("No findings in the part that was read."), "{}", lead(&page));
    json["findings"] = json!([finding("a", "unsure", 10, "one")]);
    json["reclaimable"]["unsure_bytes"] = json!(10);
    let page = page_of(&json);
    assert!(lead(&page).contains("Nothing is removable without review; 10 B to review"), "{}", lead(&page));
}

#[test]
fn figures_of_a_stranger_cannot_overflow() {
    let mut json = small();
    let most = u64::MAX;
    json["findings"] = json!([finding("a", "safe", most, "one"), finding("b", "safe", most, "two")]);
    json["reclaimable"] =
        json!({"safe_bytes": most, "unsure_bytes": most, "potential_bytes": most, "by_category": {}});
    json["plan"] =
        json!({"findings": ["a", "b"], "merged_bytes_after": most, "compressed_bytes_after": most});
    json["layers"][0]["class_bytes"] = json!({"system": most, "framework": most, "nothing-known": 1});
    json["totals"]["merged_files"] = json!(most);
    json["totals"]["wasted_bytes"] = json!(most);
    json["totals"]["efficiency"] = json!(1e300);
    let page = page_of(&json);
    assert!(to_markdown(&page).contains("16384 PiB"));
}
