"""Tests of the completion scripts in completions/."""
