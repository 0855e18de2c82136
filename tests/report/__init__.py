"""Tests of gammaplan.report."""
