"""Do nothing: what every process costs."""
