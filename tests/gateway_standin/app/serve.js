// The entry of a gateway in the shape of LLMGateway's build: guarded, with sibling chunks.
import { pathToFileURL } from "node:url";
import { createServer } from "node:http";
import { handler } from "./chunk-routes.js";
import { settings } from "./chunk-settings.js";

export function listen(port) {
  const server = createServer(handler);
  // As the real one does: it says so before it binds, so the line proves nothing.
  console.log(`listening on port ${port}`);
  server.listen(port);
  return server;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  listen(settings.port);
}
