"""The databases: SQLite and PostgreSQL, how each is opened, and what their failures mean."""
