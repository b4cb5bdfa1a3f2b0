// The server that every tool has to keep: one health page, and one fault at a time (variable FAULT).
// What happens to it is noted in the file NOTES, stamped with the monotonic clock.
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");

const fault = process.env.FAULT || "";

function note(what) {
  const line = { what, mark: process.env.MARK, pid: process.pid, atNs: String(process.hrtime.bigint()) };
  fs.appendFileSync(process.env.NOTES, JSON.stringify(line) + "\n");
}

function stay() {
  setInterval(() => {}, 1000);
}

function listen() {
  const server = http.createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ mark: process.env.MARK, pid: process.pid }));
    if (fault === "dies" && process.env.READY_BY === "answer") die();
  });
  server.listen(Number(process.env.PORT), "127.0.0.1", () => {
    note("listening");
    console.log("listening");
    // pm2 is told by a message (its --wait-ready).
    if (process.send) process.send("ready");
    if (fault === "dies" && process.env.READY_BY === "word") die();
  });
}

// Ready is what the tool goes by: a healthy answer, or the server's own word.
function die() {
  setTimeout(() => process.exit(1), 150);
}

note("born");
if (fault === "exits") {
  console.error("settings: DATABASE_URL is not set");
  process.exit(3);
}
if (fault === "stubborn" || fault === "escaped") {
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name, () => note(name));
}
if (fault === "never") {
  stay();
} else if (fault === "escapes") {
  const environment = { ...process.env, FAULT: "escaped" };
  spawn("setsid", ["-f", process.execPath, __filename], { env: environment, stdio: "ignore" });
  if (process.send) process.send("ready");
  console.log("listening");
  stay();
} else {
  listen();
}
