function address(url, host, port) {
  if (url) {
    const parts = new URL(url);
    return { host: parts.hostname, port: Number(parts.port || 5432) };
  }
  return { host: host ?? "127.0.0.1", port: Number(port ?? 6379) };
}

export const settings = {
  port: Number(process.env.GATEWAY_PORT ?? process.env.PORT) || 4001,
  token: process.env.STANDIN_TOKEN ?? "test-token",
  upstream: process.env.STANDIN_UPSTREAM,
  upstreamKey: process.env.STANDIN_UPSTREAM_KEY ?? "test-token",
  database: address(process.env.DATABASE_URL),
  redis: address(undefined, process.env.REDIS_HOST, process.env.REDIS_PORT),
};
