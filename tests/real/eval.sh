#!/usr/bin/env bash
# Runs the ten tasks of assets/eval with their recorded replies. Needs cargo, python3, node, go and a
# C compiler. Run by hand:
#
#   tests/real/eval.sh        AVOCET=target/debug/avocet
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
avocet=${AVOCET:-$here/../../target/debug/avocet}
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
AVOCET_HOME=$root "$avocet" eval "$here/../../assets/eval" --recorded --jobs 2
