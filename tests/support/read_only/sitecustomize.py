"""Put on PYTHONPATH, makes the root read only for every Python process: all but WRITABLE's folders.

What was tried elsewhere is written to the file that WRITE_LOG names, and refused as the system
refuses it.
"""

import errno
import os
import sys

LOG = os.environ["WRITE_LOG"]
WRITABLE = (*os.environ["WRITABLE"].split(os.pathsep), LOG, "/dev/", "/proc/")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
PATHS = {"os.mkdir": (0,), "os.rename": (0, 1), "os.link": (1,), "os.symlink": (1,),
         "os.truncate": (0,), "sqlite3.connect": (0,)}  # fmt: skip
"""By the event: the places of its arguments that are written to."""


def written(event: str, arguments: "tuple[object, ...]") -> "list[str]":
    """Return the paths that an event would write to; those beside an open folder are its own."""
    places = PATHS.get(event, ())
    if event == "open":
        flags = arguments[2]
        places = (0,) if isinstance(flags, int) and flags & WRITING else ()
    paths = [arguments[place] for place in places]
    return [os.fsdecode(path) for path in paths if isinstance(path, (str, bytes, os.PathLike))]


def watch(event: str, arguments: "tuple[object, ...]") -> None:
    """Refuse to write outside the folders."""
    beside = event.startswith("os.") and arguments[-1] != -1
    for path in written(event, arguments):
        name = os.path.abspath(path)
        if not name.startswith(WRITABLE) and (os.path.isabs(path) or not beside):
            with open(LOG, "a", encoding="utf-8") as log:
                log.write(f"{event} {name}\n")
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), name)


sys.addaudithook(watch)
