//! The program: arguments, wiring and exit code.

fn main() {}
