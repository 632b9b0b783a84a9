"""Put on PYTHONPATH, keeps every Python process of the app from any host but this one.

What was tried is written to the file that NETWORK_LOG names, and refused.
"""

import os
import sys

LOCAL = ("127.", "::1", "localhost", "0.0.0.0", "")


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse to look up or connect to another host."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else ""  # a path is a local socket
    else:
        return
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    if name.startswith(LOCAL[:3]) or name in LOCAL:
        return
    with open(os.environ["NETWORK_LOG"], "a", encoding="utf-8") as log:
        log.write(f"{event} {name}\n")
    raise PermissionError(f"no network in tests: {event} {name}")


sys.addaudithook(watch)
