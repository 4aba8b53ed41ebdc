"""Who may do what: users and their sign-ins, keys, members and roles, and the record of changes."""
