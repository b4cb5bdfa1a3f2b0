'use strict';
// Starts the real entry as the main module, so that guards on `require.main`, `import.meta.main`
// and `process.argv[1]` hold, while the command line shows only this file.
const settings = "@SETTINGS@";
const fs = require('node:fs');
const path = require('node:path');
const url = require('node:url');
const childProcess = require('node:child_process');
const nodeModule = require('node:module');

const isForked = process.channel !== undefined;
// Loaded here only where Node has loaded it already: see the note on `fork` below.
const isClusterWorker = isForked && require('node:cluster').isWorker;
const args = isForked && !isClusterWorker ? process.argv.slice(2) : settings.args;

const isEntry = (file) => {
  const name = file instanceof URL ? url.fileURLToPath(file) : String(file);
  return path.resolve(name) === settings.entry;
};

// A worker that is forked from the entry's path would show it: it starts through this file too.
// `node:cluster` takes its own reference to `fork` when it is first loaded, after this.
const { fork } = childProcess;
childProcess.fork = function (file, ...rest) {
  if (!isEntry(file)) return fork.call(this, file, ...rest);
  const options = rest.find((one) => one && typeof one === 'object' && !Array.isArray(one));
  const isCluster = options?.env?.NODE_UNIQUE_ID !== undefined;
  if (isCluster && Array.isArray(rest[0])) rest[0] = [];
  return fork.call(this, __filename, ...rest);
};
nodeModule.syncBuiltinESMExports();

if (!isForked) {
  let error = null;
  // Here, because only here everything is known that the gateway has read from its own files.
  const isSecret = (name) => settings.secretWords.some((word) => name.toUpperCase().includes(word));
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const secretsIn = ([name, value]) => {
    const passwords = [...value.matchAll(/\w:\/\/[^/\s:@]*:([^@\s/]+)@/g)].map((found) => found[1]);
    return [...(isSecret(name) ? [value] : []), ...passwords, ...passwords.map(decoded)];
  };
  const masked = (text) =>
    Object.entries(process.env)
      .flatMap(secretsIn)
      .filter((value) => value.length >= 6)
      .sort((one, other) => other.length - one.length)
      .reduce((rest, value) => rest.split(value).join('***'), text);
  process.on('uncaughtExceptionMonitor', (fault) => {
    error = masked(String((fault && fault.stack) || fault)).slice(0, 4000);
  });
  process.on('exit', (code) => {
    try {
      fs.writeFileSync(`${settings.record}~`, JSON.stringify({ pid: process.pid, code, error }), {
        mode: 0o600,
      });
      fs.renameSync(`${settings.record}~`, settings.record);
    } catch {
      // The state folder is gone: how we ended is then not known, which is no reason to fail.
    }
  });
}

process.argv.splice(1, process.argv.length, settings.entry, ...args);
if (settings.runMain) nodeModule.runMain();
else import(url.pathToFileURL(settings.entry).href);
