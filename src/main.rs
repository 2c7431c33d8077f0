//! The program: one call.

fn main() -> std::process::ExitCode {
    avocet::app::entry()
}
