//! The program's entry point; everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    docdeck::cli::main()
}
