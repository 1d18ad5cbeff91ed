#!/bin/sh
# Instructions that one question costs on the short way, without the system: `instructions.sh
# [site|ip] [HOSTS]`. Counted by callgrind, so the same on a noisy machine; a change by more than a
# few percent is a change of the program. Needs valgrind.
set -eu
form=${1:-site} hosts=${2:-1000}
cd "$(dirname "$0")/.."
program=$(cargo bench --bench answer --no-run 2>&1 | sed -n 's/.*Executable.*(\(.*\))$/\1/p')
count() {
  ONLY_SHORT=1 valgrind --tool=callgrind --callgrind-out-file="${OUT:-/dev/null}" \
    "$program" "$form" "$hosts" "$1" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}
few=$(count 3200)
many=$(count 67200)
echo "$form, $hosts hosts: $(( (many - few) / 64000 )) instructions a question"
