"""RANCID: `flogin -c`, then `rancid -t foundry` twice without a difference."""

import os
import re
import subprocess

FOLDER = "/usr/lib/rancid/bin"


def version():
    found = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "rancid"], capture_output=True, text=True,
        check=False,
    )
    return found.stdout or None


def run(emulator, transport, lands_privileged=False):
    port = getattr(emulator, transport)
    home = emulator.path / f"home-{transport}"
    home.mkdir()
    # flogin takes a program without arguments.
    ssh = home / "ssh"
    ssh.write_text(
        "#!/bin/sh\nexec /usr/bin/ssh -o StrictHostKeyChecking=no -o LogLevel=ERROR "
        '-o UserKnownHostsFile=/dev/null "$@"\n'
    )
    ssh.chmod(0o700)
    login = home / ".cloginrc"
    login.write_text(
        "add user 127.0.0.1 {admin}\nadd password 127.0.0.1 {one} {one}\n"
        f"add method 127.0.0.1 {{{transport}:{port}}}\nadd sshcmd 127.0.0.1 {{{ssh}}}\n"
        + ("add autoenable 127.0.0.1 {1}\n" if lands_privileged else "")
    )
    login.chmod(0o600)
    environment = {**os.environ, "HOME": str(home), "PATH": f"{FOLDER}:{os.environ['PATH']}",
                   "TERM": "network"}

    def call(*command):
        done = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=300,
            check=False, stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    shown = call("flogin", "-c", "show version;show running-config", "127.0.0.1")
    assert "System Version 12.4" in shown and "\nend\n" in shown, shown
    texts = []
    for _ in range(2):
        said = call("rancid", "-t", "foundry", "127.0.0.1")
        assert "missed" not in said and "not found" not in said, said
        text = (home / "127.0.0.1.new").read_text()
        texts.append(text)
    assert texts[0] == texts[1], "two runs differ"
    assert texts[0].rstrip().endswith("end"), texts[0]
    assert not re.search(r"(?i)invalid input|error", texts[0]), texts[0]
    assert "gslb site east" in texts[0]
