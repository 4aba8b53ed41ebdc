"""What people upload: the zip format, what an archive may hold, and its manifest. No store here."""
