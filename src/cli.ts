#!/usr/bin/env node
import { runCommandLine } from './service/command-line';

void runCommandLine(process).then((code) => {
  process.exitCode = code;
});
