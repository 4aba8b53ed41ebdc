"""Rules, incidents, and who is told of them."""
