"""Watches over models: what must not happen, who is told, and the stop that proves itself."""
