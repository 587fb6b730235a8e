/** The common parts of the servers: the plants, and the line with the address. */
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Plant {
  readonly name: string;
  readonly tag?: string;
}

export interface NewPlant extends Plant {
  readonly id: number;
}

export const PLANT: Plant = { name: 'Monstera deliciosa', tag: 'indoor' };

/** The response to a list of 100 plants, 4.4 KB. */
export const LIST = Buffer.from(JSON.stringify(Array.from({ length: 100 }, () => PLANT)));

/** The body of a POST, as JSON Schema. */
export const newPlantSchema = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string', minLength: 1 },
    tag: { type: 'string' },
  },
} as const;

/** The parts of the compiled service in this folder, whose sources are not part of this compilation. */
export function partsIn(folder: string): (name: string) => any {
  return (name) => require(`${folder}/dist/${name}`);
}

/** Reads the body of a request. Without a promise, because that would cost time. */
export function readText(request: IncomingMessage, then: (text: string) => void): void {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (text += chunk));
  request.on('end', () => then(text));
}

export function serve(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    announce((server.address() as AddressInfo).port);
  });
}

/** The line that the benchmark waits for. */
export function announce(port: number): void {
  console.log(`listens on http://127.0.0.1:${port}`);
}

/** Names of the users by their tokens, configured as those of plant-store. */
const users = new Map(
  (process.env['AUTH_TOKENS'] ?? '').split(',').map((each) => {
    const [user = '', token = ''] = each.split(':');
    return [token, user];
  }),
);

/** The user of a header field `Authorization: Bearer …`. */
export function userOf(authorization: string | undefined): string | undefined {
  return authorization?.startsWith('Bearer ') ? users.get(authorization.slice(7)) : undefined;
}
