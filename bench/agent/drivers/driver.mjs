// Calls candidate code inside the sandbox and writes what came back, one JSON line per call.
//
// Runs beside hostile code, so it knows inputs only: no expected value, no verdict. Input and output
// are those of driver.py. What candidate code prints by the usual ways goes to standard error;
// anything else it writes into the answers makes them unreadable, which is a failed check.
import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const MESSAGE_LENGTH = 200;
const write = writeSync;
const encode = JSON.stringify;
const exit = process.reallyExit.bind(process);

class NotPlain extends Error {}

function plain(value) {
  if (value === null || ["boolean", "string"].includes(typeof value)) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return Array.from(value, plain);
  if (typeof value === "object") {
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
    }
  }
  throw new NotPlain(typeof value === "object" ? "object of a class" : String(typeof value));
}

function classes(error) {
  const names = [];
  let at = error;
  while (at !== null && at !== undefined && names.length < 20) {
    const name = at?.constructor?.name;
    if (typeof name === "string" && !names.includes(name)) names.push(name);
    at = Object.getPrototypeOf(Object(at));
  }
  return names;
}

function raised(error) {
  try {
    return { raised: classes(error), message: String(error?.message ?? error).slice(0, MESSAGE_LENGTH) };
  } catch {
    return { raised: [], message: "" };
  }
}

async function attempt(call) {
  try {
    return { value: plain(await call()) };
  } catch (error) {
    return error instanceof NotPlain ? { unplain: error.message } : raised(error);
  }
}

function send(line) {
  let data = Buffer.from(line + "\n");
  while (data.length > 0) {
    try {
      data = data.subarray(write(1, data));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

const order = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write = process.stderr.write.bind(process.stderr);
let probe = null;
for (const call of order.calls) {
  const outcome = await attempt(async () => {
    probe ??= await import(pathToFileURL(order.probe).href);
    return probe[call.probe](call.input);
  });
  send(encode({ id: call.id, ...outcome }));
}
exit(0);
