//! The schemas that `cutaway schema` prints: true of everything that is written, and false of anything else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, tar};
use crate::support::{Place, program};

/// What has a schema in this build.
const NAMES: &[&str] = if cfg!(feature = "gpu") {
    &["report", "compare", "dockerfile", "slim", "deploy", "why", "gpu"]
} else {
    &["report", "compare", "dockerfile", "slim", "deploy", "why"]
};

static SCHEMAS: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
    let print = |name: &'static str| {
        let output = program().args(["schema", name]).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        (name, serde_json::from_slice(&output.stdout).unwrap())
    };
    NAMES.iter().copied().map(print).collect()
});

static VALIDATORS: LazyLock<BTreeMap<&str, Validator>> = LazyLock::new(|| {
    SCHEMAS.iter().map(|(name, schema)| (*name, jsonschema::draft202012::new(schema).unwrap())).collect()
});

/// Where and why a document does not fit the schema with this name.
fn faults(name: &str, document: &Value) -> Vec<String> {
    let errors = VALIDATORS[name].iter_errors(document);
    errors.map(|error| format!("{}: {}", error.instance_path(), error.masked())).collect()
}

/// Fails when a document does not fit the schema with this name. Other tests call it for all that they have printed.
pub fn fits(name: &str, document: &Value) {
    let faults = faults(name, document);
    assert!(faults.is_empty(), "it does not fit the schema of {name}:\n{}", faults.join("\n"));
}

fn json_of(place: &Place, arguments: &[&str]) -> Value {
    let outcome = place.run(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", outcome.stderr))
}

#[test]
fn schemas_are_of_draft_2020_12_and_name_what_they_are_for() {
    for (name, schema) in &*SCHEMAS {
        jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["title"], format!("cutaway.{name}/1"));
        assert_eq!(schema["$id"], format!("urn:cutaway:{name}:1"));
        assert_eq!(schema["properties"]["schema"]["const"], format!("cutaway.{name}/1"));
        assert!(schema["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
    }
}

/// A change of a name or of a kind is a change of the contract: it has to be seen where changes are looked at.
#[test]
fn schemas_are_those_that_were_agreed_on() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    for (name, schema) in &*SCHEMAS {
        let path = folder.join(format!("{name}.json"));
        let made = format!("{schema:#}\n");
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &made).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        let differs = made.lines().zip(kept.lines()).position(|(made, kept)| made != kept);
        assert!(
            made == kept,
            "the schema of {name} differs from tests/schemas/{name}.json at line {}; when it is meant to, run the \
             tests with UPDATE_SCHEMAS=1",
            differs.map_or(made.lines().count().min(kept.lines().count()), |line| line + 1)
        );
    }
}

/// The schema behind a path such as `layers[].digest`: through references, lists, maps and null.
fn at<'s>(root: &'s Value, path: &str) -> Option<&'s Value> {
    fn plain<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
        loop {
            if let Some(name) = schema["$ref"].as_str() {
                schema = root.pointer(name.trim_start_matches('#')).unwrap();
            } else if let Some(any) = schema["anyOf"].as_array() {
                schema = any.iter().find(|one| one["type"] != "null").unwrap();
            } else {
                return schema;
            }
        }
    }
    path.split('.').try_fold(root, |schema, step| {
        let (name, list) = step.strip_suffix("[]").map_or((step, false), |name| (name, true));
        let found = plain(root, schema)["properties"].get(name)?;
        Some(if list { plain(root, found).get("items")? } else { found })
    })
}

#[test]
fn every_name_of_the_contract_is_in_its_schema() {
    let mut missing = Vec::new();
    for (name, groups) in CONTRACT.iter().filter(|(name, _)| NAMES.contains(name)) {
        for (group, fields) in *groups {
            for field in fields.split_whitespace() {
                let path = if group.is_empty() { field.to_owned() } else { format!("{group}.{field}") };
                if at(&SCHEMAS[name], &path).is_none() {
                    missing.push(format!("{name}: {path}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Everything has a description, and each field is there in every document.
#[test]
fn every_field_is_described_and_never_left_out() {
    fn look(name: &str, place: &str, schema: &Value, faults: &mut Vec<String>) {
        let Some(fields) = schema["properties"].as_object() else { return };
        for (field, inner) in fields {
            if inner["description"].as_str().is_none_or(str::is_empty) {
                faults.push(format!("{name}: {place}.{field} has no description"));
            }
            if !schema["required"].as_array().is_some_and(|all| all.contains(&json!(field))) {
                faults.push(format!("{name}: {place}.{field} may be left out"));
            }
        }
    }
    let mut faults = Vec::new();
    for (name, schema) in &*SCHEMAS {
        look(name, "", schema, &mut faults);
        for (place, inner) in schema["$defs"].as_object().unwrap() {
            look(name, place, inner, &mut faults);
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

fn small() -> Image {
    Image::new(Packing::Gzip)
        .layer("COPY a /a # buildkit", &tar([file("a", "one"), file("b", "two")]))
        .layer("RUN b # buildkit", &tar([file("a", "three")]))
}

#[test]
fn documents_fit_their_schemas() {
    let place = Place::new();
    let whole = format!("oci:{}", place.put_layout("whole", &Layout::of(&small(), "latest")));
    let mut cut = small();
    cut.layers[1].stored = false;
    let cut = format!("oci:{}", place.put_layout("cut", &Layout::of(&cut, "latest")));
    let bare = format!("oci:{}", place.put_layout("bare", &Layout::of(&Image::default(), "latest")));
    place.put("tree/usr/bin/a", "x");
    place.put("tree/etc/passwd", "root:x:0:0:root:/:/bin/sh\n");
    let tree = format!("rootfs:{}", place.path("tree"));
    for image in ["sample:devel", "sample:runtime", &whole, &cut, &bare, &tree] {
        fits("report", &json_of(&place, &["report", image, "--target", "gpu:a100-80"]));
        fits("dockerfile", &json_of(&place, &["dockerfile", image]));
    }
    for images in
        [&["sample:devel", "sample:runtime"][..], &[&whole, &cut, &tree, "sample:runtime"], &[&bare, &whole]]
    {
        fits("compare", &json_of(&place, &[&["compare"], images].concat()));
    }
    // Of a machine with a GPU, and of many with faults: the tests of the check call `fits`.
    #[cfg(feature = "gpu")]
    fits("gpu", &json_of(&place, &["gpu", "--library", "/nowhere/libcuda.so.1"]));
}

#[test]
fn a_wrong_document_does_not_fit() {
    let place = Place::new();
    let right = json_of(&place, &["report", "sample:devel"]);
    fits("report", &right);
    for (place, wrong) in [
        ("/schema", json!("cutaway.report/2")),
        ("/totals/complete", json!("yes")),
        ("/totals/merged_bytes", json!(-1)),
        ("/totals/layers", json!(null)),
        ("/totals/efficiency", json!("0.9")),
        ("/layers/0/verified", json!("perhaps")),
        ("/layers/0/compression", json!("brotli")),
        ("/layers/0/class_bytes/system", json!("many")),
        ("/layers/0/class_bytes", json!({"cuda": 1})),
        ("/packages/0/manager", json!("brew")),
        ("/cuda/libraries/0/role", json!(null)),
        ("/cuda/libraries/0/use", json!("unused")),
        ("/cuda/gpu_code/0/kind", json!("SASS")),
        ("/cuda/components/0/suppliers", json!(["nobody"])),
        ("/cuda/stack/0/level", json!("cellar")),
        ("/findings/0/verdict", json!("maybe")),
        ("/findings/0/severity", json!("fatal")),
        ("/findings/0/rule", json!("no-such-rule")),
        ("/findings/0/layers", json!(["0"])),
        ("/reclaimable/by_category", json!({"headers": 1, "nothing": 2})),
        ("/compatibility/targets/0/verdict", json!("walks")),
        ("/proposals/0/applicability", json!("certain")),
        ("/image/config/env", json!("A=b")),
    ] {
        let mut document = right.clone();
        *document.pointer_mut(place).unwrap_or_else(|| panic!("the sample has no {place}")) = wrong;
        assert!(
            !faults("report", &document).is_empty(),
            "{place} may be {}",
            document.pointer(place).unwrap()
        );
    }
    for field in ["schema", "totals", "dockerfile", "proposals", "warnings"] {
        let mut document = right.clone();
        document.as_object_mut().unwrap().remove(field);
        assert!(!faults("report", &document).is_empty(), "without {field}");
    }
    // Fields may be added.
    let mut newer = right;
    newer["new"] = json!(1);
    newer["totals"]["new"] = json!([]);
    fits("report", &newer);
}

#[cfg(not(feature = "gpu"))]
#[test]
fn a_build_without_the_check_of_the_gpu_says_that_it_has_no_schema_of_it() {
    let message = Place::new().failure(&["schema", "gpu"]);
    assert!(message.contains("built without the GPU check"), "{message}");
}

/// Fields by what holds them.
type Groups = &'static [(&'static str, &'static str)];

/// The fields that are promised to scripts, apart from those that no version fills yet.
const CONTRACT: &[(&str, Groups)] = &[
    (
        "report",
        &[
            (
                "",
                "schema generator.name generator.version image totals layers[] packages[] cuda findings[] reclaimable",
            ),
            ("", "plan compatibility proposals[] warnings[]"),
            (
                "image",
                "source reference media_type manifest_digest config_digest platform created config base",
            ),
            ("image.platform", "os architecture variant"),
            ("image.config", "env[] entrypoint[] cmd[] working_dir user labels exposed_ports[]"),
            ("image.base", "reference flavor cuda_version cudnn_version distribution layers evidence[]"),
            (
                "totals",
                "complete layers compressed_bytes uncompressed_bytes content_bytes merged_files merged_bytes",
            ),
            ("totals", "wasted_bytes efficiency"),
            (
                "layers[]",
                "index digest diff_id media_type compression verified compressed_bytes uncompressed_bytes",
            ),
            (
                "layers[]",
                "content_bytes entries files directories symlinks hardlinks whiteouts others wasted_bytes",
            ),
            ("layers[]", "hides_bytes metadata_only_bytes created_by is_base class_bytes toc claimed_bytes"),
            ("packages[]", "manager name version bytes files layer"),
            ("cuda.toolkit", "version flavor root cudnn_version"),
            ("cuda", "toolkits[] libraries[] components[] gpu_code[] duplicates[] frameworks[] stack[]"),
            (
                "cuda.libraries[]",
                "path soname component version role bytes layer hardlink_of supplier package",
            ),
            ("cuda.libraries[]", "needed_by[] use gpu_code[] overhead_bytes"),
            ("cuda.libraries[].package", "manager name version"),
            ("cuda.libraries[].gpu_code[]", "arch kind isa compression bytes uncompressed_bytes"),
            ("cuda.components[]", "name bytes libraries suppliers[]"),
            ("cuda.gpu_code[]", "arch kind bytes uncompressed_bytes"),
            ("cuda.gpu_code[].by_holder", "libraries executables archives files"),
            (
                "cuda.duplicates[]",
                "soname paths[] identical reclaimable_bytes resolved_by[].path resolved_by[].loaded_by[]",
            ),
            ("cuda.frameworks[]", "name version cuda_version strategy path"),
            ("cuda.stack[]", "level name supplied_by paths[]"),
            ("findings[]", "rule severity verdict category title reason bytes files layers[] paths[] fix"),
            ("reclaimable", "safe_bytes unsure_bytes potential_bytes by_category"),
            ("plan", "findings[] merged_bytes_after compressed_bytes_after"),
            ("compatibility.requires", "cuda min_driver min_driver_minor_compat sass[] ptx[]"),
            ("compatibility.targets[]", "target gpu compute_capability driver verdict why"),
            ("proposals[]", "id title applicability saved_bytes"),
            ("warnings[]", "code message subject"),
        ],
    ),
    (
        "compare",
        &[
            ("", "schema images[].source images[].digest images[].totals pull_bytes[]"),
            ("layers[]", "digest diff_id bytes[] shared_by[]"),
            ("components[]", "name bytes[]"),
            ("gpu_code[]", "arch bytes[]"),
            ("packages[]", "manager name versions[]"),
            ("files", "added removed changed added_bytes removed_bytes changed_bytes"),
            ("largest_changes[]", "path change bytes[]"),
            ("environment[]", "name values[]"),
            ("", "files_by_image[] findings[].rule findings[].bytes[]"),
        ],
    ),
    (
        "dockerfile",
        &[
            ("", "schema reason"),
            ("proposals[]", "id title applicability base_image dockerfile diff kept[]"),
            ("proposals[].predicted", "merged_bytes saved_bytes"),
            (
                "proposals[]",
                "reasons[].line reasons[].text removed[].path removed[].bytes removed[].category",
            ),
            ("proposals[].closure", "resolved dlopen_known unproven[]"),
        ],
    ),
    (
        "gpu",
        &[
            ("", "schema available driver.version driver.cuda_version driver.library_path"),
            ("steps[]", "name ok us"),
            ("devices[]", "index name compute_capability memory_bytes multiprocessors"),
            ("devices[].kernel_check", "verdict module_load_us launch_us elements max_abs_error"),
            ("devices[].graph", "launches stream_us_per_launch graph_us_per_launch speedup"),
            ("devices[].bandwidth_gb_s", "host_to_device device_to_host device_to_device"),
            ("error", "stage code name message hint"),
        ],
    ),
];
