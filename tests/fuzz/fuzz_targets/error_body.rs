#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| docdeck_fuzz::run("error_body", bytes));
