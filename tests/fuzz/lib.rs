//! The bodies of the fuzz targets.

mod bodies;

/// Runs the target of this name and checks its conditions.
pub fn run(target: &str, bytes: &[u8]) {
    bodies::run(target, bytes);
}
