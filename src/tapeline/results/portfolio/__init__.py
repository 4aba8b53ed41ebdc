"""Many models together: value, return, exposure and correlation, in one currency, by days."""
