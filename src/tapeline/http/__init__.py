"""HTTP: requests in, answers out. No business rule is decided here."""
