/** A load generator. Its argument is a `Load`; it prints a `Report`. */
import type { Connection } from '../test/world/load/connection';
import { type Load, type Report, tokenOf } from './load';
import { constantRate, fullSpeed } from './pacing';
import { quantile } from './statistics';

/** Responses of this time at a constant rate are not counted, because the generator is compiled meanwhile. */
const WARM_UP_MS = 1000;
const TIMEOUT_MS = 20_000;

const load = JSON.parse(process.argv[2]!) as Load;
const url = new URL(load.url);
const counts = { refused: 0, unanswered: 0, outOfIds: 0 };
const latencies: number[] = [];
let answered = 0;

async function main(): Promise<void> {
  const began = performance.now();
  if (load.rate === undefined) await fullSpeed(url, load.seconds, send);
  else await warmAndConstant(load.rate);
  const seconds = (performance.now() - began) / 1000;
  // NaN, which is null in JSON, would hide that nothing was answered.
  const at = (share: number) => (latencies.length === 0 ? 0 : quantile(latencies, share));
  const percentiles = { p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999), maxMs: at(1) };
  const report: Report = { requests: answered, seconds, ...percentiles, ...counts };
  console.log(JSON.stringify(report));
}

async function warmAndConstant(rate: number): Promise<void> {
  const warmUp = Math.floor((rate * WARM_UP_MS) / 1000);
  const total = warmUp + Math.floor(rate * load.seconds);
  await constantRate(url, rate, total, (connection, dueAt, index) =>
    send(connection, dueAt, index, index >= warmUp),
  );
}

async function send(connection: Connection, dueAt: number, _index: number, counted = true): Promise<void> {
  const outcome = await connection.send(nextRequest(), TIMEOUT_MS, false);
  if (typeof outcome === 'string') counts.unanswered++;
  else if (outcome.status >= 300) counts.refused++;
  answered++;
  if (counted) latencies.push(performance.now() - dueAt);
}

let count = 0;

function nextRequest(): string {
  const { method } = load;
  const id = method === 'GET' ? count++ : nextId();
  const path = method === 'DELETE' ? `${url.pathname}/${id}` : url.pathname + url.search;
  const token = tokenOf(load.token, id, load.users);
  const head = `${method} ${path} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${token}\r\n`;
  if (method !== 'POST') return `${head}\r\n`;
  const body = `{"id":${id},"name":"Monstera deliciosa","tag":"indoor"}`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const ranges = load.ids.map(({ first, count }) => ({ first, count }));

/** After the last id, the request is one that every server refuses. */
function nextId(): number {
  while (ranges[0]?.count === 0) ranges.shift();
  const range = ranges[0];
  if (range === undefined) {
    counts.outOfIds = 1;
    return NaN;
  }
  range.count--;
  return range.first++;
}

void main();
