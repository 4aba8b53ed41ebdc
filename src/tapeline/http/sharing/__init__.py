"""Links: the API of their owners, and all that is public."""
