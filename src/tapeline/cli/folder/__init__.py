"""A model's folder: its manifest, what belongs in an archive, packing and unpacking."""
