"""Records as lines of JSON and of text."""
