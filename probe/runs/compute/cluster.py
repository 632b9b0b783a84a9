"""The dask cluster that computes: processes or a thread of the app's own, or one by its address."""

import asyncio
import re
import time
from contextlib import suppress

import dask
from dask.system import CPU_COUNT
from distributed import Client, SpecCluster

from probe.errors import SettingsError
from probe.runs.compute.own_cluster import local_processes, local_thread
from probe.settings import settings

TLS_SETTINGS = ("ca-file", "client.cert", "client.key")
"""Dask's own settings, under `distributed.comm.tls`, without which no encrypted cluster answers."""
CONNECT_SECONDS = 5.0
"""Seconds to wait for a cluster to answer."""
IDLE_SECONDS = 120.0
"""Seconds without a run after which our own cluster ends: idle it takes a twentieth of a core."""
UNREACHABLE = (OSError, asyncio.TimeoutError)  # on Python 3.10 the second is no OSError


class Cluster:
    """The cluster at an address, or one of our own that starts when it is needed first."""

    def __init__(self, address: str | None, in_process: bool = False) -> None:
        """Start nothing yet; without an address and `in_process` it is processes of our own.

        Raises SettingsError where NLI_CLINIC_WORKERS is no number, or an encrypted cluster is
        named without the certificates.
        """
        _check_certificates(address)
        self._address = address
        self._processes = 0 if address or in_process else worker_count()
        self._own: SpecCluster | None = None
        self._client: Client | None = None
        self._used = time.monotonic()

    @property
    def address(self) -> str | None:
        """Where the scheduler is; None before our own has started."""
        return str(self._own.scheduler_address) if self._own else self._address

    def connect(self) -> Client | None:
        """Return a client that is connected, None where nothing answers."""
        if self._client is not None and self._client.status != "running":
            self._disconnect()
        if self._client is None:
            if not self._address and self._own is None:
                self._own = local_processes(self._processes) if self._processes else local_thread()
            with suppress(*UNREACHABLE):
                self._client = Client(
                    self._own or self._address, timeout=CONNECT_SECONDS, set_as_default=False
                )
        return self._client

    def lacks_workers(self) -> bool:
        """Whether a cluster that is not our own answers and has nobody to compute."""
        if not self._address or self._client is None or self._client.status != "running":
            return False
        with suppress(*UNREACHABLE):
            return not self._client.nthreads()
        return False

    def rest(self, busy: bool) -> None:
        """End our own cluster where it was not busy for a while; `connect` starts another."""
        if busy or self._own is None:
            self._used = time.monotonic()
        elif time.monotonic() - self._used >= IDLE_SECONDS:
            self.close()

    def close(self) -> None:
        """Leave the cluster; our own ends."""
        self._disconnect()
        own, self._own = self._own, None
        if own is not None:
            with suppress(*UNREACHABLE):  # a thread of dask's own that does not end in time
                own.close()

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(*UNREACHABLE):
                client.close(timeout=CONNECT_SECONDS)


def worker_count() -> int:
    """Return how many processes compute: NLI_CLINIC_WORKERS, or one for every two cores.

    Raises SettingsError where that is no number above 0.
    """
    return settings().workers or max(1, CPU_COUNT // 2)


def _check_certificates(address: str | None) -> None:
    if not (address or "").startswith("tls://"):
        return
    missing = [name for name in TLS_SETTINGS if not dask.config.get(f"distributed.comm.tls.{name}")]
    if missing:
        names = [re.sub(r"\W", "_", name.replace(".", "__")).upper() for name in missing]
        variables = " and ".join(f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name in names)
        raise SettingsError(f"ENGINE is {address!r}: set {variables} to files of your cluster")
