//! The view that compares images: what it makes of them, and how people meet it.

mod scene;
mod window;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cutaway::analysis::Analysis;
use cutaway::compare::{Change, compare};
use cutaway::gui::models::compare::{
    CompareModel, ComparePage, CompareSort, ComparedFiles, Comparer, FilteredPaths, ImageState, LineRows,
};
use cutaway::gui::views::{Action, ImageView as _};
use cutaway::jobs::{CancelToken, Waker};
use egui::accesskit::{Role, Toggled};
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use self::scene::{PATIENCE, analysis_of, begin, click, image, other, press, ready, row, rows, show, three};
use crate::models::sized;
use crate::view_stage::{Stage, actions, names, settle, tab};

#[test]
fn totals_layers_and_files_stand_side_by_side() {
    let mut harness = show(&three());
    assert_eq!(
        row(&harness, "Merged"),
        "Merged, visible in the container; A 4.93 KiB; B 6.24 KiB +1.31 KiB, worse; C 3.92 KiB −1.02 KiB, better"
    );
    assert_eq!(row(&harness, "Layers"), "Layers; A 2; B 2; C 1 −1");
    assert_eq!(row(&harness, "Added"), "Added; A nothing; B 1 +1.95 KiB; C 1 +10 B");
    let pulls = harness.state().views.compare.model().unwrap().compared.comparison.pull_bytes.clone();
    assert_eq!(pulls[0], Some(0));
    row(&harness, "Pull size, for a node that has the first image; A 0 B; B ");

    tab(&mut harness, "Layers");
    let all = rows(&harness);
    assert_eq!(all.len(), 4, "the shared layer differs for C: {all:#?}");
    assert!(all[0].contains("A layer 0 ") && all[0].contains("B layer 0 same blob; C absent"), "{}", all[0]);
    // Each of the others is in one image alone.
    for row in &all[1..] {
        assert_eq!(row.matches(" layer ").count(), 1, "{row}");
    }

    tab(&mut harness, "Files");
    assert_eq!(row(&harness, "app"), "app; A 750 B; B 2.04 KiB changed; C nothing removed");
    assert!(harness.query_by_label_contains("hidden").is_none(), "all paths differ somewhere");
    harness.get_all_by_role(Role::Row).next().unwrap().click();
    settle(&mut harness);
    press(&mut harness, &[Key::ArrowRight]);
    assert_eq!(row(&harness, "new"), "new; A nothing; B 1.95 KiB added; C nothing");
    assert_eq!(row(&harness, "gone"), "gone; A 700 B; B nothing removed; C nothing removed");
    assert_eq!(row(&harness, "main"), "main; A 50 B; B 90 B changed; C nothing removed");
}

#[test]
fn another_baseline_turns_the_signs() {
    let mut harness = show(&three()[..2]);
    assert!(row(&harness, "Merged").ends_with("A 4.93 KiB; B 6.24 KiB +1.31 KiB, worse"));
    harness.get_by_label_contains("B is 1.31 KiB larger than A");
    let card = |harness: &Harness<'_, Stage>, name: &str| {
        harness.get_by_role_and_label(Role::RadioButton, name).accesskit_node().toggled()
    };
    assert_eq!(card(&harness, "A one, the baseline"), Some(Toggled::True));
    click(&mut harness, Role::RadioButton, "B two");
    assert_eq!(card(&harness, "B two, the baseline"), Some(Toggled::True));
    assert!(row(&harness, "Merged").ends_with("A 4.93 KiB −1.31 KiB, better; B 6.24 KiB"));
    harness.get_by_label_contains("A is 1.31 KiB smaller than B");
    tab(&mut harness, "Files");
    harness.get_all_by_role(Role::Row).next().unwrap().click();
    settle(&mut harness);
    press(&mut harness, &[Key::Enter]);
    assert_eq!(row(&harness, "new"), "new; A nothing removed; B 1.95 KiB");
    // The order can be changed from the keyboard; the baseline goes with its image.
    harness.get_by_role_and_label(Role::RadioButton, "B two, the baseline").focus();
    harness.key_press_modifiers(Modifiers::SHIFT, Key::ArrowLeft);
    settle(&mut harness);
    assert_eq!(names(&harness, Role::RadioButton), ["A two, the baseline", "B one"]);
    assert_eq!(card(&harness, "A two, the baseline"), Some(Toggled::True));
    assert_eq!(row(&harness, "new"), "new; A 1.95 KiB; B nothing removed");
    press(&mut harness, &[Key::Delete]);
    harness.get_by_label("Add image to compare");
}

#[test]
fn only_differences_hide_what_is_equal_and_say_how_much() {
    let mut harness = show(&three()[..2]);
    tab(&mut harness, "Files");
    assert_eq!(rows(&harness).len(), 1, "only the folder that differs: {:#?}", rows(&harness));
    harness.get_by_label("4 identical paths hidden");
    click(&mut harness, Role::CheckBox, "Only differences");
    assert_eq!(rows(&harness).len(), 2);
    assert!(harness.query_by_label_contains("identical paths hidden").is_none());
    let packages = {
        tab(&mut harness, "Packages");
        harness.query_by_label("Nothing to compare").is_some()
    };
    assert!(packages, "an empty page says so");
    let mut harness = show(&[three().remove(0), three().remove(0)]);
    tab(&mut harness, "Files");
    harness.get_by_label("No file differences");
    tab(&mut harness, "Layers");
    harness.get_by_label("No differences");
}

#[test]
fn a_filter_finds_paths_by_name_size_and_change() {
    let mut harness = show(&three());
    tab(&mut harness, "Files");
    click(&mut harness, Role::CheckBox, "Only differences");
    harness.state_mut().views.compare.focus_search();
    settle(&mut harness);
    let field = || "Filter comparison";
    assert!(harness.get_by_role_and_label(Role::SearchInput, field()).is_focused());
    let find = |harness: &mut Harness<'_, Stage>, text: &str| {
        harness.state_mut().views.compare.focus_search();
        harness.run_steps(2);
        harness.get_by_role_and_label(Role::SearchInput, field()).type_text(text);
        settle(harness);
        let found: BTreeSet<String> =
            rows(harness).iter().map(|row| row.split(';').next().unwrap().to_owned()).collect();
        harness.key_press(Key::Escape);
        settle(harness);
        found.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(find(&mut harness, "*.so"), ["a.so", "b.so", "lib"]);
    assert_eq!(find(&mut harness, "app/n"), ["app", "new"]);
    assert_eq!(find(&mut harness, "size:>1k"), ["a.so", "app", "lib", "new"]);
    assert_eq!(find(&mut harness, "is:added"), ["app", "new", "other"]);
    assert_eq!(find(&mut harness, "nosuch"), Vec::<String>::new());
    harness.state_mut().views.compare.focus_search();
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::SearchInput, field()).type_text("size:>lots");
    settle(&mut harness);
    harness.get_by_label_contains("invalid filter size:>lots");
    assert!(!rows(&harness).is_empty(), "a filter that is not understood hides nothing");
}

#[test]
fn one_path_is_chosen_in_all_images_and_leads_to_the_layers_of_each() {
    let mut harness = show(&three());
    tab(&mut harness, "Files");
    harness.state_mut().views.compare.focus_search();
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::SearchInput, "Filter comparison").type_text("main");
    settle(&mut harness);
    harness.get_by_role_and_label(Role::Row, &row(&harness, "main")).click();
    settle(&mut harness);
    harness.get_by_label("~ differs from the baseline, +40 B");
    harness.get_by_label("− only in the baseline");
    assert_eq!(harness.get_all_by_label("-rw-r--r-- (644)").count(), 2);
    assert_eq!(harness.get_all_by_label("1: COPY . /").count(), 2, "layer and instruction");
    assert!(harness.query_by_role_and_label(Role::Button, "Show in Layers of C three").is_none());
    click(&mut harness, Role::Button, "Show in Layers of B two");
    assert_eq!(actions(&mut harness), [Action::ShowPathIn(2, b"/app/main".to_vec())]);
    click(&mut harness, Role::Button, "Copy path");
    assert_eq!(actions(&mut harness), [Action::CopyText("/app/main".into())]);
    tab(&mut harness, "Layers");
    harness.key_press(Key::Escape);
    settle(&mut harness);
    harness.state_mut().views.compare.focus_search();
    harness.run_steps(2);
    harness.key_press(Key::Escape);
    settle(&mut harness);
    harness.get_all_by_role(Role::Row).next().unwrap().click();
    settle(&mut harness);
    harness.get_by_label("same blob: pulled once");
    click(&mut harness, Role::Button, "Show in Layers of B two");
    assert_eq!(actions(&mut harness), [Action::ShowLayerIn(2, 0)]);
    // The largest changes of the summary lead to the tree.
    tab(&mut harness, "Summary");
    harness.get_by_role_and_label(Role::TreeGrid, "Summary").focus();
    press(&mut harness, &[Key::End, Key::Enter]);
    harness.get_by_role_and_label(Role::TreeGrid, "Files");
    assert_eq!(
        harness
            .get_all_by_role(Role::Row)
            .filter(|row| row.accesskit_node().is_selected() == Some(true))
            .count(),
        1
    );
}

#[test]
fn values_that_look_like_secrets_are_not_shown_but_differ() {
    let with = |token: &str, mode: &str| {
        let mut image = image([vec![sized("a", 10)]]);
        let url = format!("URL=https://me:{token}@host/x");
        image.config["Env"] =
            [format!("API_TOKEN={token}"), format!("MODE={mode}"), url].into_iter().collect();
        analysis_of(&image)
    };
    let mut harness = show(&[with("hunter2", "fast"), with("hunter3", "slow"), with("hunter2", "fast")]);
    tab(&mut harness, "Settings");
    assert_eq!(
        row(&harness, "API_TOKEN"),
        "API_TOKEN; A <redacted>; B <redacted> differs, changed; C <redacted>"
    );
    assert_eq!(row(&harness, "MODE"), "MODE; A fast; B slow, changed; C fast");
    assert!(row(&harness, "URL").contains("B https://<redacted>@host/x differs"));
    harness.get_by_role_and_label(Role::Row, &row(&harness, "API_TOKEN")).click();
    settle(&mut harness);
    let whole = format!("{:#?}", harness.root());
    assert!(!whole.contains("hunter"), "{whole}");
    let model = harness.state().views.compare.model().unwrap();
    assert!(model.lines(ComparePage::Settings).iter().all(|line| !format!("{line:?}").contains("hunter")));
}

#[test]
fn images_that_are_read_failed_or_saved_say_so() {
    let analyses = three();
    let images = vec![
        ready(1, "one", &analyses[0]),
        other(2, "reading", ImageState::Reading(Some(0.4), "2.00 GiB of 5.00 GiB".into())),
        other(3, "broken", ImageState::Failed("cannot open oci:broken: no such file".into())),
        other(4, "report.json", ImageState::Saved),
    ];
    let mut harness = begin(images, [1000.0, 700.0]);
    harness.run_steps(3);
    harness.get_by_label("Add image to compare");
    let saved = harness.get_by_role_and_label(Role::Button, "Compare with report.json");
    assert!(saved.accesskit_node().is_disabled(), "a report holds no files");
    harness.get_by_role_and_label(Role::Button, "Compare with reading").click();
    harness.run_steps(3);
    harness.get_by_label("Waiting for images");
    assert!(harness.query_all_by_label("2.00 GiB of 5.00 GiB").next().is_some());
    harness.get_by_role_and_label(Role::Button, "Cancel loading").click();
    harness.run_steps(3);
    assert_eq!(actions(&mut harness), [Action::CancelTab(2)]);
    harness.state_mut().views.compare.add(3);
    harness.run_steps(3);
    harness.get_by_label("cannot open oci:broken: no such file");
    harness.get_by_role_and_label(Role::Button, "Try again").click();
    harness.run_steps(3);
    assert_eq!(actions(&mut harness), [Action::Again(3)]);
    // It is read: both that are known are compared, and the one that failed is named above.
    harness.state_mut().images.images[1].state = ImageState::Ready(Arc::clone(&analyses[1]));
    settle(&mut harness);
    harness.get_by_label_contains("broken excluded: cannot open");
    assert_eq!(row(&harness, "Layers"), "Layers; A 2; B 2");
    harness.state_mut().images.images.push(ready(5, "three", &analyses[2]));
    harness.state_mut().views.compare.add(5);
    settle(&mut harness);
    assert_eq!(row(&harness, "Layers"), "Layers; A 2; B 2; D 1 −1", "letters are those of the cards");
    harness.state_mut().images.images.pop();
    settle(&mut harness);
    // A saved report that was added by its path goes again.
    harness.state_mut().views.compare.add(4);
    settle(&mut harness);
    assert_eq!(harness.state().views.compare.columns(), [1, 2, 3]);
    harness.get_by_label_contains("Cannot compare report.json");
}

#[test]
fn a_closed_tab_takes_its_column_along_and_a_new_analysis_is_compared_anew() {
    let analyses = three();
    let mut harness = show(&analyses);
    harness.state_mut().views.compare.set_baseline(3);
    settle(&mut harness);
    harness.state_mut().images.images.remove(2);
    settle(&mut harness);
    assert_eq!(names(&harness, Role::RadioButton), ["A one, the baseline", "B two"]);
    assert!(
        row(&harness, "Merged").ends_with("A 4.93 KiB; B 6.24 KiB +1.31 KiB, worse"),
        "the first is the baseline"
    );
    harness.state_mut().images.images[1].state = ImageState::Ready(Arc::clone(&analyses[2]));
    settle(&mut harness);
    assert!(row(&harness, "Merged").ends_with("B 3.92 KiB −1.02 KiB, better"));
    harness.state_mut().images.images.truncate(1);
    settle(&mut harness);
    harness.get_by_label("Add image to compare");
}

/// A comparer that waits until it is let go, counts how often it was asked, and reads some bytes.
fn slow() -> (Comparer, Arc<Mutex<()>>, Arc<AtomicUsize>) {
    let (gate, asked) = (Arc::new(Mutex::new(())), Arc::new(AtomicUsize::new(0)));
    let (closed, count) = (Arc::clone(&gate), Arc::clone(&asked));
    let comparer: Comparer = Arc::new(move |images, cancel, progress| {
        count.fetch_add(1, Ordering::SeqCst);
        progress.add_compared(3 << 20);
        while closed.try_lock().is_err() {
            cancel.check()?;
            std::thread::sleep(Duration::from_millis(1));
        }
        compare(images, cancel, progress)
    });
    (comparer, gate, asked)
}

#[test]
fn comparing_shows_its_bytes_can_be_stopped_and_taken_up_again() {
    let analyses = three();
    let images = vec![ready(1, "one", &analyses[0]), ready(2, "two", &analyses[1])];
    let mut harness = begin(images, [1200.0, 800.0]);
    let (comparer, gate, asked) = slow();
    let closed = gate.lock().unwrap();
    harness.state_mut().views.compare.compare_by(comparer);
    harness.state_mut().views.compare.add(2);
    let begun = Instant::now();
    while harness.query_by_label_contains("3.00 MiB of file content read").is_none() {
        assert!(begun.elapsed() < PATIENCE);
        harness.run_steps(1);
    }
    assert!(harness.query_by_role_and_label(Role::ProgressIndicator, "Comparing images").is_some());
    harness.get_by_role_and_label(Role::Button, "Cancel").click();
    harness.run_steps(3);
    harness.get_by_label("Comparison cancelled");
    assert!(!harness.state().views.compare.is_busy());
    drop(closed);
    click(&mut harness, Role::Button, "Compare again");
    row(&harness, "Merged");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    // Another baseline, page or filter compares nothing again.
    harness.state_mut().views.compare.next_baseline();
    tab(&mut harness, "Files");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[test]
fn a_comparison_that_fails_says_so_and_can_be_tried_again() {
    let analyses = three();
    let images = vec![ready(1, "one", &analyses[0]), ready(2, "two", &analyses[1])];
    let mut harness = begin(images, [1200.0, 800.0]);
    let broken = Arc::new(AtomicBool::new(true));
    let fails = Arc::clone(&broken);
    harness.state_mut().views.compare.compare_by(Arc::new(move |images, cancel, progress| {
        assert!(!fails.load(Ordering::SeqCst), "on purpose");
        compare(images, cancel, progress)
    }));
    harness.state_mut().views.compare.add(2);
    settle(&mut harness);
    harness.get_by_label("Comparison failed");
    broken.store(false, Ordering::SeqCst);
    click(&mut harness, Role::Button, "Try again");
    row(&harness, "Merged");
}

/// Many files in folders of a hundred; every tenth of the second image is another one.
fn many(files: usize) -> [Arc<Analysis>; 2] {
    [0_usize, 1].map(|which| {
        let member = |number: usize| {
            let name = format!("d{:04}/file_{number:06}", number / 100);
            sized(&name, 10 + which * usize::from(number.is_multiple_of(10)))
        };
        analysis_of(&image([(0..files).map(member).collect()]))
    })
}

#[test]
fn rows_out_of_sight_are_not_made_and_the_tree_is_put_in_order_elsewhere() {
    let analyses = many(30_000);
    let mut harness = show(&analyses);
    tab(&mut harness, "Files");
    click(&mut harness, Role::CheckBox, "Only differences");
    let painted = harness.state().views.compare.painted_rows();
    assert!(painted > 10 && painted < 60, "{painted}");
    harness.state_mut().views.compare.open_all(&(Arc::new(|| ()) as _));
    settle(&mut harness);
    let opened = harness.state().views.compare.painted_rows();
    assert!(opened.abs_diff(painted) <= 2, "{opened}, {painted}");
    let model = Arc::clone(harness.state().views.compare.model().unwrap());
    assert_eq!(model.differing(ComparePage::Files), 3_000);
    // What a frame asks for is made on a thread: the frame that types a filter does not wait for it.
    let mut files = ComparedFiles::default();
    let waker: Waker = Arc::new(|| ());
    files.update(&model, "file_00012", true, CompareSort::Difference, &waker);
    assert!(
        files.is_busy() && files.shown().is_none(),
        "60,600 cells are not looked at on the painting thread"
    );
    harness.state_mut().views.compare.focus_search();
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::SearchInput, "Filter comparison").type_text("file_00012");
    harness.run_steps(2);
    settle(&mut harness);
    harness.get_by_label("10 of 30,300 match");
    let filtered = FilteredPaths::new(&model, "file_00012".into(), true, &CancelToken::new()).unwrap();
    assert_eq!((filtered.found, filtered.hidden), (10, 9));
}

#[test]
fn lines_are_ordered_by_difference_size_or_name() {
    let analyses = three();
    let harness = show(&analyses);
    let model: &CompareModel = harness.state().views.compare.model().unwrap();
    let names = |sort| {
        let rows = LineRows::new(model.lines(ComparePage::Layers), "", false, sort);
        assert_eq!((rows.hidden, rows.found), (0, 4));
        rows.rows.len()
    };
    assert_eq!(
        [CompareSort::Order, CompareSort::Size, CompareSort::Name, CompareSort::Difference].map(names),
        [4; 4]
    );
    let changes: Vec<Change> =
        model.changes[1].iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    assert!(changes.contains(&Change::Added) && changes.contains(&Change::Removed), "{changes:?}");
    assert!(model.changes[0].is_empty(), "the baseline differs from nothing");
}

#[test]
fn a_smaller_number_is_no_absence() {
    let mut harness = show(&three());
    let merged = row(&harness, "Merged");
    harness.get_by_role_and_label(Role::Row, &merged).click();
    settle(&mut harness);
    harness.get_by_label("the baseline");
    harness.get_by_label("+1.31 KiB, worse");
    harness.get_by_label("−1.02 KiB, better");
    assert_eq!(harness.get_all_by_label("Value").count(), 3);
    assert!(harness.query_by_label_contains("only in the baseline").is_none());
}
