"""Checks of the database and of the way to it."""
