"""The version of this client, in a file of its own so that a build can read it."""

VERSION = "0.1.0"
__version__ = VERSION
