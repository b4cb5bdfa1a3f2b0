"""From bytes to events and from stamps to timings. Pure: no socket, no clock, no event loop."""
