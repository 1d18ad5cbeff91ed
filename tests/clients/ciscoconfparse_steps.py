"""ciscoconfparse2 reads the printed configuration: parents and children by their indentation."""

import importlib.metadata


def version():
    return importlib.metadata.version("ciscoconfparse2")


def run(emulator, transport):
    from ciscoconfparse2 import CiscoConfParse
    from netmiko import ConnectHandler

    assert transport == "ssh"
    client = ConnectHandler(
        device_type="brocade_fastiron", host="127.0.0.1", port=emulator.ssh, username="admin",
        password="one", secret="one", conn_timeout=60, auth_timeout=60, banner_timeout=60,
        read_timeout_override=60,
    )
    text = client.send_command("show running-config")
    client.disconnect()
    parsed = CiscoConfParse(text.splitlines())
    site = parsed.find_objects(r"^gslb site east")
    assert len(site) == 1, text
    children = [child.text for child in site[0].children]
    assert children == [" weight 60", " si-name slb-east 192.0.2.1"], children
    zone = parsed.find_objects(r"^gslb dns zone")
    assert len(zone[0].children) == 2, text
