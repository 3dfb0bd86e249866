//! Samples of the slow tests, so that a usual run stays short.

/// Whether the slow tests run all their cases, because `DOCDECK_SLOW_TESTS` is set.
pub(crate) fn runs_all_cases() -> bool {
    std::env::var_os("DOCDECK_SLOW_TESTS").is_some()
}

/// Returns all cases if `DOCDECK_SLOW_TESTS` is set, otherwise every `step`-th one.
pub(crate) fn sample<T>(cases: impl IntoIterator<Item = T>, step: usize) -> Vec<T> {
    cases.into_iter().step_by(if runs_all_cases() { 1 } else { step }).collect()
}
