"""Ansible `community.network.ironware_config`: changed, then unchanged."""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

PLAYBOOK = """\
- hosts: all
  gather_facts: false
  tasks:
    - community.network.ironware_config:
        parents: ["gslb site ansible"]
        lines: ["weight 11"]
      register: result
    - community.network.ironware_command:
        commands: ["show running-config"]
      register: shown
"""


def version():
    return importlib.metadata.version("ansible")


def run(emulator, transport, becomes=True):
    assert transport == "ssh"
    folder = emulator.path / "ansible"
    folder.mkdir()
    (folder / "play.yml").write_text(PLAYBOOK)
    become = (
        "ansible_become=true ansible_become_method=enable ansible_become_password=one"
        if becomes else ""
    )
    (folder / "hosts").write_text(
        f"adx ansible_host=127.0.0.1 ansible_port={emulator.ssh} ansible_user=admin "
        "ansible_password=one ansible_connection=ansible.netcommon.network_cli "
        "ansible_network_os=community.network.ironware ansible_network_cli_ssh_type=paramiko "
        f"ansible_command_timeout=60 ansible_connect_timeout=60 {become}\n"
    )
    environment = {
        **os.environ, "HOME": str(folder), "ANSIBLE_HOST_KEY_CHECKING": "False",
        "ANSIBLE_STDOUT_CALLBACK": "json", "ANSIBLE_DEPRECATION_WARNINGS": "False",
        "ANSIBLE_LOCALHOST_WARNING": "False", "ANSIBLE_PARAMIKO_LOOK_FOR_KEYS": "False",
    }
    program = Path(sys.executable).parent / "ansible-playbook"
    changed = []
    for _ in range(2):
        done = subprocess.run(
            [program, "-i", "hosts", "play.yml"], cwd=folder, env=environment,
            capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads(done.stdout[done.stdout.index("{"):])
        tasks = [task["hosts"]["adx"] for play in report["plays"] for task in play["tasks"]]
        changed.append(tasks[0]["changed"])
        assert "gslb site ansible" in tasks[1]["stdout"][0], tasks[1]
    assert changed == [True, False], changed
