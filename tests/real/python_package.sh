# Finds the program and installs a package of PyPI into a folder of its own, once. For the scripts beside
# it, which read it with the folder, the package's program and the package:
#
#   here=FOLDER; . "$here/python_package.sh" harbor bin/harbor harbor==0.26.0
repository=$(cd "$here/../.." && pwd)
avocet=$(realpath "${AVOCET:-$repository/target/debug/avocet}")
[ -x "$avocet" ] || { echo "no program at $avocet: cargo build" >&2; exit 2; }
real=${REAL:-$(mktemp -d)}
if [ ! -x "$real/$1/$2" ]; then
    "${PYTHON:-python3}" -m venv "$real/$1"
    "$real/$1/bin/pip" install -q "$3"
fi
