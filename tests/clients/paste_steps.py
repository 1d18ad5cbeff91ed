"""2,000 lines in one write, by Telnet and by the ssh program's own protocol (paramiko)."""

from oxidized_steps import PROMPT, Wire


def version():
    return "steps"


def run(emulator, transport, asks_name=False, lands_privileged=False):
    wire = Wire(emulator, transport)
    if transport == "telnet":
        wire.until(rb"Login Name: \Z")
        wire.send(b"admin\r")
        wire.until(rb"Password: \Z")
        wire.send(b"one\r")
    wire.until(PROMPT)
    if not lands_privileged:
        wire.send(b"enable\r" + (b"admin\r" if asks_name else b"") + b"one\r")
        wire.until(rb"#\s*\Z")
    wire.send(b"skip-page-display\rconfigure terminal\r")
    wire.until(rb"\(config\)#\Z")
    paste = b"".join(b"gslb site s%d\n weight %d\n" % (n, n % 99 + 1) for n in range(1000))
    wire.send(paste)
    wire.until(rb"\(config-gslb-site-s999\)# weight \d+\r\n.*\(config-gslb-site-s999\)#\Z")
    wire.send(b"end\rshow running-config\r")
    text = wire.until(rb"\nend\r\n\r\n[^\n]*#\Z").decode().replace("\r\n", "\n")
    for number in range(1000):
        assert f"\ngslb site s{number}\n weight {number % 99 + 1}\n" in text, number
    wire.send(b"exit\rexit\r")
    wire.rest()
