"""A model's folder: its manifest, what belongs into an archive, packing and unpacking."""
