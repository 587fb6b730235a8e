/** Values of promtool, one a minute: a failure lasts from minute 11 to minute 31. */
const during = (well: number, failed: number) => `${well}x10 ${failed}x20 ${well}x60`;
const STEADY = '0+600x90';
const NONE = '0x90';
const ONCE = '0x10 1x80';
const REPEATED = '0x10 60+60x20 1260x60';
const VANISHED = '1x10 stale _x19 1x60';

const LABELS = 'job="plant-store",instance="a"';
const of = (name: string, labels = '') => `${name}{${LABELS}${labels && `,${labels}`}}`;
const requests = (status: number, route = '/plants') =>
  of('http_request_duration_seconds_count', `route="${route}",status="${status}"`);
const bucket = (limit: string) => of('http_request_duration_seconds_bucket', `route="/plants",le="${limit}"`);
const failures = (reason: string) => of('http_request_failures_total', `reason="${reason}"`);
const projection = (metric: string, labels = '') =>
  of(`plant_store_projection_${metric}`, `projection="tags"${labels && `,${labels}`}`);
const SECOND_UP = 'up{job="plant-store",instance="b"}';
const REDIS_MEMORY = 'redis_memory_used_bytes{job="plant-store-redis"}';
const REDIS_DISK = 'node_filesystem_avail_bytes{job="plant-store-disk",mountpoint="/data"}';

/** Values by series. */
type AllSeries = Readonly<Record<string, string>>;

/** All is well: requests succeed, also in another namespace, and some fail in ways that are no alert. */
export const WELL: AllSeries = {
  [of('up')]: '1x90',
  [SECOND_UP]: '1x90',
  [of('process_start_time_seconds')]: '1000x90',
  [requests(200)]: STEADY,
  [requests(401)]: '0+60x90',
  [requests(503)]: NONE,
  [requests(503, '/health/ready')]: '0+60x90',
  'http_request_duration_seconds_count{job="plant-store",namespace="other",route="/plants",status="200"}':
    '0+600000x90',
  [bucket('0.5')]: STEADY,
  [bucket('1')]: STEADY,
  [bucket('+Inf')]: STEADY,
  [failures('bug')]: NONE,
  [failures('store')]: NONE,
  [failures('token_expired')]: NONE,
  [failures('user_requests')]: NONE,
  [of('http_connections')]: '1x90',
  [of('http_connections_limit')]: '4096x90',
  [of('http_refused_connections_total', 'reason="limit"')]: NONE,
  [of('plant_store_ready')]: '1x90',
  [of('plant_store_event_store_available', 'operation="append"')]: '1x90',
  [of('plant_store_lost_histories_total')]: NONE,
  [of('plant_store_faults_total', 'kind="unreadable"')]: NONE,
  [of('plant_store_redis_finding', 'finding="late_fsync"')]: '0x90',
  [of('plant_store_loads_in_progress')]: '1x90',
  [of('plant_store_loads_waiting')]: '0x90',
  [of('plant_store_too_large_total')]: NONE,
  [of('plant_store_auth_source_up', 'source="key_set"')]: '1x90',
  [of('plant_store_appended_events_total')]: STEADY,
  [projection('buckets', 'state="running"')]: '64x90',
  [projection('buckets', 'state="stopped"')]: '0x90',
  [projection('buckets', 'state="unassigned"')]: '0x90',
  [projection('lag_commits')]: '2000x90',
  [of('plant_store_snapshots_total', 'outcome="saved"')]: '0+1x90',
  [of('plant_store_snapshots_total', 'outcome="failed"')]: NONE,
  [REDIS_MEMORY]: '70x90',
  'redis_memory_max_bytes{job="plant-store-redis"}': '100x90',
  [REDIS_DISK]: '60x90',
  'node_filesystem_size_bytes{job="plant-store-disk",mountpoint="/data"}': '100x90',
};

/** What differs from {@link WELL}, the alert that fires, and the minutes in which it does first and no longer. */
type AlertCase = readonly [failure: string, alert: string, series: AllSeries, fires: number, clears: number];

export const FAILURES: readonly AlertCase[] = [
  [
    'requests get 503',
    'PlantStoreErrors',
    { [requests(503)]: REPEATED, [failures('store')]: REPEATED },
    16,
    36,
  ],
  [
    'all requests get 401',
    'PlantStoreUnauthorized',
    {
      [requests(200)]: '0+600x10 6000x20 6000+600x60',
      [requests(401)]: '0+60x10 1200+600x20 13200+60x60',
      [failures('token_expired')]: REPEATED,
    },
    18,
    35,
  ],
  [
    'one in ten requests is slow',
    'PlantStoreSlow',
    Object.fromEntries(['1', '+Inf'].map((limit) => [bucket(limit), '0+600x10 6660+660x20 20460+600x60'])),
    16,
    36,
  ],
  ['an instance is not ready', 'PlantStoreNotReady', { [of('plant_store_ready')]: during(1, 0) }, 13, 32],
  ['an instance cannot be scraped', 'PlantStoreNotReady', { [of('up')]: during(1, 0) }, 13, 32],
  ['no instance is left', 'PlantStoreNotReady', { [of('up')]: VANISHED, [SECOND_UP]: VANISHED }, 13, 31],
  ['an instance vanishes from discovery', 'PlantStoreInstanceMissing', { [SECOND_UP]: VANISHED }, 16, 22],
  [
    'an instance restarts in a loop',
    'PlantStoreRestarts',
    { [of('process_start_time_seconds')]: '1000x10 1060 1120 1180x70' },
    13,
    26,
  ],
  [
    'Redis refuses writes',
    'PlantStoreWritesRefused',
    { [of('plant_store_event_store_available', 'operation="append"')]: during(1, 0) },
    12,
    32,
  ],
  ['a history is lost', 'PlantStoreLostHistory', { [of('plant_store_lost_histories_total')]: ONCE }, 11, 26],
  ['a request gets 500', 'PlantStoreBug', { [failures('bug')]: ONCE }, 11, 26],
  [
    'a history cannot be read',
    'PlantStoreUnreadableHistory',
    { [of('plant_store_faults_total', 'kind="unreadable"')]: ONCE },
    11,
    26,
  ],
  [
    'Redis has a finding',
    'PlantStoreFinding',
    { [of('plant_store_redis_finding', 'finding="late_fsync"')]: during(0, 1) },
    12,
    32,
  ],
  ['loads wait', 'PlantStoreLoadsWaiting', { [of('plant_store_loads_waiting')]: during(0, 1) }, 16, 32],
  ['a user is too large', 'PlantStoreTooLarge', { [of('plant_store_too_large_total')]: ONCE }, 11, 26],
  ['requests are refused', 'PlantStoreLimit', { [failures('user_requests')]: REPEATED }, 16, 36],
  [
    'connections are refused',
    'PlantStoreLimit',
    { [of('http_refused_connections_total', 'reason="limit"')]: REPEATED },
    16,
    36,
  ],
  [
    'the key set cannot be read',
    'PlantStoreAuthSource',
    { [of('plant_store_auth_source_up', 'source="key_set"')]: during(1, 0) },
    16,
    32,
  ],
  [
    'a snapshot cannot be saved',
    'PlantStoreSnapshots',
    { [of('plant_store_snapshots_total', 'outcome="failed"')]: ONCE },
    11,
    26,
  ],
  [
    'an event cannot be applied',
    'PlantStoreProjectionStopped',
    { [projection('buckets', 'state="stopped"')]: during(0, 1) },
    16,
    32,
  ],
  [
    'a projection has ended',
    'PlantStoreProjectionStopped',
    { [projection('buckets', 'state="unassigned"')]: during(0, 64) },
    16,
    32,
  ],
  [
    'a projection is slow',
    'PlantStoreProjectionBehind',
    { [projection('lag_commits')]: during(2000, 3001) },
    16,
    32,
  ],
  ['Redis nears maxmemory', 'PlantStoreRedisMemory', { [REDIS_MEMORY]: during(70, 81) }, 16, 32],
  ['the disk of Redis is nearly full', 'PlantStoreRedisDisk', { [REDIS_DISK]: during(60, 29) }, 16, 32],
];
