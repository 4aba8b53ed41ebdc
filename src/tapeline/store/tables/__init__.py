"""The tables, one file per room that uses them. Migrations lead to exactly these."""
