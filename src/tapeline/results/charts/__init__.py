"""Series as charts want them: a stretch of time, so many points, extremes kept."""
