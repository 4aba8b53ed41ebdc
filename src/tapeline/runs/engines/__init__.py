"""Where models run: the seam, this machine behind it, and the shims it starts."""
