//! Work that is spread over threads.

use cutaway::jobs::map_stretches;

#[test]
fn stretches_keep_the_order_of_their_items() {
    for count in [0_usize, 1, 10, 11, 1_000, 4_001] {
        let items: Vec<usize> = (0..count).collect();
        // One item may give none, or several.
        let work =
            |items: &[usize]| items.iter().flat_map(|item| std::iter::repeat_n(*item, item % 3)).collect();
        for least in [0, 1, 10, 5_000] {
            let found: Vec<usize> = map_stretches(&items, least, work);
            assert_eq!(found, work(&items), "{count} items, at least {least}");
        }
    }
}
