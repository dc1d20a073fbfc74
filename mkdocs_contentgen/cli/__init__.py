"""The command `contentgen`: each subcommand loads the site, calls one function, and prints.

In: arguments, options, and the environment.
Out: lines, tables or JSON, and an exit status. Only this package and the plugin print.
Open `main.py` first: it has the commands, and loads the modules with further ones. What happens to
a text is decided in `texts` and `review`.
"""
