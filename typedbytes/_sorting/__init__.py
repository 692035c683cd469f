"""Sorting between map and reduce: encoded records in Hadoop's order, in memory and beyond it."""
