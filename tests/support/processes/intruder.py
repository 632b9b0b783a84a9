"""Another program that tries to run code through the ports of a dask cluster.

    python -m tests.support.processes.intruder HOST:PORT...

It has no certificate but one that it made itself, and prints the processes in which its code ran.
"""

import asyncio
import os
import pickle
import sys
from contextlib import suppress

from distributed import Security
from distributed.comm import connect

SECONDS = 5.0
OPERATIONS = {"run_function": "scheduler", "run": "worker and nanny"}


async def run_code(address: str, operation: str, security: Security | None) -> int | None:
    """Return the process in which code ran that was sent to an address, None where none did."""
    arguments = security.get_connection_args("client") if security else {}
    with suppress(OSError, asyncio.TimeoutError):
        comm = await connect(address, timeout=SECONDS, **arguments)
        await comm.write({"op": operation, "function": pickle.dumps(os.getpid), "reply": True})
        answer = await comm.read()
        return int(answer["result"]) if isinstance(answer, dict) and "result" in answer else None
    return None


async def main(ports: list[str]) -> None:
    """Try each port with each operation, in plain words and encrypted."""
    ways = (("tcp", None), ("tls", Security.temporary()))
    tries = [
        asyncio.wait_for(run_code(f"{scheme}://{port}", operation, security), 2 * SECONDS)
        for port in ports
        for operation in OPERATIONS
        for scheme, security in ways
    ]
    answers = await asyncio.gather(*tries, return_exceptions=True)
    print(*sorted({answer for answer in answers if isinstance(answer, int)}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
