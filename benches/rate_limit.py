#!/usr/bin/env python3
"""Instructions that a question over UDP costs with and without the rate limit, socket calls included.

rate_limit.py PROGRAM [QUESTIONS]

The program serves one host under callgrind and is asked in windows of 32, half as many questions
and then all of them; what the second half costs is divided by its number. So the count does not
depend on the machine, and hardly on how its system wakes the program. Needs valgrind.
"""

import re
import signal
import socket
import subprocess
import sys
import tempfile

CONFIGURATION = """gslb dns zone example.com
 host-info www http
 host-info www ip-list 192.0.2.1
 host-info www ip-list 192.0.2.2
 host-info www ip-list 192.0.2.3
gslb policy
 dns cache-proxy
 dns override
"""

QUESTION = b"\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03www\x07example\x03com\x00\x00\x01\x00\x01"

# The last one is always over the limit, and every reply is cut, so that each question has one.
CASES = [
    ("without a limit", []),
    ("below the limit", ["--rate-limit", "1000000"]),
    ("over the limit, replies cut", ["--rate-limit", "1", "--rate-limit-slip", "1"]),
]


def ask(address, count):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(60)
        client.connect(address)
        for first in range(0, count, 32):
            window = range(first, min(first + 32, count))
            for number in window:
                client.send((number % 65536).to_bytes(2, "big") + QUESTION)
            for _ in window:
                assert client.recv(512)[3] & 0x0F == 0


def instructions(program, options, count):
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as configuration:
        configuration.write(CONFIGURATION)
        configuration.flush()
        running = subprocess.Popen(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "serve"]
            + ["--config", configuration.name, "--dns", "127.0.0.1:0", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            said = ""
            while not (found := re.search(r"DNS answering on ([\d.]+):(\d+)", said)):
                line = running.stderr.readline()
                assert line, said
                said += line
            ask((found[1], int(found[2])), count)
            running.send_signal(signal.SIGTERM)
            said = running.stderr.read()
            return int(re.search(r"Collected : (\d+)", said)[1])
        finally:
            running.kill()
            running.wait()


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 64_000
    for what, options in CASES:
        half = instructions(program, options, count // 2)
        whole = instructions(program, options, count)
        print(f"{what}: {(whole - half) / (count - count // 2):.0f} instructions a question")


main()
