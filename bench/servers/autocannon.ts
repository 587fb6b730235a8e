/** The same load from autocannon, for machines without wrk. Its argument is a `Load`; it prints the result. */
import autocannon from 'autocannon';
import { CONNECTIONS, type Load } from './load';

const { method, url, token, ids, seconds } = JSON.parse(process.argv[2]!) as Load;
const left = ids.map(({ first, count }) => ({ first, count }));

let outOfIds = 0;

/** After the last id, the request is one that every server refuses. */
function nextId(): string {
  while (left[0]?.count === 0) left.shift();
  const range = left[0];
  if (!range) {
    outOfIds = 1;
    return 'none';
  }
  range.count--;
  return String(range.first++);
}

const { pathname } = new URL(url);
const requests: Record<Load['method'], autocannon.Request> = {
  GET: { method: 'GET' },
  POST: {
    method: 'POST',
    setupRequest: (request) => ({
      ...request,
      headers: { ...request.headers, 'Content-Type': 'application/json' },
      body: `{"id":${nextId()},"name":"Monstera deliciosa","tag":"indoor"}`,
    }),
  },
  DELETE: { method: 'DELETE', setupRequest: (request) => ({ ...request, path: `${pathname}/${nextId()}` }) },
};

const options: autocannon.Options = {
  url,
  connections: CONNECTIONS,
  duration: seconds,
  timeout: 20,
  headers: { Authorization: `Bearer ${token}` },
  requests: [requests[method]],
};

const running = autocannon(options, (error: Error | null, result) => {
  if (error) throw error;
  const { latency, duration, errors, non2xx } = result;
  console.log(
    JSON.stringify({
      requests: result['2xx'] + non2xx,
      seconds: duration,
      refused: non2xx,
      unanswered: errors,
      outOfIds,
      p99Ms: latency.p99,
      maxMs: latency.max,
    }),
  );
});
// By default it checks the time once a second.
setTimeout(() => running.stop?.(), seconds * 1000).unref();
