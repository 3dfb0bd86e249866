//! Random numbers from a seed (splitmix64). The same seed gives the same jobs and page views on every machine, because
//! the generator uses no floating-point functions, which differ between platforms. Not for secrets.

#[derive(Debug, Clone)]
pub(super) struct SeededRng(u64);

/// Hashes a number with the final step of splitmix64, so that similar inputs give unrelated outputs.
pub(super) fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

impl SeededRng {
    /// Creates the generator for one stream of random numbers. The streams of a seed are independent of each other.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        Self(mix(seed) ^ mix(!stream))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a random number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u32, high: u32) -> u32 {
        let span = u64::from(high.saturating_sub(low)) + 1;
        low.saturating_add(u32::try_from(self.next() % span).unwrap_or(0))
    }

    /// Returns true with a probability of `permille` / 1000.
    pub(super) fn chance(&mut self, permille: u32) -> bool {
        self.between(0, 999) < permille
    }

    /// Returns a random number from 0 up to, but not including, 1.
    pub(super) fn random_fraction(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap_or(0)) / 4_294_967_296.0
    }

    /// Puts the list into a random order.
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let high = u32::try_from(last).unwrap_or(u32::MAX);
            let other = usize::try_from(self.between(0, high)).unwrap_or(0);
            list.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_stream_give_the_same_numbers() {
        let take = |seed, stream| {
            let mut rng = SeededRng::new(seed, stream);
            [rng.next(), rng.next(), rng.next()]
        };
        assert_eq!(take(7, 1), take(7, 1));
        assert_ne!(take(7, 1), take(8, 1));
        assert_ne!(take(7, 1), take(7, 2));
    }

    #[test]
    fn random_numbers_include_both_limits_and_nothing_outside() {
        let mut rng = SeededRng::new(1, 1);
        let drawn: Vec<u32> = (0..500).map(|_| rng.between(3, 6)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&3), Some(&6)));
        assert!((0..500).all(|_| rng.random_fraction() < 1.0));
    }
}
