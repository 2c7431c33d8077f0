#!/bin/sh
# Draws the pictures of the README anew, from a session of the program in a terminal.
set -eu
cd "$(dirname "$0")/.."
cargo test --test screen -- --ignored the_pictures_of_the_readme_are_drawn_from_a_session
