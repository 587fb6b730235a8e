import { randomFrom } from '../../support/random';
import { type PlantRequest, WRITES, writeOf } from '../../support/plant-requests';

// The moves of a simulation, as data: a schedule that violates a guarantee is printed, repeated and shrunk.

/** What happens to a call in flight. The methods of {@link Network}. */
export type CallAction =
  | 'execute'
  | 'answer'
  | 'loseReply'
  | 'lose'
  | 'duplicate'
  | 'hang'
  | 'refuse'
  | 'failWithBug'
  | 'executeLate';

/** How the store of snapshots behaves. */
export type SnapshotState = (typeof SNAPSHOT_STATES)[number];

const SNAPSHOT_STATES = ['whole', 'whole', 'old', 'foreign', 'torn', 'unavailable', 'slow'] as const;

/** One step of a simulation. `nth` selects a call, an idle client, an instance or a replica, modulo their number. */
export type Move =
  | { readonly type: 'send'; readonly nth: number; readonly user: number; readonly request: PlantRequest }
  | { readonly type: CallAction; readonly nth: number }
  | { readonly type: 'pass'; readonly ms: number }
  /** Every call under way is executed and answered, if it can be. */
  | { readonly type: 'advance' }
  /** The instance dies, and another process takes its place. */
  | { readonly type: 'kill'; readonly nth: number }
  | { readonly type: 'partition'; readonly nth: number; readonly on: boolean }
  | { readonly type: 'freeze' | 'fillMemory'; readonly on: boolean }
  | { readonly type: 'connectReplica'; readonly nth: number; readonly on: boolean }
  | { readonly type: 'replicate'; readonly nth: number; readonly writes: number }
  | { readonly type: 'promote'; readonly nth: number }
  /** Redis restarts, without its last `lost` writes: 0 with `appendfsync always`. */
  | { readonly type: 'restart'; readonly lost: number }
  | { readonly type: 'snapshots'; readonly are: SnapshotState }
  /** A connection to Redis breaks with everything under way, or its client closes it. */
  | { readonly type: 'break' | 'close'; readonly nth: number }
  /** An open connection loses all bytes from now on, and neither side learns it. */
  | { readonly type: 'silence'; readonly nth: number }
  /** Redis ends and refuses connections, or starts again. */
  | { readonly type: 'stop'; readonly on: boolean }
  | { readonly type: 'setBandwidth'; readonly bytesPerMs: number }
  | { readonly type: 'slowDown'; readonly msPerCommand: number }
  /** Like `promote`, and the old primary stays, as a replica with the same connections. */
  | { readonly type: 'failOver'; readonly nth: number }
  | { readonly type: 'breakDisk'; readonly on: boolean }
  | { readonly type: 'flushScripts' }
  /** A base replaces that of a history, with the next `commits`; through an instance, where that makes a difference. */
  | { readonly type: 'archive'; readonly nth: number; readonly user: number; readonly commits: number }
  /** The next step of the migration of a user's slot in a Cluster. */
  | { readonly type: 'migrate'; readonly user: number }
  /** No node of the Cluster serves the slot of a user. */
  | { readonly type: 'dropSlot'; readonly user: number; readonly on: boolean }
  /** Archived events are removed, the oldest first. */
  | { readonly type: 'trim'; readonly nth: number; readonly user: number; readonly events: number }
  /** A client subscribes to the events of a user after this version, modulo their number, with a pause after each. */
  | {
      readonly type: 'subscribe';
      readonly nth: number;
      readonly user: number;
      readonly after: number;
      readonly pauseMs: number;
    }
  /** A client ends its subscription, and continues after its last event through an instance. */
  | { readonly type: 'resubscribe'; readonly nth: number; readonly instance: number }
  /** An instance projects all streams into the read model: a transaction is committed after so long, and ends later. */
  | { readonly type: 'project'; readonly nth: number; readonly commitMs: number; readonly replyMs: number };

/** The settings of instances behind the Redis adapter. */
export interface AdapterSettings {
  /** Queue limit of appends without a reply. */
  readonly appendBounds: { readonly appends: number; readonly bytes: number };
  /** Speed of the timers of the adapter, compared with Redis. */
  readonly timerRate: number;
  /** Whether Redis is a Cluster of two nodes, without replicas. */
  readonly cluster: boolean;
}

export interface Schedule {
  /** Speed of the clock of each instance; the correct speed is 1. */
  readonly clockRates: readonly number[];
  readonly pageSize: number;
  /** How many users there are; 1 or more. */
  readonly users: number;
  readonly maxWaiting: number;
  readonly cacheMaxItems: number;
  readonly cacheMaxBytes: number;
  readonly snapshotEvery: number;
  /** Number of events of the first user before the simulation starts. */
  readonly pastEvents: number;
  readonly replicas: number;
  /** How many replicas must confirm an append; 0 to `replicas`. */
  readonly waitReplicas: number;
  /** Whether the requests that follow each other without another move start one round, as in a turn of the event loop. */
  readonly gathers: boolean;
  /** Whether each row of a snapshot is a chunk of its own. */
  readonly smallChunks: boolean;
  /** Whether the store notifies subscribers. The Redis adapter always does. */
  readonly notifies: boolean;
  /** Number of entries that the feed keeps. */
  readonly feedLength: number;
  /** With it, the instances call the store through the Redis adapter; else directly. */
  readonly adapter?: AdapterSettings;
  readonly moves: readonly Move[];
}

/** In place of Infinity, which JSON does not have. */
export const UNLIMITED = 1e9;

/** What may happen: only delays; also faults that lose nothing; also failovers that lose acknowledged writes. */
const KINDS = ['calm', 'stormy', 'lossy'] as const;

/** The simplest value of each member, which a shrunk schedule has where the value does not matter. */
export const SIMPLEST: Omit<Schedule, 'moves' | 'adapter'> = {
  clockRates: [1],
  pageSize: 1000,
  users: 2,
  maxWaiting: 100,
  cacheMaxItems: 1000,
  cacheMaxBytes: UNLIMITED,
  snapshotEvery: UNLIMITED,
  pastEvents: 0,
  waitReplicas: 0,
  replicas: 0,
  gathers: false,
  smallChunks: false,
  notifies: false,
  feedLength: UNLIMITED,
};

/** Exact in binary, and so are all times of the simulation at these rates. */
const CLOCK_RATES = [1, 1, 1.25, 0.625];
/** These fit the lists of all users while they are empty, and one that is full. */
const EMPTY_LIST_BYTES = 2048;
const FULL_LIST_BYTES = 654;
const UNBOUNDED = Array.from({ length: 4 }, () => ({ appends: UNLIMITED, bytes: UNLIMITED }));
/** One of so many schedules has subscriptions. */
const SUBSCRIBED = 4;
/** Of schedules, one in so many has snapshots of several chunks. */
const SMALL_CHUNKS = 3;
/** Of schedules, one in so many has more users than pages may be read at once. */
const CROWDED = 8;
const CROWD = 6;
/** Of the times that pass, one in so many is longer than anything is remembered. */
const LONG_PASS = 40;
const LONG_PASS_MS = 12_000;
/** One of so many adapter schedules has a Cluster. */
const CLUSTERED = 8;
const MIN_MOVES = 10;
const MAX_MOVES = 50;

type Below = (end: number) => number;
type OneOf = <T>(...values: readonly T[]) => T;

/** The schedule of a seed for instances that call the model of Redis. */
export function scheduleOf(seed: number): Schedule {
  return randomSchedule(WEIGHTS, ...choicesOf(seed));
}

/** The schedule of a seed for instances that project all streams from the feed of the model of Redis. */
export function feedScheduleOf(seed: number): Schedule {
  const [below, oneOf] = choicesOf(seed);
  return { ...randomSchedule(FEED_WEIGHTS, below, oneOf), feedLength: oneOf(1, 3, UNLIMITED, UNLIMITED) };
}

/** The schedule of a seed for instances behind the Redis adapter. */
export function adapterScheduleOf(seed: number): Schedule {
  const [below, oneOf] = choicesOf(seed);
  const adapter = {
    appendBounds: oneOf({ appends: 1, bytes: UNLIMITED }, { appends: 100, bytes: 300 }, ...UNBOUNDED),
    timerRate: oneOf(...CLOCK_RATES),
    cluster: below(CLUSTERED) === 0,
  };
  if (!adapter.cluster) return { ...randomSchedule(ADAPTER_WEIGHTS, below, oneOf), adapter };
  const schedule = randomSchedule(CLUSTER_WEIGHTS, below, oneOf);
  return { ...schedule, replicas: 0, waitReplicas: 0, adapter };
}

function choicesOf(seed: number): [Below, OneOf] {
  const random = randomFrom(seed);
  const below = (end: number) => Math.floor(random() * end);
  return [below, (...values) => values[below(values.length)]!];
}

function randomSchedule(
  { calm, stormy, lossy, subscriptions, passes }: KindWeights,
  below: Below,
  oneOf: OneOf,
): Schedule {
  const kind = oneOf(...KINDS);
  const replicas = oneOf(0, 1, 2);
  const waitReplicas = below(replicas + 1);
  const instances = oneOf(1, 2, 2, 3);
  const users = below(CROWDED) === 0 ? CROWD : 2;
  const user = users === 2 ? () => oneOf(0, 0, 0, 0, 1) : () => below(users);
  const make = movesOf(below, oneOf, user, passes);
  const weighted = [
    ...calm,
    ...(kind === 'calm' ? [] : stormy),
    ...(kind === 'lossy' ? lossy : []),
    ...(below(SUBSCRIBED) === 0 ? subscriptions : []),
  ];
  const types = weighted.flatMap(([weight, type]) => Array.from({ length: weight }, () => type));
  return {
    clockRates: Array.from({ length: instances }, () => oneOf(...CLOCK_RATES)),
    pageSize: oneOf(1, 2, 1000),
    users,
    maxWaiting: oneOf(1, 2, 100, 100),
    cacheMaxItems: oneOf(0, 1000),
    cacheMaxBytes: oneOf(users * EMPTY_LIST_BYTES + FULL_LIST_BYTES, UNLIMITED, UNLIMITED),
    snapshotEvery: oneOf(1, 3, UNLIMITED),
    pastEvents: oneOf(0, 0, 0, 0, 0, 5, 40),
    replicas,
    waitReplicas,
    gathers: oneOf(true, false),
    smallChunks: below(SMALL_CHUNKS) === 0,
    notifies: oneOf(true, false),
    feedLength: UNLIMITED,
    moves: Array.from({ length: MIN_MOVES + below(MAX_MOVES - MIN_MOVES) }, () => make[oneOf(...types)]()),
  };
}

type Weights = readonly (readonly [weight: number, type: Move['type']])[];

/** The moves of each kind of schedule, beside those of the calmer kinds. */
interface KindWeights {
  readonly calm: Weights;
  readonly stormy: Weights;
  readonly lossy: Weights;
  readonly subscriptions: Weights;
  /** Times that pass, in ms. */
  readonly passes: readonly number[];
}

const SUBSCRIPTIONS: Weights = [
  [6, 'subscribe'],
  [2, 'resubscribe'],
];

const WEIGHTS: KindWeights = {
  calm: [
    [16, 'send'],
    [12, 'answer'],
    [8, 'execute'],
    [4, 'pass'],
    [2, 'replicate'],
  ],
  stormy: [
    ...(['loseReply', 'lose', 'duplicate', 'hang', 'refuse', 'failWithBug'] as const).map(
      (type) => [2, type] as const,
    ),
    [4, 'executeLate'],
    ...(['partition', 'freeze', 'fillMemory', 'connectReplica'] as const).map((type) => [1, type] as const),
    [2, 'kill'],
    [4, 'snapshots'],
    [2, 'archive'],
    [2, 'trim'],
  ],
  lossy: [
    [2, 'promote'],
    [2, 'restart'],
  ],
  subscriptions: SUBSCRIPTIONS,
  passes: [10, 30, 60, 100],
};

const FEED_WEIGHTS: KindWeights = {
  ...WEIGHTS,
  calm: [...WEIGHTS.calm, [6, 'project'], [30, 'advance']],
  lossy: [
    [8, 'promote'],
    [8, 'restart'],
  ],
  subscriptions: [],
};

const ADAPTER_WEIGHTS: KindWeights = {
  calm: [
    [16, 'send'],
    [10, 'pass'],
    [2, 'replicate'],
    [1, 'slowDown'],
    [1, 'setBandwidth'],
  ],
  stormy: [
    ...(['break', 'close', 'silence'] as const).map((type) => [2, type] as const),
    [4, 'connectReplica'],
    ...(['partition', 'freeze', 'stop', 'kill'] as const).map((type) => [1, type] as const),
    ...(['archive', 'trim'] as const).map((type) => [4, type] as const),
    ...(['fillMemory', 'breakDisk', 'flushScripts'] as const).map((type) => [1, type] as const),
  ],
  lossy: [
    [1, 'promote'],
    [4, 'failOver'],
    [1, 'restart'],
  ],
  subscriptions: SUBSCRIPTIONS,
  passes: [1, 2, 5, 10, 30, 100, 300, 1000],
};

const CLUSTER_WEIGHTS: KindWeights = {
  ...ADAPTER_WEIGHTS,
  calm: [...ADAPTER_WEIGHTS.calm, [4, 'migrate']],
  stormy: [...ADAPTER_WEIGHTS.stormy, [2, 'dropSlot']],
};

function movesOf(
  below: Below,
  oneOf: OneOf,
  user: () => number,
  passes: readonly number[],
): Readonly<Record<Move['type'], () => Move>> {
  const nth = () => below(12);
  const on = () => below(2) === 0;
  const id = () => 1 + below(3);
  // Creations twice as often. The simulation assigns unique names, so that a list shows which requests took effect.
  const types = ['create', ...Object.keys(WRITES), 'list'] as readonly PlantRequest['type'][];
  const request = (): PlantRequest => {
    const type = oneOf(...types);
    return type === 'list' ? { type } : writeOf(type, id(), '');
  };
  const action = (type: CallAction) => (): Move => ({ type, nth: nth() });
  return {
    send: () => ({ type: 'send', nth: nth(), user: user(), request: request() }),
    execute: action('execute'),
    answer: action('answer'),
    loseReply: action('loseReply'),
    lose: action('lose'),
    duplicate: action('duplicate'),
    hang: action('hang'),
    refuse: action('refuse'),
    failWithBug: action('failWithBug'),
    executeLate: action('executeLate'),
    advance: () => ({ type: 'advance' }),
    pass: () => ({ type: 'pass', ms: below(LONG_PASS) === 0 ? LONG_PASS_MS : oneOf(...passes) }),
    kill: () => ({ type: 'kill', nth: nth() }),
    partition: () => ({ type: 'partition', nth: nth(), on: on() }),
    freeze: () => ({ type: 'freeze', on: on() }),
    fillMemory: () => ({ type: 'fillMemory', on: on() }),
    connectReplica: () => ({ type: 'connectReplica', nth: nth(), on: on() }),
    replicate: () => ({ type: 'replicate', nth: nth(), writes: 1 + below(4) }),
    promote: () => ({ type: 'promote', nth: nth() }),
    restart: () => ({ type: 'restart', lost: oneOf(0, 0, 1, 3) }),
    snapshots: () => ({ type: 'snapshots', are: oneOf(...SNAPSHOT_STATES) }),
    break: () => ({ type: 'break', nth: nth() }),
    silence: () => ({ type: 'silence', nth: nth() }),
    stop: () => ({ type: 'stop', on: on() }),
    close: () => ({ type: 'close', nth: nth() }),
    setBandwidth: () => ({ type: 'setBandwidth', bytesPerMs: oneOf(10, 40, 1000) }),
    slowDown: () => ({ type: 'slowDown', msPerCommand: oneOf(0.0625, 1, 10, 40) }),
    failOver: () => ({ type: 'failOver', nth: nth() }),
    breakDisk: () => ({ type: 'breakDisk', on: on() }),
    flushScripts: () => ({ type: 'flushScripts' }),
    archive: () => ({ type: 'archive', nth: nth(), user: user(), commits: 1 + below(4) }),
    dropSlot: () => ({ type: 'dropSlot', user: oneOf(0, 1), on: on() }),
    migrate: () => ({ type: 'migrate', user: oneOf(0, 1) }),
    trim: () => ({ type: 'trim', nth: nth(), user: user(), events: oneOf(1, 2, UNLIMITED) }),
    subscribe: () => ({
      ...{ type: 'subscribe', nth: nth(), user: user() },
      ...{ after: oneOf(0, 0, below(8), below(60)), pauseMs: oneOf(0, 0, 20) },
    }),
    resubscribe: () => ({ type: 'resubscribe', nth: nth(), instance: nth() }),
    project: () => ({
      ...{ type: 'project', nth: nth() },
      ...{ commitMs: oneOf(0, 0, 20, 300), replyMs: oneOf(0, 0, 20, 300) },
    }),
  };
}
