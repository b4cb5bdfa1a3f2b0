"""An arm that re-orders boxes."""
