/** The common parts of the servers: the plants, and the line with the address. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

// Types instead of interfaces, because Emmett requires an index signature of events.
export type Plant = { readonly name: string; readonly tag?: string };
export type NewPlant = Plant & { readonly id: number };

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

export function serve(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    announce((server.address() as AddressInfo).port);
  });
}

/** The line that the benchmark waits for. */
export function announce(port: number): void {
  console.log(`listens on http://127.0.0.1:${port}`);
}
