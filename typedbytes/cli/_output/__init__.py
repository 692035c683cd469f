"""Outputs: files, the forms of records, reports."""
