"""What commands look like: their options, tables and failures. No server here."""
