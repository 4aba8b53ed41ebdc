"""Tapeline: deploy trading models, watch them trade, keep an honest tape."""

__version__ = "0.1.0"
