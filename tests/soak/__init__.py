"""Long runs, each a command of its own; the suite runs the short form of three of them."""
