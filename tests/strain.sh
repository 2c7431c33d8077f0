#!/bin/sh
# Runs the group `strain` by hand: tests that take long or measure, which `cargo test` leaves out.
# `tests/inproc/test_targets.rs` checks that each `#[ignore = "strain: …"]` stands here.
#
#   tests/strain.sh [OPTION…]        options of `cargo test`, such as --release, which the measurements need
set -u
cd "$(dirname "$0")/.."

failed=0
# strain TARGET TEST: prints what it measures.
strain() {
    echo "== $1 $2"
    # shellcheck disable=SC2086 # the options are several words
    cargo test --quiet $options --test "$1" -- --ignored --exact "$2" --nocapture || failed=1
}
options=$*

# 200 chats at once, each a turn of 20 events: the time from message to first edit, and the memory.
strain gateway telegram::load_of_two_hundred_chats_is_answered_once_each
# How long a checkpoint takes in workspaces of several sizes.
strain inproc checkpoints::a_repository_of_100_000_files_is_looked_at_quickly
# Ten thousand scripts that were damaged at random; a slice of them runs with every test.
strain inproc mutated_scripts::ten_thousand_damaged_scripts_neither_panic_nor_hang
# Every harmless option with every operand that leads to something closed.
strain system differential::no_option_makes_a_step_show_or_change_protected_files

exit "$failed"
