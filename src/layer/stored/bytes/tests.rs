//! Columns and counts, by themselves.

use super::{Cell, Reader, StoredError, Width, Writer};

fn written<T: Cell>(values: &[T], least: Width) -> Vec<u8> {
    let mut out = Writer::default();
    out.column(values.iter().copied(), least);
    out.finish()
}

/// Bytes of a column besides those of its numbers.
const HEAD: usize = 9;

fn numbers<T: Cell>(from: &mut Reader<'_>, count: usize) -> Result<Vec<T>, StoredError> {
    Ok(from.column(count, Width::Any)?.iter().collect())
}

#[test]
fn a_column_takes_what_its_largest_difference_needs() {
    let columns: [(&[u64], usize); 7] = [
        (&[], 0),
        (&[7, 7, 7], 0),
        (&[1_000_000, 1_000_255], 1),
        (&[1_000_000, 1_000_256], 2),
        (&[0, 0x1_0000], 4),
        (&[5, 0x1_0000_0005], 8),
        (&[0, u64::MAX], 8),
    ];
    for (values, width) in columns {
        let bytes = written(values, Width::Any);
        assert_eq!(bytes.len(), HEAD + width * values.len(), "{values:?}");
        let mut from = Reader::new(&bytes);
        assert_eq!(numbers(&mut from, values.len()).as_deref(), Ok(values));
        assert_eq!(from.finish(), Ok(()));
    }
}

#[test]
fn numbers_of_each_kind_come_back() {
    let signed = [i64::MIN, -1, 0, 1, i64::MAX];
    assert_eq!(numbers(&mut Reader::new(&written(&signed, Width::Any)), 5), Ok(signed.to_vec()));
    let short = [u16::MAX, 0, 300];
    assert_eq!(numbers(&mut Reader::new(&written(&short, Width::Any)), 3), Ok(short.to_vec()));
    // Numbers that lie close together and far from 0.
    let near = [-1_000_i64, -999];
    let bytes = written(&near, Width::Any);
    assert_eq!(bytes.len(), HEAD + 2);
    assert_eq!(numbers(&mut Reader::new(&bytes), 2), Ok(near.to_vec()));
}

#[test]
fn a_number_that_does_not_fit_is_refused() {
    for values in [[0, 0x1_0000], [0x1_0000, 0x1_0000], [u64::MAX, u64::MAX]] {
        let bytes = written(&values, Width::Any);
        assert!(Reader::new(&bytes).column::<u16>(2, Width::Any).is_err(), "{values:?}");
    }
    // The lowest and the largest difference together pass 64 bits.
    let mut bytes = written(&[1_u64, 2], Width::Any);
    bytes[1..HEAD].fill(0xff);
    assert!(Reader::new(&bytes).column::<u64>(2, Width::Any).is_err());
}

#[test]
fn a_count_is_backed_by_bytes() {
    let bytes = written(&[4_u32; 3], Width::Any);
    assert_eq!(numbers(&mut Reader::new(&bytes), 3), Ok(vec![4_u32; 3]));
    assert!(Reader::new(&bytes).column::<u32>(3, Width::Counted).is_err());
    let bytes = written(&[4_u32; 3], Width::Counted);
    assert!(Reader::new(&bytes).column::<u32>(4, Width::Counted).is_err());
    let mut out = Writer::default();
    out.number(u64::MAX);
    let bytes = out.finish();
    assert!(Reader::new(&bytes).count(usize::MAX).is_err());
    assert!(Reader::new(&bytes).bytes().is_err());
    assert!(Reader::new(&bytes).pieces::<32>(usize::MAX).is_err());
}
