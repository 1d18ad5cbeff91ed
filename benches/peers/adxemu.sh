#!/bin/sh
# This program for the comparison with other DNS servers: `adxemu.sh PORT DATADIR RUNDIR` answers
# over UDP on 127.0.0.1:PORT in the foreground and ends on SIGTERM.
#
# DATADIR holds gdnsd/weighted.cfg, a line a host:
#   NAME => { s0 => [ ADDRESS, WEIGHT ], s1 => [ ADDRESS, WEIGHT ], ... }
# The configuration says the same of the zone example.com in our words. It is made once, beside the data
# of the other servers, which is in their form already: later starts measure the program alone.
#
# ADXEMU    the program (default: target/release/adxemu of this repository)
# FORM      site: weights of sites (default); ip: weights of addresses
# WORKERS   threads that answer (default: 1, as the others are given)
set -eu
port=$1 data=$2 run=$3
here=$(cd "$(dirname "$0")/../.." && pwd)
form=${FORM:-site}
mkdir -p "$run"
configuration=$data/adxemu-$form.cfg
if ! [ -e "$configuration" ]; then
awk -v form="$form" '
  {
    gsub(/[][{},]/, " ")
    hosts[++count] = $1
    # NAME => s0 => ADDRESS WEIGHT s1 => ADDRESS WEIGHT
    addresses[count] = (NF - 2) / 4
    for (i = 1; i <= addresses[count]; i++) {
      address[count, i] = $(4 * i + 1)
      weight[count, i] = $(4 * i + 2)
      if (!(address[count, i] in site)) {
        site[address[count, i]] = ++sites
        vip[sites] = address[count, i]
        site_weight[sites] = weight[count, i]
      }
    }
  }
  END {
    for (s = 1; form == "site" && s <= sites; s++) {
      print "gslb site site" s
      print " weight " site_weight[s]
      print " si-name 10.0.0." s
      print "!"
    }
    print "gslb dns zone example.com"
    for (h = 1; h <= count; h++) {
      print " host-info " hosts[h] " http"
      for (i = 1; i <= addresses[h]; i++) print " host-info " hosts[h] " ip-list " address[h, i]
      for (i = 1; form == "ip" && i <= addresses[h]; i++)
        print " host-info " hosts[h] " ip-weight " address[h, i] " " weight[h, i]
    }
    print "!"
    print "gslb policy"
    print " dns cache-proxy"
    print " dns override"
    print " dns best-only"
    print " dns ttl 10"
    print " weighted-" form
    print " metric-order set health-check weighted-" form
    print "!"
    for (s = 1; form == "site" && s <= sites; s++) print "emulate si 10.0.0." s " vip " vip[s] " http"
  }
' "$data/gdnsd/weighted.cfg" > "$run/new.cfg"
mv "$run/new.cfg" "$configuration"
fi
exec "${ADXEMU:-$here/target/release/adxemu}" serve --workers "${WORKERS:-1}" \
  --config "$configuration" --dns "127.0.0.1:$port"
