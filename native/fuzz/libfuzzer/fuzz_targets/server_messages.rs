#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gateway_fuzz::server_messages::run(bytes));
