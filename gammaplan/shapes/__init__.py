"""The shape of every gammaplan document, as types: the JSON contract and its schemas.

Nothing here runs when a command does: these are the types that the documents
are checked against when this package is type-checked, and that `gammaplan
schema` turns into JSON Schema. The result of a command is the class that
`cli/schema.py` names.
"""
