//! Prints the fingerprint of every case, as `golden/bits.txt` holds them.
#![allow(clippy::print_stdout, reason = "what it prints is the file")]

fn main() {
    for case in headroom_tests::cases() {
        println!("{}", headroom_tests::line(&case));
    }
}
