"""The stop that proves itself: declared, carried out on every server, and what it came to."""
