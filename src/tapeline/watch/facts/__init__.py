"""What conditions need to know, read in bulk for many subjects at once."""
