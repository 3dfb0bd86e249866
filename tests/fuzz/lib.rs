//! The bodies as the fuzz targets take them.

mod bodies;

/// Reads the bytes as the target of this name does, and checks what has to hold.
pub fn run(target: &str, bytes: &[u8]) {
    bodies::run(target, bytes);
}
