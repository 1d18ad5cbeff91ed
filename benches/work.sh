#!/bin/sh
# Counts the instructions of the pieces of work in examples/work.rs, with those of an empty
# appliance taken off. Counts are the same on a busy machine and on an idle one, within a few
# hundredths of a per cent. Needs valgrind.
#
#     benches/work.sh            all pieces
#     benches/work.sh load 2000  one of them
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet --release --example work
work=$(cargo metadata --format-version 1 --no-deps |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/examples/work

count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work" "$@" 2>&1 |
        sed -n 's/.*Collected : *//p'
}

nothing=$(count nothing)
report() {
    all=$(count "$@")
    before=$nothing
    # What is gathered before the first question is no part of a choice.
    if [ "$1" = choose ]; then before=$(count choose 0); fi
    each=$(((all - before) / $2))
    echo "$1 $2: $((all - before)) instructions, $each each"
}

if [ $# -eq 2 ]; then
    report "$1" "$2"
    exit
fi
for size in 2000 4000 20000 40000; do report load $size; done
for size in 2000 4000 20000; do report paste $size; done
for size in 1000 10000; do report line $size; done
for size in 1000 2000; do report answer $size; done
report choose 100000
