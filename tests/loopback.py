"""A real HTTP server on loopback that plays a script of bytes and pauses, one per connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

Step = bytes | float  # bytes to send, or seconds to wait before the next step


@dataclass
class Server:
    """Where the server listens and what it was sent, one whole request a connection."""

    url: str
    requests: list[bytes] = field(default_factory=list)


def reply(status: str, body: bytes, *headers: str, length: int | None = None) -> bytes:
    """Return one HTTP response; `length` lies about the size of the body when given."""
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {size}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextmanager
def serve(*steps: Step, scripts: Sequence[Sequence[Step]] = ()) -> Iterator[Server]:
    """Serve `steps` to every connection, or one of `scripts` to each, then close it."""
    plays = [list(script) for script in scripts] or [list(steps)]
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(f"http://127.0.0.1:{listener.getsockname()[1]}")
    stop = threading.Event()

    def play(connection: socket.socket, script: list[Step]) -> None:
        with connection:
            try:
                server.requests.append(_request(connection))
                for step in script:
                    if isinstance(step, bytes):
                        connection.sendall(step)
                    elif stop.wait(step):
                        return
            except OSError:  # the client hung up, which some tests are about
                return

    def accept() -> None:
        count = 0
        while not stop.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            script = plays[min(count, len(plays) - 1)]
            count += 1
            threading.Thread(target=play, args=(connection, script), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        stop.set()
        listener.close()


def _request(connection: socket.socket) -> bytes:
    """Read one request, head and body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    ]
    size = int(lengths[0].split(b":")[1]) if lengths else 0
    while len(body) < size:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
