#![no_main]

#[allow(dead_code, reason = "the other targets are there too")]
#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::master_file(data));
