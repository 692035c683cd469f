"""Encoded records, and what is wrong with them."""
