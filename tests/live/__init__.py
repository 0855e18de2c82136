"""Live servers: endpoints, and a Prometheus of its own."""
