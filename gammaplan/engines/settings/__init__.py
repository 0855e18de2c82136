"""What engines accept: a module an engine, found by its name; see ``base.py``.

Apart from the readers, because the two sets differ: transformers and LM Studio take settings and
report nothing, harnesses report and take none, and writing one flag must not load any reader.
"""
