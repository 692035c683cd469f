"""Record classes that fit data, as text."""
