"""Refuse the network in any Python process that has this folder on its PYTHONPATH.

Python imports a module of this name when it starts, so kernels and the Python processes they
start are covered without their help. Loopback and Unix sockets stay open: the chapters talk to
real servers on this machine. An audit hook cannot be taken out again by the code it watches.
It sees what goes through Python's `socket` module; extension code with sockets of its own it
does not.
"""

import ipaddress
import os
import socket
import sys

RULE = "Nothing is fetched: chapters and tests run with the network refused (loopback is open)"
CONNECTS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
LOOKUPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy")


class NetworkRefused(BaseException):
    """Something reached for another machine; not an Exception, so no handler can hide it."""


def is_local(host: object) -> bool:
    """Say whether a host, as the socket functions take it, is this machine."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host in (None, "", "localhost", "localhost.localdomain", socket.gethostname()):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


def refuse(event: str, args: tuple[object, ...]) -> None:
    """Raise NetworkRefused when an audit event names another machine."""
    if event in LOOKUPS:
        host = args[0]
    elif event in CONNECTS and isinstance(args[1], tuple):
        if getattr(args[0], "family", None) not in (socket.AF_INET, socket.AF_INET6):
            return
        host = args[1][0]
    else:
        return
    if not is_local(host):
        raise NetworkRefused(f"{RULE}; {event} asked for {host!r}")


# A proxy on loopback would carry a request out of the machine all the same.
for name in PROXIES:
    os.environ.pop(name, None)
    os.environ.pop(name.upper(), None)
sys.addaudithook(refuse)
