"""Find what a reader of a text has to check.

In: a block of a text, and what its request and sources say.
Out: the ranges of statements that neither of them has: names, figures, code, quotations.
Open `marking.py` first; the other modules find one kind of statement each. No model is asked.
"""
