#!/usr/bin/env python3
"""CPU an answer of several DNS servers, side by side.

    side_by_side.py [--rounds N] [--rate QUESTIONS] [--hosts N] NAME=COMMAND NAME=COMMAND ...

Starts every server once, on the first core; in COMMAND the word PORT stands for its port. In each
round every server is asked for one second, in an order without a pattern, for hosts of the zone
example.com as benches/peers/adxemu.sh makes them. CPU an answer is the run time of all threads of the
server (/proc/PID/task/*/schedstat) over the answers. The ratio is to the first server, within a
round: its geometric mean, and the factor within which it lies with 95 %.

With --rate dnsperf asks so many questions a second; without it the program in GENERATOR asks as
fast as it can: GENERATOR PORT QUERYFILE SECONDS, which prints completed=N.
"""
import argparse
import glob
import math
import os
import random
import re
import statistics
import subprocess
import tempfile
import time

FIRST_PORT = 5600


def run_time(pid):
    """Microseconds that all threads of a process have run."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path) as file:
                total += int(file.read().split()[0])
        except OSError:  # the thread has ended
            pass
    return total / 1000


def answers(port, queries, rate):
    """Asks for a second and says how many answers came."""
    if rate:
        command = ["dnsperf", "-s", "127.0.0.1", "-p", str(port), "-d", queries, "-l", "1", "-Q", str(rate), "-c", "8"]
    else:
        command = [os.environ["GENERATOR"], str(port), queries, "1"]
    text = subprocess.run(["taskset", "-c", "1", *command], capture_output=True, text=True, timeout=30).stdout
    found = re.search(r"completed=(\d+)|Queries completed:\s+(\d+)", text)
    if not found:
        raise SystemExit(f"nothing came back from port {port}: {text or 'no output of the generator'}")
    return int(found[1] or found[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--rate", type=int, default=0)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("servers", nargs="+", metavar="NAME=COMMAND")
    options = parser.parse_args()
    pick = random.Random(1)
    with tempfile.NamedTemporaryFile("w", suffix=".queries") as queries:
        for _ in range(20_000):
            queries.write("h%06d.example.com A\n" % pick.randrange(options.hosts))
        queries.flush()
        servers = {}
        try:
            for port, server in enumerate(options.servers, FIRST_PORT):
                name, command = server.split("=", 1)
                command = ["taskset", "-c", "0", "sh", "-c", "exec " + command.replace("PORT", str(port))]
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                servers[name] = (process, port)
            time.sleep(4)  # every server has read its data
            cost = {name: [] for name in servers}
            for _ in range(options.rounds):
                for name in pick.sample(sorted(servers), len(servers)):
                    process, port = servers[name]
                    before = run_time(process.pid)
                    count = answers(port, queries.name, options.rate)
                    cost[name].append((run_time(process.pid) - before) / count)
        finally:
            for process, _ in servers.values():
                process.terminate()
            for process, _ in servers.values():
                process.wait(15)
    first = next(iter(servers))
    for name, each in cost.items():
        ratios = [math.log(one / other) for one, other in zip(each, cost[first])]
        within = math.exp(2 * statistics.stdev(ratios) / math.sqrt(len(ratios)))
        median, ratio = statistics.median(each), math.exp(statistics.mean(ratios))
        print(f"{name}: {median:.2f} us an answer, {ratio:.2f} of {first} (within a factor of {within:.2f})")


main()
