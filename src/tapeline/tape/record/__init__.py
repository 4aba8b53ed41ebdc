"""A tape as a file that anyone can check: writing it, and checking it offline."""
