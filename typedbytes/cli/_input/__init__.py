"""Inputs: finding, opening and recognising them."""
