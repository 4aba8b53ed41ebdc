"""Backups: made, checked, kept for a while, and restored."""
