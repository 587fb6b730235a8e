/** A load generator. Its argument is a `Load`; it prints a `Report`. */
import { setImmediate as turn } from 'node:timers/promises';
import { Connection } from '../test/load/connection';
import { CONNECTIONS, type Load, type Report, tokenOf } from './load';
import { quantile } from './statistics';

/** Connections at a constant rate. Requests beyond that wait, and their waiting counts as latency. */
const MAX_OPEN = 512;
/** Responses of this time at a constant rate are not counted, because the generator is compiled meanwhile. */
const WARM_UP_MS = 1000;
/** How long the generator sleeps while no request is due: shorter than any latency of interest. */
const NAP_MS = 0.1;
const TIMEOUT_MS = 20_000;

const load = JSON.parse(process.argv[2]!) as Load;
const url = new URL(load.url);
const counts = { refused: 0, unanswered: 0, outOfIds: 0 };
const latencies: number[] = [];
let answered = 0;

async function main(): Promise<void> {
  const began = performance.now();
  if (load.rate === undefined) await fullSpeed(began);
  else await constantRate(began, load.rate);
  const seconds = (performance.now() - began) / 1000;
  // NaN, which is null in JSON, would hide that nothing was answered.
  const at = (share: number) => (latencies.length === 0 ? 0 : quantile(latencies, share));
  const percentiles = { p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999), maxMs: at(1) };
  const report: Report = { requests: answered, seconds, ...percentiles, ...counts };
  console.log(JSON.stringify(report));
}

async function fullSpeed(began: number): Promise<void> {
  const end = began + load.seconds * 1000;
  const client = async (connection: Connection) => {
    while (performance.now() < end) await send(connection, performance.now());
    connection.close();
  };
  await Promise.all(connections(CONNECTIONS).map(client));
}

/**
 * Requests are due at equal intervals. The latency of each is counted from that moment, even if it is sent later
 * because no connection is free: otherwise a stall of the server would delay the requests that would show it.
 */
async function constantRate(began: number, rate: number): Promise<void> {
  const total = Math.floor(rate * load.seconds);
  const warmUp = Math.floor((rate * WARM_UP_MS) / 1000);
  const idle = connections(MAX_OPEN);
  const sleeping = new Int32Array(new SharedArrayBuffer(4));
  for (let next = 0; answered < total + warmUp;) {
    const due = Math.min(total + warmUp, Math.floor(((performance.now() - began) / 1000) * rate));
    for (; next < due && idle.length > 0; next++) {
      const connection = idle.pop()!;
      const dueAt = began + (next / rate) * 1000;
      void send(connection, dueAt, next >= warmUp).then(() => idle.push(connection));
    }
    await turn();
    Atomics.wait(sleeping, 0, 0, NAP_MS);
  }
  for (const connection of idle) connection.close();
}

function connections(count: number): Connection[] {
  return Array.from({ length: count }, () => new Connection(url));
}

async function send(connection: Connection, dueAt: number, counted = true): Promise<void> {
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
