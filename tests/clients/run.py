#!/usr/bin/env python3
"""Runs client programs against the emulator and shows which pass.

    run.py PROGRAM [--all] [--matrix FILE]

Exit status 1 if a result is not the one that is expected. With --matrix the table between the
marks of that file is written anew.
"""

import argparse
import concurrent.futures
import dataclasses
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from emulator import Emulator  # noqa: E402

BEGIN, END = "<!-- results begin -->", "<!-- results end -->"


@dataclasses.dataclass
class Trial:
    client: str
    version: str
    transport: str
    variant: str
    steps: object
    # What the client says where it fails at real boxes too; empty if it must pass.
    weakness: str = ""

    def is_as_expected(self, error):
        return self.weakness in error if self.weakness and error else not (self.weakness or error)


def netmiko_trials():
    import netmiko_steps as steps

    for transport in ("ssh", "telnet"):
        for variant in ("P", "U/P", "#"):
            name = "netmiko `brocade_fastiron" + ("_telnet`" if transport == "telnet" else "`")
            yield Trial(name, steps.VERSION, transport, variant,
                        lambda emulator, t=transport: steps.run(emulator, t))


def rancid_trials(variants):
    import rancid_steps as steps

    for transport in ("telnet", "ssh"):
        for variant in variants:
            yield Trial("RANCID `flogin`, `rancid -t foundry`", steps.version(), transport, variant,
                        lambda emulator, t=transport, v=variant: steps.run(emulator, t, v == "#"))


def other_trials():
    import ansible_steps
    import ciscoconfparse_steps
    import netmiko_steps
    import oxidized_steps
    import paste_steps
    import scrapli_steps

    for variant in ("P", "U/P", "#"):
        # It never enables.
        weakness = "" if variant == "#" else "Invalid input"
        yield Trial("netmiko `brocade_netiron`", netmiko_steps.VERSION, "ssh", variant,
                    lambda emulator: netmiko_steps.run_netiron(emulator, "ssh"), weakness)
        # Neither answers the question for a name.
        asks_name = variant == "U/P"
        yield Trial("scrapli-community `ruckus_fastiron`", scrapli_steps.version(), "ssh", variant,
                    lambda emulator: scrapli_steps.run(emulator, "ssh"),
                    "failed escalating privilege" if asks_name else "")
        yield Trial("Ansible `ironware_config`", ansible_steps.version(), "ssh", variant,
                    lambda emulator, v=variant: ansible_steps.run(emulator, "ssh", v != "#"),
                    "unable to elevate privilege" if asks_name else "")
    for transport in ("telnet", "ssh"):
        for variant in ("P", "#"):
            for end, name in ((b"\r\n", "CR LF"), (b"\n", "LF")):
                yield Trial(
                    f"Oxidized `ironware`, its steps, {name}", oxidized_steps.version(), transport,
                    variant,
                    lambda emulator, t=transport, e=end, v=variant: oxidized_steps.run(
                        emulator, t, lands_privileged=v == "#", end=e),
                )
        yield Trial("paste of 2,000 lines", paste_steps.version(), transport, "U/P",
                    lambda emulator, t=transport: paste_steps.run(emulator, t, asks_name=True))
    yield Trial("ciscoconfparse2", ciscoconfparse_steps.version(), "ssh", "#",
                lambda emulator: ciscoconfparse_steps.run(emulator, "ssh"))


def attempt(program, trial):
    """None if it passed, else what went wrong."""
    try:
        with Emulator(program, trial.variant) as emulator:
            trial.steps(emulator)
    except Exception:  # noqa: BLE001: whatever a client raises is its result
        return traceback.format_exc()
    return None


def table(results):
    lines = ["| client | version | transport | login | result |", "| --- | --- | --- | --- | --- |"]
    for trial, error in results:
        result = "passes" if error is None else "fails"
        lines.append(
            f"| {trial.client} | {trial.version} | {trial.transport} | {trial.variant} | {result} |"
        )
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("program")
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--only", default="", help="only clients whose name contains this")
    arguments.add_argument("--matrix", type=Path)
    arguments = arguments.parse_args()
    trials = list(netmiko_trials())
    trials += rancid_trials(("P", "U/P", "#") if arguments.all else ("U/P",))
    if arguments.all:
        trials += other_trials()
    trials = [trial for trial in trials if arguments.only.lower() in trial.client.lower()]
    # They wait more than they work.
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        errors = list(pool.map(lambda trial: attempt(arguments.program, trial), trials))
    results = list(zip(trials, errors))
    print(table(results))
    wrong = [(trial, error) for trial, error in results if not trial.is_as_expected(error)]
    for trial, error in wrong:
        print(f"\n{trial.client}, {trial.transport}, {trial.variant}: not as expected")
        print(error or "it passes, and was expected to fail")
    if arguments.matrix and not wrong:
        before, rest = arguments.matrix.read_text().split(BEGIN)
        _, after = rest.split(END)
        arguments.matrix.write_text(f"{before}{BEGIN}\n{table(results)}\n{END}{after}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
