//! What single parts cost, in one program: `cargo bench --bench inside -- transcript` runs one module.

mod context;
mod diff;
#[path = "../../tests/support/machine.rs"]
mod machine;
mod palette;
mod sandbox;
mod script;
mod store;
mod stream;
mod transcript;
mod turn;

// What `machine` uses of the module above it.
use avocet::safety::tools::digest;
use avocet::safety::{Contents, Machine, PathKind, Program};

/// Counts what is held, for the figures of memory.
#[global_allocator]
static MEMORY: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}
