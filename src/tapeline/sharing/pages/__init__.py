"""The page and the picture of a link."""
