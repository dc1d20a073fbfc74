"""What is known of languages, without a model: words, numbers, sentences.

In: a line of text, and the tag of its language.
Out: the record of a language, the ends of sentences, the values (numbers, dates) in a line.
Open `languages.py` first, whose data are in `phrases.toml`, then `values/` for figures. Nothing
here imports another room.
"""
