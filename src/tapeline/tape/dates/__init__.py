"""The `time` header: dates as the older platform read them, exactly. No store here."""
