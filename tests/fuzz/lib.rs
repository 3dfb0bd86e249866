//! Makes the bodies of the fuzz targets available to the fuzzer's binaries.

mod bodies;

/// Runs the target with this name, and panics if one of its conditions doesn't hold.
pub fn run(target: &str, bytes: &[u8]) {
    bodies::run(target, bytes);
}
