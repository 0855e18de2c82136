"""What each engine prints, accepts and calls things: one file or small folder an engine."""
