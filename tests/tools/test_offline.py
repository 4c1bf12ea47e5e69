"""The network is refused to this process and to every kernel; loopback stays open."""

import asyncio
import socket
import subprocess
import sys
import threading

import pytest

from tests.tools import small_book
from tools import run
from tools.offline.sitecustomize import PROXIES, RULE, NetworkRefused, is_local


@pytest.mark.parametrize("host", ["example.com", "192.0.2.1", "2001:db8::1", b"10.0.0.1"])
def test_other_machines_are_refused(host):
    assert not is_local(host)
    with pytest.raises(NetworkRefused, match="Nothing is fetched"):
        socket.getaddrinfo(host, 80)
    if isinstance(host, str):
        with pytest.raises(NetworkRefused, match="Nothing is fetched"):
            socket.create_connection((host, 80), timeout=1)


def test_no_way_around_names():
    with socket.socket() as tcp, pytest.raises(NetworkRefused):
        tcp.connect(("192.0.2.1", 80))
    with socket.socket(type=socket.SOCK_DGRAM) as udp:
        with pytest.raises(NetworkRefused):
            udp.sendto(b"x", ("192.0.2.1", 53))
        with pytest.raises(NetworkRefused):
            udp.sendmsg([b"x"], [], 0, ("192.0.2.1", 53))
    with pytest.raises(NetworkRefused):
        asyncio.run(asyncio.open_connection("192.0.2.1", 80))


def test_a_handler_for_ordinary_errors_does_not_hide_it():
    assert not issubclass(NetworkRefused, Exception)


def test_no_proxy_carries_a_request_out():
    names = [name for lower in PROXIES for name in (lower, lower.upper())]
    script = f"import os; print([name for name in {names} if name in os.environ])"
    environment = run.environment() | dict.fromkeys(names, "http://127.0.0.1:9")
    command = [sys.executable, "-c", script]
    assert subprocess.check_output(command, env=environment, text=True) == "[]\n"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.8.8", "::1", "", None])
def test_this_machine_is_open(host):
    assert is_local(host)


def test_loopback_answers():
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        with socket.create_connection(server.getsockname(), timeout=5) as client:
            assert client.recv(1) == b""


def test_unix_sockets_are_open(tmp_path):
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        client.connect(str(tmp_path / "s"))


CHILD = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)"
TRIES = f"""\
import socket, subprocess, sys, httpx

def tried(call):
    try:
        call()
    except BaseException as error:
        return type(error).__name__
    return "went out"

print(tried(lambda: socket.create_connection(("192.0.2.1", 80), timeout=1)))
print(tried(lambda: httpx.get("http://example.com", timeout=1)))
child = subprocess.run([sys.executable, "-c", {CHILD!r}], capture_output=True, text=True)
print(child.stderr.splitlines()[-1])
"""


def test_kernels_and_the_processes_they_start_are_refused(tmp_path):
    notebook = small_book.notebook([("code", "tries", {}, TRIES)])
    run.execute(notebook, tmp_path)
    first, second, third = notebook.cells[0].outputs[0].text.splitlines()
    assert (first, second) == ("NetworkRefused", "NetworkRefused")
    assert RULE in third
