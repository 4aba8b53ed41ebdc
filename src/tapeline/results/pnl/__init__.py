"""Profit and loss of live models: the books, the bookkeeper that keeps them, and their readers."""
