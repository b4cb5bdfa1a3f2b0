import { connect } from "node:net";
import { settings } from "./chunk-settings.js";

function answers({ host, port }) {
  return new Promise((done) => {
    const socket = connect({ host, port, timeout: 1000 });
    const end = (connected) => {
      socket.destroy();
      done(connected);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
  });
}

export async function health() {
  const [database, redis] = await Promise.all([answers(settings.database), answers(settings.redis)]);
  // HTTP 200 and "OK" whatever is down: only the field tells.
  return {
    message: "OK",
    health: {
      status: database && redis ? "ok" : "error",
      redis: { connected: redis },
      database: { connected: database },
    },
  };
}
