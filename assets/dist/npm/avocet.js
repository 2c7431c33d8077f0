#!/usr/bin/env node
// Starts the program, which is in the package for this system.
'use strict';
const { spawn } = require('node:child_process');
const name = `${require('./package.json').name}-${process.platform}-${process.arch}`;

let program;
try {
  program = require.resolve(`${name}/bin/avocet`);
} catch {
  console.error(`avocet: the package ${name} is not installed. Install without --no-optional, on a system that has one.`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// The terminal sends these to both, and the program decides.
for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`avocet: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
