// SPDX-License-Identifier: MIT

//! How many threads Rust's standard library would run at once.

fn main() {
    println!("{}", std::thread::available_parallelism().unwrap());
}
