#!/usr/bin/env node
import './service/node-version';
import { runCommandLine } from './service/command-line';

void runCommandLine(process).then((code) => {
  process.exitCode = code;
});
