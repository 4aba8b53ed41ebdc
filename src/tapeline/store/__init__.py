"""Where everything is kept: the database, its one writer, its tables and their migrations."""
