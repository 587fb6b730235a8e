/** Loaded before the tests of a planted fault: the file that has it is read with the fault. */
import fs from 'node:fs';
import { resolve } from 'node:path';
import { type Fault, plantedIn } from './faults';

const fault = JSON.parse(process.env['PLANTED_FAULT']!) as Fault;
const path = resolve(fault.file);
const read = fs.readFileSync;
fs.readFileSync = ((file: fs.PathOrFileDescriptor, options: never) => {
  const text = read(file, options) as unknown;
  return file === path && typeof text === 'string' ? plantedIn(text, fault) : text;
}) as typeof fs.readFileSync;
