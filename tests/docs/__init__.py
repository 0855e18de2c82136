"""Tests of the documentation: every example runs, every name is documented."""
