"""Checks of the machine that the server runs on."""
