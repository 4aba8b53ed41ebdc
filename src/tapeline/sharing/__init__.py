"""Chosen sharing: links, what each of them leaves to see, and records that can be checked."""
