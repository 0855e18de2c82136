"""Tests of gammaplan.cli."""
