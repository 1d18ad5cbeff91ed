"""The steps of Oxidized's model `ironware`, replayed byte by byte (notes on clients, C4)."""

import re
import socket

PROMPT = re.compile(rb"(?i)((telnet|ssh)@.*[>#])\s*\Z")


def version():
    return "steps"


class Wire:
    """Bytes over Telnet or SSH."""

    def __init__(self, emulator, transport):
        self.seen = b""
        if transport == "telnet":
            self.socket = socket.create_connection(("127.0.0.1", emulator.telnet), timeout=60)
            self.send, self.receive = self.socket.sendall, self.socket.recv
        else:
            import paramiko

            self.client = paramiko.SSHClient()
            self.client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
            self.client.connect(
                "127.0.0.1", emulator.ssh, "admin", "one", look_for_keys=False, allow_agent=False,
                timeout=60, banner_timeout=60, auth_timeout=60,
            )
            channel = self.client.invoke_shell()
            channel.settimeout(60)
            self.send, self.receive, self.channel = channel.sendall, channel.recv, channel

    def until(self, pattern):
        """All up to a pattern at the end of what has come."""
        while not re.search(pattern, self.seen):
            more = self.receive(4096)
            assert more, f"ended before {pattern}: {self.seen!r}"
            # Commands of the protocol, which Oxidized's library takes out.
            self.seen += re.sub(rb"\xff[\xfb-\xfe].", b"", more)
        text, self.seen = self.seen, b""
        return text

    def rest(self):
        """All up to the end of the connection."""
        text = self.seen
        while more := self.receive(4096):
            text += more
        return text


def run(emulator, transport, asks_name=False, lands_privileged=False, end=b"\r\n"):
    wire = Wire(emulator, transport)
    if transport == "telnet":
        wire.until(rb"(?i)(Please Enter Login Name|Username).*: ?\Z")
        wire.send(b"admin" + end)
        wire.until(rb"(?i)(Please Enter Password|Password).*: ?\Z")
        wire.send(b"one" + end)
    wire.until(PROMPT)
    # Without waiting for the question.
    if not lands_privileged:
        wire.send(b"enable" + end + (b"admin" + end if asks_name else b"") + b"one" + end)
        wire.until(rb"#\s*\Z")
    for command in [b"", b"skip-page-display", b"terminal length 0"]:
        wire.send(command + end)
        wire.until(PROMPT)
    outputs = []
    for command in [b"show version", b"show chassis", b"show flash", b"show module",
                    b"show running-config"]:
        wire.send(command + end)
        text = wire.until(PROMPT).replace(b"\r\n", b"\n")
        lines = text.split(b"\n")
        assert lines[0] == command, text
        assert PROMPT.search(lines[-1]), text
        outputs.append(lines[1:-1])
        assert not any(b"Invalid input" in line for line in lines), text
    running = outputs[-1][2:]
    assert running[0] == b"!" and running[1].startswith(b"ver "), running
    assert b"end" in running and b" weight 60" in running
    wire.send(b"logout\nexit\nexit\n" if end == b"\n" else b"logout\r\nexit\r\nexit\r\n")
    wire.rest()
    if transport == "ssh":
        assert wire.channel.recv_exit_status() == 0
