"""How far estimated round costs are off: ends of the middle 80 % of measured ÷ estimated.

Of the public measurements in docs/validation.md (``benchmarks/roofline.py``), each source counting
as much as any other.
"""

LOW, HIGH = 0.83, 1.61
