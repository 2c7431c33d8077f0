#!/bin/sh
# Draws the pictures of the README anew, from frames of the screen.
set -eu
cd "$(dirname "$0")/.."
cargo test --test inproc -- --ignored the_pictures_of_the_readme_are_drawn_from_frames
