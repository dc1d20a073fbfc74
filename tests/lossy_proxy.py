"""A proxy before a database, which loses the answer to a statement when it is told to."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class LossyProxy:
    """Forwards connections to a server, until `statement` was passed on: then it cuts them."""

    def __init__(self, target: int) -> None:
        self.statement = b""
        self.losses = 0
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def serve(self) -> None:
        """Forward connections until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _forward(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._target)) as server:
            is_lost = False
            while True:
                ready, _, _ = select.select([client, server], [], [])
                data = ready[0].recv(1_000_000)
                if not data:
                    return
                if ready[0] is client:
                    is_lost = bool(self.losses and self.statement in data)
                    server.sendall(data)
                elif is_lost:  # by now, the server has done it
                    self.losses -= 1
                    return
                else:
                    client.sendall(data)


@contextmanager
def losing(target: int) -> Iterator[LossyProxy]:
    """Run a proxy before a port until the block ends."""
    proxy = LossyProxy(target)
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.close()
