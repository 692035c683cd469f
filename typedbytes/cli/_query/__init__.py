"""Records of a range, fields, orders and statistics."""
