/** The load generator of a soak. Its argument is a `Traffic`; it sends each `TrafficReport` to its parent. */
import { setTimeout as pause } from 'node:timers/promises';
import { CONNECTIONS } from '../../../bench/load';
import { MAX_RATE, type Send, constantRate, fullSpeed } from '../../../bench/pacing';
import { latencies } from '../load/recorder';
import { zipf } from '../load/zipf';
import { randomFrom } from '../../support/random';
import { tokenOf } from '../../support/token';
import { FIRST_IDS, PLANTS_EACH, SLICES, type TrafficReport, type Traffic } from './traffic';

const WRITES = 0.3;
/** Users are chosen by a {@link zipf} distribution with this exponent. */
const SKEW = 1.1;
/** So often a client closes its connection after a response, or hangs up before it. */
const CLOSES_EVERY = 100;
const HANGS_UP_EVERY = 500;
const TIMEOUT_MS = 20_000;
/** Of the capacity. */
const SHARE = 0.5;

const traffic = JSON.parse(process.argv[2]!) as Traffic;
const url = new URL(traffic.url);
const random = randomFrom(traffic.seed);
const pick = zipf(traffic.users.length, SKEW);
/** The ids of the living plants of each user, the oldest first. */
const living = traffic.users.map(() => [...FIRST_IDS]);
let nextId = 1000;
let times: number[] = [];
let failures: Record<string, number> = {};

const send: Send = async (connection, dueAt, index) => {
  const hangsUp = index % HANGS_UP_EVERY === 1;
  const { text, onSuccess } = !hangsUp && random() < WRITES ? nextWrite() : nextList();
  const outcome = await connection.send(text, hangsUp ? 1 : TIMEOUT_MS, hangsUp);
  if (index % CLOSES_EVERY === 0) connection.close();
  if (outcome === 'hang-up') return;
  if (typeof outcome === 'string' || outcome.status >= 300) {
    const reason = typeof outcome === 'string' ? outcome : String(outcome.error ?? outcome.status);
    failures[reason] = (failures[reason] ?? 0) + 1;
    return;
  }
  times.push(performance.now() - dueAt);
  onSuccess?.();
};

interface PlantRequest {
  readonly text: string;
  readonly onSuccess?: () => void;
}

function nextList(): PlantRequest {
  return { text: `GET /plants HTTP/1.1\r\n${headOf(pick(random()))}\r\n` };
}

/** Creates a plant, or deletes the oldest if the user has enough: so all numbers of plants stay as they are. */
function nextWrite(): PlantRequest {
  const user = pick(random());
  const plants = living[user]!;
  if (plants.length > PLANTS_EACH)
    return { text: `DELETE /plants/${plants.shift()!} HTTP/1.1\r\n${headOf(user)}\r\n` };
  const id = nextId++;
  const body = `{"id":${id},"name":"Monstera deliciosa","tag":"indoor"}`;
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
  return {
    text: `POST /plants HTTP/1.1\r\n${headOf(user)}${type}\r\n\r\n${body}`,
    onSuccess: () => plants.push(id),
  };
}

function headOf(user: number): string {
  return `Host: ${url.host}\r\nAuthorization: Bearer ${tokenOf(traffic.users[user]!)}\r\n`;
}

/** Reports the requests since the last call. */
function takeWindow() {
  const window = { succeeded: latencies(times), failures };
  times = [];
  failures = {};
  return window;
}

const report = (what: TrafficReport) => process.send!(what);

async function main(): Promise<void> {
  const { warmUpSeconds, sliceSeconds, windows, windowSeconds } = traffic;
  await fullSpeed(url, warmUpSeconds, send);
  takeWindow();
  report({ type: 'warm' });
  // The slowest slice counts, because other work on the machine must leave time for twice the rate.
  let perSecond = Infinity;
  for (let slice = 0; slice < SLICES; slice++) {
    await fullSpeed(url, sliceSeconds, send);
    perSecond = Math.min(perSecond, takeWindow().succeeded.count / sliceSeconds);
  }
  const rate = Math.min(MAX_RATE, SHARE * perSecond);
  report({ type: 'capacity', perSecond, rate });
  let reported = 0;
  const timer = setInterval(() => {
    report({ type: 'window', window: takeWindow() });
    if (++reported === windows) clearInterval(timer);
  }, windowSeconds * 1000);
  // A little longer than the last window.
  const total = Math.ceil(rate * (windows + 0.2) * windowSeconds);
  // All connections are in use, so that the number of descriptors depends on nothing else.
  await constantRate(url, rate, total, send, { open: CONNECTIONS, inTurn: true, nap: () => pause(1) });
  process.disconnect();
}

process.on('disconnect', () => process.exit(0));
void main();
