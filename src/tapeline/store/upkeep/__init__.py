"""Work that keeps the files of the database small and in order."""
