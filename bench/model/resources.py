"""What the measured gateway's processes used together, as the result document has it.

Megabytes are 10^6 bytes. ``None`` = not known on that system, or not sampled.
"""

from bench.model.record import Record


class ResourceSeries(Record, frozen=True, kw_only=True):
    """Samples over the run, thinned; one entry of each list is one moment."""

    at_ms: tuple[float, ...] = ()
    """Offset in the run; a resumed part begins where the one before ended."""
    rss_mb: tuple[float | None, ...] = ()
    cpu_cores: tuple[float | None, ...] = ()
    """Processor time since the sample before, by the time between them; 1 = one core busy."""


class GatewayResources(Record, frozen=True, kw_only=True):
    """Resource use of all processes of the gateway, from when it was ready until it was stopped."""

    samples: int
    span_ms: float
    """Time between first and last sample; parts of a resumed run are added."""
    requests: int
    """Sent in that time, warm-ups and failures included."""
    cold_start_ms: float | None = None
    """From its start until it was proven ready; ``None`` = it was up already."""
    cold_start_cpu_ms: float | None = None
    """Processor time that it took for that."""
    cpu_ms: float | None = None
    """Processor time between first and last sample."""
    cpu_ms_per_request: float | None = None
    mean_cpu_cores: float | None = None
    peak_cpu_cores: float | None = None
    """The busiest stretch between two samples."""
    idle_rss_mb: float | None = None
    """When it was ready, before the first request."""
    peak_rss_mb: float | None = None
    final_rss_mb: float | None = None
    idle_pss_mb: float | None = None
    peak_pss_mb: float | None = None
    """Of a sample each 30 s."""
    final_pss_mb: float | None = None
    max_processes: int | None = None
    max_threads: int | None = None
    max_descriptors: int | None = None
    max_connections_in: int | None = None
    """To its port; of a sample each 10 s, as the two below."""
    max_connections_waiting: int | None = None
    """Part of them that it had not accepted yet."""
    max_connections_out: int | None = None
    series: ResourceSeries = ResourceSeries()
