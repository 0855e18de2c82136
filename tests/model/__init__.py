"""Tests of gammaplan.model."""
