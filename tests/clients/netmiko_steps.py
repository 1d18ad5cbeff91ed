"""netmiko `brocade_fastiron`: connect, read, configure, save, connect again, compare."""

import importlib.metadata

VERSION = importlib.metadata.version("netmiko")

LINES = ["gslb site added", " weight 7", " si-name slb-new 192.0.2.3", "gslb policy", " preference"]


def run(emulator, transport):
    from netmiko import ConnectHandler

    kind = "brocade_fastiron" + ("_telnet" if transport == "telnet" else "")
    port = getattr(emulator, transport)

    def connect():
        return ConnectHandler(
            device_type=kind, host="127.0.0.1", port=port, username="admin", password="one",
            secret="one", conn_timeout=60, auth_timeout=60, banner_timeout=60,
            read_timeout_override=60,
        )

    first = connect()
    prompt = first.find_prompt()
    expected = {"ssh": "SSH@ADX-LAB#", "telnet": "telnet@ADX-LAB#"}[transport]
    assert prompt == expected, prompt
    before = first.send_command("show running-config")
    assert before.startswith("!Building configuration...") and before.rstrip().endswith("end")
    configured = first.send_config_set(LINES)
    assert "Error" not in configured and "Invalid" not in configured, configured
    saved = first.send_command("write mem", expect_string="#")
    assert "Write startup-config done." in saved, saved
    after = first.send_command("show running-config")
    first.disconnect()
    second = connect()
    again = second.send_command("show running-config")
    second.disconnect()
    assert again == after and again != before
    for line in LINES:
        assert line in again.splitlines(), again


def run_netiron(emulator, transport):
    """netmiko `brocade_netiron`: it turns pages off before it is privileged, which is refused."""
    from netmiko import ConnectHandler

    assert transport == "ssh"
    client = ConnectHandler(
        device_type="brocade_netiron", host="127.0.0.1", port=emulator.ssh, username="admin",
        password="one", secret="one", conn_timeout=60, auth_timeout=60, banner_timeout=60,
        read_timeout_override=30,
    )
    try:
        text = client.send_command("show running-config")
        assert text.rstrip().endswith("end"), text
    finally:
        client.disconnect()
