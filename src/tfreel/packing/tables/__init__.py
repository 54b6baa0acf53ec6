"""Tables: CSV, JSON lines, Parquet, Arrow, NumPy, and rows in memory."""
