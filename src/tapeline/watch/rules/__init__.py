"""Rules as people write them: read, checked, kept."""
