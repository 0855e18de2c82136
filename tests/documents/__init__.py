"""Tests of gammaplan.documents."""
