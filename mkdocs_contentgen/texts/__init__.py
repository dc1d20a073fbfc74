"""From requests to texts: approved files, the cache, and asking for what is missing.

Here it is decided which text a request has and when the service is asked. Nothing here knows a site
generator; whoever calls hands in the requests and prints what is returned.
"""
