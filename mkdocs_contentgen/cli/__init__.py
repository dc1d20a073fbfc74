"""The command `contentgen`: what people type, and what is printed for them.

Each command opens the site, calls one function of another room, and prints what that returned.
Nothing here decides what becomes of a text.
"""
