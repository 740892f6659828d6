use crate::rewrite::recipe::{Origin, Recipe};
#[test]
fn trial() {
    let Ok(names) = std::env::var("TRY") else { return };
    for name in names.split(',') {
        let (image, file) = (
            format!("/tmp/rewrite-work/originals/{name}.oci.tar"),
            format!("/tmp/rewrite-work/originals/{name}.Dockerfile"),
        );
        let reference = crate::source::Reference::parse(&format!("oci-archive:{image}")).unwrap();
        let a = crate::analysis::analyze(
            &reference,
            &crate::analysis::Options::default(),
            &crate::jobs::CancelToken::new(),
            &crate::jobs::Progress::default(),
            &|_| (),
        )
        .unwrap();
        let text = std::fs::read(&file).unwrap();
        let parsed = crate::formats::dockerfile::parse(&text).unwrap();
        let plan = crate::findings::Plan::of_safe(a.findings.as_deref().unwrap());
        let layers: Vec<_> = a.layers.iter().map(|layer| layer.read.clone()).collect();
        let ties = vec![crate::rewrite::recipe::Tie::default(); parsed.instructions.len()];
        let recipe = Recipe {
            file: parsed,
            origin: Origin::Given("D".into()),
            ties,
            base_layers: None,
            unknown: vec![],
        };
        let input = crate::rewrite::propose::Input {
            image: &a.image,
            layers: &layers,
            merge: a.merge.as_deref().unwrap(),
            bodies: &a.bodies,
            inventory: a.inventory.as_deref().unwrap(),
            findings: a.findings.as_deref().unwrap(),
            plan: &plan,
            catalog: crate::cuda::catalog::Catalog::builtin(),
            targets: &a.targets,
            complete: true,
            dockerfile: None,
            show_secrets: true,
        };
        let mut notes = vec![];
        println!("==== {name} base {:?}", a.inventory.as_ref().unwrap().base);
        for draft in super::drafts(&input, &recipe, &mut notes) {
            let (text, _, _) = crate::rewrite::edit::apply(recipe.file.text(), &draft.edits);
            println!("---- {} {}\n{text}", draft.id, draft.title);
            for e in &draft.edits {
                println!("  # {} -> {}", e.with.trim().lines().next().unwrap_or(""), e.reason);
            }
            println!(
                "kept {:#?} assumed {:#?} by_hand {:#?} env {:?}",
                draft.kept, draft.assumed, draft.by_hand, draft.environment
            );
        }
        println!("notes {notes:?}");
    }
}
