#!/usr/bin/env python3
"""changes.py PROGRAM GENERATOR [HOSTS [SECONDS]]: answers while the configuration changes.

Runs PROGRAM (adxemu) with HOSTS hosts (1,000) on one core and GENERATOR on another, first in
peace, then while a weight and the health of an address change a hundred times a second each, and
prints answers a second, CPU per answer and the worst latency of both. GENERATOR is called as
GENERATOR PORT QUERYFILE SECONDS and prints qps= completed= lost= avg= max= (seconds).
"""
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

program, generator = sys.argv[1:3]
hosts = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 5
PORT, SITES = 25398, [("192.0.2.1", 50), ("192.0.2.2", 30), ("192.0.2.3", 20)]


def configuration():
    for number, (_, weight) in enumerate(SITES, 1):
        yield f"gslb site site{number}\n weight {weight}\n si-name 10.0.0.{number}\n!\n"
    yield "gslb dns zone example.com\n"
    for host in range(hosts):
        yield f" host-info h{host:06} http\n"
        for vip, _ in SITES:
            yield f" host-info h{host:06} ip-list {vip}\n"
    yield "!\ngslb policy\n dns cache-proxy\n dns override\n dns best-only\n"
    yield " weighted-site\n metric-order set health-check weighted-site\n!\n"
    for number, (vip, _) in enumerate(SITES, 1):
        yield f"emulate si 10.0.0.{number} vip {vip} http\n"


def cpu(pid):
    with open(f"/proc/{pid}/schedstat") as f:
        f.read()
    return sum(int(open(f"/proc/{pid}/task/{task}/schedstat").read().split()[0])
               for task in os.listdir(f"/proc/{pid}/task")) / 1e9


def load(pid, queries):
    before = cpu(pid)
    out = subprocess.run(["taskset", "-c", "1", generator, str(PORT), queries, str(seconds)],
                         capture_output=True, text=True, check=True).stdout
    value = {k: float(v) for k, v in re.findall(r"(\w+)=([\d.]+)", out)}
    each = (cpu(pid) - before) / value["completed"] * 1e6
    return (f"{value['qps'] / 1e3:.0f} kQPS, {each:.2f} us of CPU an answer, "
            f"worst {value['max'] * 1e3:.1f} ms, lost {value['lost']:.0f}")


with tempfile.TemporaryDirectory() as folder:
    config, queries = os.path.join(folder, "adxemu.cfg"), os.path.join(folder, "queries")
    with open(config, "w") as f:
        f.writelines(configuration())
    with open(queries, "w") as f:
        f.writelines(f"h{i * 7919 % hosts:06}.example.com A\n" for i in range(20000))
    server = subprocess.Popen(
        ["taskset", "-c", "0", program, "--ephemeral", "--config", config, "--workers", "1",
         "--dns", f"127.0.0.1:{PORT}"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
    try:
        time.sleep(0.5 + hosts / 20000)
        print("in peace:  ", load(server.pid, queries))
        stop, changes = threading.Event(), 0

        def change():
            global changes
            server.stdin.write("enable\nconfigure terminal\n")
            start = time.monotonic()
            while not stop.is_set():
                state = "down" if changes % 2 else "up"
                server.stdin.write(f"gslb site site1\nweight {40 + changes % 20}\nexit\n"
                                   f"emulate health 192.0.2.2 {state}\n")
                server.stdin.flush()
                changes += 1
                time.sleep(max(0, start + changes / 100 - time.monotonic()))

        thread = threading.Thread(target=change)
        thread.start()
        began = time.monotonic()
        print("in changes:", load(server.pid, queries))
        stop.set()
        thread.join()
        print(f"{changes / (time.monotonic() - began):.0f} weights and as many states a second")
    finally:
        server.terminate()
        server.wait()
