"""The sources of texts: a service over HTTP, a language model, or the sandbox.

Each client sends one request at a time. Concurrency, retries and caching are implemented in
`texts`.
"""

SANDBOX = "sandbox"
"""The value of `base_url` that selects the sandbox."""

WRITER = "writer"
"""The value of `base_url` that selects the writer."""
