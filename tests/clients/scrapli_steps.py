"""scrapli with scrapli-community `ruckus_fastiron`, over SSH by paramiko."""

import importlib.metadata


def version():
    return importlib.metadata.version("scrapli-community")


def run(emulator, transport):
    from scrapli import Scrapli

    assert transport == "ssh"
    with Scrapli(
        platform="ruckus_fastiron", host="127.0.0.1", port=emulator.ssh, auth_username="admin",
        auth_password="one", auth_secondary="one", auth_strict_key=False, transport="paramiko",
        timeout_socket=60, timeout_transport=60, timeout_ops=60,
    ) as client:
        assert client.get_prompt() == "SSH@ADX-LAB#", client.get_prompt()
        assert client.send_command("show bogus").failed
        shown = client.send_command("show running-config")
        assert not shown.failed and shown.result.rstrip().endswith("end"), shown.result
        lines = ["gslb site scrapli", "weight 9"]
        configured = client.send_configs(lines)
        assert not configured.failed, configured.result
        assert client.send_configs(["gslb bogus"]).failed
        again = client.send_command("show running-config").result
        assert "gslb site scrapli\n weight 9" in again, again
