// The server is kept by Playwright's `webServer`; the one test runs the command.
module.exports = {
  testMatch: "job.spec.js",
  timeout: 0,
  reporter: "line",
  webServer: {
    command: "node dist/serve.js",
    url: process.env.SERVER_URL,
    timeout: Number(process.env.READY_S) * 1000,
    reuseExistingServer: false,
    stdout: "pipe",
  },
};
