"""Whoever writes: the client of the service's HTTP interface, and the sandbox.

One request goes in, and an answer or an error comes out. Many requests at once, retries and keeping
texts are the business of `texts`.
"""
