"""Arrow and Parquet, and the columns of text."""
