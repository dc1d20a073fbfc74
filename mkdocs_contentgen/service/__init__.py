"""The HTTP client of the content generation service, and the sandbox for use without the service.

The client sends one request at a time. Concurrency, retries and caching are implemented in `texts`.
"""

SANDBOX = "sandbox"
"""The value of `base_url` that selects the sandbox."""
