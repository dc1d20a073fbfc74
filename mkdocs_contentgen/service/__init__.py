"""Talk HTTP: the client of the content generation service, and the sandbox that answers like it.

In: a request for a text, an update or a translation, and the options of a service.
Out: one answer, or an error that tells whether the request may have been processed.
Open `client.py` first, then `protocol.py` for what is asked and answered. Only `exchange.py` uses
httpx. Concurrency, retries and caching are in `texts`.
"""

SANDBOX = "sandbox"
"""The value of `base_url` that selects the sandbox."""

WRITER = "writer"
"""The value of `base_url` that selects the writer."""
