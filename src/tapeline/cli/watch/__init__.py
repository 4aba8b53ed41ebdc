"""Commands about rules and incidents."""
