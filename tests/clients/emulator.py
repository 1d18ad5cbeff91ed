"""The emulator as client programs meet it: started for a login variant, with Telnet and SSH."""

import re
import subprocess
import tempfile
import time
from pathlib import Path

NAME, PASSWORD = "admin", "one"

BODY = """\
hostname ADX-LAB
server real web1 192.0.2.81
 port http
server virtual shop 198.51.100.80
 port http
 bind http web1 http
gslb protocol
gslb site east
 weight 60
 si-name slb-east 192.0.2.1
gslb site west
 si-name slb-west 192.0.2.2
gslb dns zone example.com
 host-info www http
 host-info www ip-list 198.51.100.80
"""

# How a login goes, by the names of docs/clients.md.
VARIANTS = {
    # `enable` asks for a password only.
    "P": f"username {NAME} password {PASSWORD}\naaa authentication login default local\n"
    f"enable super-user-password {PASSWORD}\n",
    # `enable` asks for name and password.
    "U/P": f"username {NAME} password {PASSWORD}\naaa authentication login default local\n"
    "aaa authentication enable default local\n",
    # The login lands at the privileged level.
    "#": f"username {NAME} password {PASSWORD}\naaa authentication login default local\n"
    "aaa authentication login privilege-mode\n",
}

# How long the emulator may take to start.
PATIENCE = 120


class Emulator:
    """A running emulator; use it in a `with` statement."""

    def __init__(self, program, variant, more=""):
        self.folder = tempfile.TemporaryDirectory(prefix="adxemu-clients-")
        self.path = Path(self.folder.name)
        configuration = self.path / "startup.cfg"
        configuration.write_text(BODY + VARIANTS[variant] + more)
        self.log = (self.path / "log").open("w+")
        self.process = subprocess.Popen(
            [program, "serve", "--config", configuration, "--state", self.path / "state",
             "--no-dns", "--ssh", "0", "--telnet", "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log,
        )
        self.ssh = self._port("SSH")
        self.telnet = self._port("Telnet")

    def _port(self, protocol):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.search(rf"{protocol} on 127\.0\.0\.1:(\d+)", self.said())
            if found:
                return int(found.group(1))
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"the emulator did not start:\n{self.said()}")

    def said(self):
        """Its log."""
        return (self.path / "log").read_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        status = self.process.wait(timeout=30)
        self.log.close()
        self.folder.cleanup()
        assert status == 0, f"the emulator ended with {status}"
