"""Witnesses: other servers sign the heads of our log, and we sign those of theirs."""
