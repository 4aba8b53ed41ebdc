"""Turns desired runs into real ones: decides, executes, and collects their output."""
