#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| avocet_fuzz::holds::calls(data));
