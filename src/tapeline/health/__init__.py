"""What an operator sees: one check per file, and one list from which everything shows them."""
