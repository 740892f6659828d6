//! Runs of zeros.

/// Bytes compared at once: the compiler makes vectors of them.
const BLOCK: usize = 256;

/// Number of zeros at the start of `bytes`.
pub fn leading_zeros(bytes: &[u8]) -> usize {
    let mut passed = 0;
    for block in bytes.chunks(BLOCK) {
        if block.iter().fold(0, |all, byte| all | byte) != 0 {
            return passed + block.iter().take_while(|byte| **byte == 0).count();
        }
        passed += block.len();
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::leading_zeros;

    #[test]
    fn zeros_are_counted_across_blocks() {
        for length in [0, 1, 255, 256, 257, 1_000] {
            let mut bytes = vec![0; length];
            assert_eq!(leading_zeros(&bytes), length);
            for at in (0..length).step_by(51) {
                bytes[at] = 1;
                assert_eq!(leading_zeros(&bytes), at);
                bytes[at] = 0;
            }
        }
    }
}
