import { request } from "node:http";
import { health } from "./chunk-health.js";
import { settings } from "./chunk-settings.js";

function answer(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function forward(incoming, response, path) {
  const url = new URL(settings.upstream.replace(/\/$/, "") + path);
  const headers = { ...incoming.headers, host: url.host };
  headers.authorization = `Bearer ${settings.upstreamKey}`;
  const outgoing = request(url, { method: incoming.method, headers }, (back) => {
    response.writeHead(back.statusCode, back.headers);
    back.pipe(response);
  });
  outgoing.on("error", (error) =>
    answer(response, 500, { error: { message: String(error), type: "gateway_error" } }),
  );
  incoming.pipe(outgoing);
}

export async function handler(incoming, response) {
  if (incoming.method === "GET" && incoming.url === "/") {
    answer(response, 200, await health());
  } else if (incoming.url === "/v1/models") {
    forward(incoming, response, "/models");
  } else if (incoming.headers.authorization !== `Bearer ${settings.token}`) {
    answer(response, 401, { error: true, status: 401, message: "Unauthorized: Invalid token" });
  } else if (incoming.url === "/v1/chat/completions") {
    forward(incoming, response, "/chat/completions");
  } else {
    answer(response, 404, { error: true, status: 404, message: "Not Found" });
  }
}
