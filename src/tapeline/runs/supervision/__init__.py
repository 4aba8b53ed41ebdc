"""Desired runs become real ones: deciding, executing, and collecting what runs say."""
