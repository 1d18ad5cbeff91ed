#!/usr/bin/env python3
"""Names of the functions that a start and a question run through, for `dist/functions.txt`.

functions.py PROGRAM > dist/functions.txt

The program serves a hundred hosts under callgrind, once with weights of sites and once with weights of
addresses, and is asked for the last of them. PROGRAM is one of `cargo build --profile dist`, which
inlines as the shipped one does. Names come without the parts that a build chooses, so that they hold for the
next one: the hash of a function, the number of a crate. Where few of the functions of a name have
run, the name stands at the end. Needs valgrind and nm.
"""

import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict

HEAD = """\
# Functions that `adxemu serve` runs through from its start to its first answer, by benches/functions.py.
# build.rs has the linker put them together. A name that no function has any more does no harm.
"""

ADDRESSES = {"192.0.2.1": 50, "192.0.2.2": 30, "192.0.2.3": 20}
POLICY = "gslb policy\n dns cache-proxy\n dns override\n dns best-only\n dns ttl 10\n"
QUESTION = b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03h99\x07example\x03com\x00\x00\x01\x00\x01"


def configuration(form):
    lines, world = [], []
    for number, (address, weight) in enumerate(ADDRESSES.items(), 1):
        if form == "site":
            lines += [f"gslb site site{number}", f" weight {weight}", f" si-name 10.0.0.{number}", "!"]
            world.append(f"emulate si 10.0.0.{number} vip {address} http")
    lines.append("gslb dns zone example.com")
    for host in range(100):
        lines.append(f" host-info h{host} http")
        lines += [f" host-info h{host} ip-list {address}" for address in ADDRESSES]
        if form == "ip":
            lines += [f" host-info h{host} ip-weight {one} {weight}" for one, weight in ADDRESSES.items()]
    policy = f"{POLICY} weighted-{form}\n metric-order set health-check weighted-{form}"
    return "\n".join([*lines, "!", policy, "!", *world, ""])


def executed(program, form):
    """The names of what ran, in the order of the profile."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as place:
        with open(f"{place}/cfg", "w", encoding="ascii") as file:
            file.write(configuration(form))
        command = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={place}/out"]
        command += [program, "serve", "--workers", "1", "--config", f"{place}/cfg", "--dns", f"127.0.0.1:{port}"]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.connect(("127.0.0.1", port))
            client.settimeout(0.5)
            for _ in range(240):
                try:
                    client.send(QUESTION)
                    if client.recv(512)[7]:
                        break
                except (ConnectionRefusedError, TimeoutError):
                    pass
                time.sleep(0.2)
            else:
                server.kill()
                sys.exit("functions.py: no answer")
        server.send_signal(signal.SIGTERM)
        server.wait()
        names = {}
        with open(f"{place}/out", encoding="utf-8", errors="replace") as profile:
            for line in profile:
                called = re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line)
                if called and called[3]:
                    # A function that calls itself has a number behind its name.
                    names[called[2]] = re.sub(r"'\d+$", "", called[3])
        return list(names.values())


def pattern(name):
    """A name without what a build chooses."""
    name = re.sub(r"(\.llvm)?\.\d+$", "", name)
    name = re.sub(r"17h[0-9a-f]{16}E$", "17h", name)
    return re.sub(r"(?<=C)s[0-9A-Za-z]+_(?=\d)", "s*_", name) if name.startswith("_R") else name


def main():
    program = sys.argv[1]
    sizes = {}
    for line in subprocess.run(["nm", "--print-size", program], capture_output=True, text=True, check=True).stdout.splitlines():
        symbol = re.match(r"[0-9a-f]+ ([0-9a-f]+) [tTwW] (_ZN.*|_R.*)", line)
        if symbol:
            sizes[symbol[2]] = int(symbol[1], 16)
    ran = {name: None for form in ("site", "ip") for name in executed(program, form) if name in sizes}
    of_pattern, run = defaultdict(int), defaultdict(int)
    for name, size in sizes.items():
        of_pattern[pattern(name)] += size
        run[pattern(name)] += size if name in ran else 0
    wanted = sorted({pattern(name) for name in ran})
    wanted.sort(key=lambda one: run[one] < of_pattern[one] / 2)
    print(HEAD + "\n".join(wanted))


main()
