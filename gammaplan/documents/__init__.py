"""The one place that reads and writes gammaplan JSON: evidence in, documents out."""
