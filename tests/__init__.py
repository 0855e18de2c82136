"""The specification of gammaplan, as tests; laid out like the package."""
