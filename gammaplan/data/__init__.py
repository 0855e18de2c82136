"""Tables with their sources: what is known rather than computed."""
