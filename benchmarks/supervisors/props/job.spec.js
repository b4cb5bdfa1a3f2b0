const { spawnSync } = require("node:child_process");
const { test } = require("@playwright/test");

test("job", () => {
  const [program, ...words] = JSON.parse(process.env.JOB);
  const done = spawnSync(program, words, { stdio: "inherit" });
  if (done.status !== 0) throw new Error(`the job ended with ${done.status ?? done.signal}`);
});
