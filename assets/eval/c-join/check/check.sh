set -e
cc -Wall -o check-join join.c check.c
./check-join
