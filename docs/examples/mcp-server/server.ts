/**
 * plant-store for language models: an MCP server on stdin and stdout. It has one
 * user, the one who starts it, so it needs no authentication.
 *
 *   PLANT_USER  the user whose plants it serves; required
 *   REDIS_URL   the Redis that stores them; without it they are in memory, and lost at exit
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { MemoryEventStore } from 'plant-store/adapters/memory';
import { openRedisEventStore } from 'plant-store/adapters/redis';
import { system } from 'plant-store/adapters/system';
import {
  FAILURES,
  PlantStore,
  type Problem,
  REJECTED,
  USER_RULE,
  failureOf,
  parseUser,
} from 'plant-store/application';
import { NewPlant, PLANT_ID_RULE, parsePlantId } from 'plant-store/domain';
import { z } from 'zod';

const user = parseUser(process.env['PLANT_USER'] ?? '');
if (user === undefined) {
  console.error(`PLANT_USER must be ${USER_RULE}`);
  process.exit(2);
}
// stdout belongs to the protocol, so logs go to stderr.
const report = (level: string, message: string) => console.error(`${level}: ${message}`);
const url = process.env['REDIS_URL'];
const { store, close } = url
  ? await openRedisEventStore({ url, report })
  : { store: new MemoryEventStore(), close: () => {} };
const plants = new PlantStore({ ...system(), store });

// A JSON number loses digits beyond 2^53, in the client as well as here. A string does not.
const id = z
  .string()
  .transform((text, context) => {
    const parsed = parsePlantId(text);
    if (parsed === undefined) context.addIssue(`must be ${PLANT_ID_RULE}`);
    return parsed ?? z.NEVER;
  })
  .describe('Identifier: an integer of 64 bits with its sign, as a string of decimal digits');
const text = z.string().refine((value) => value.isWellFormed(), 'must be well-formed Unicode');

const server = new McpServer({ name: 'plant-store', version: '1.0.0' });

server.registerTool(
  'create_plant',
  {
    description: 'Creates a plant. Its id must not be that of another living plant.',
    inputSchema: { id, name: text.min(1), tag: text.optional() },
  },
  ({ id, name, tag }) =>
    answer(async () => {
      const { rejection } = await plants.create(user, NewPlant.from({ id, name, tag }).plant!);
      return rejection ? failed(REJECTED[rejection]) : `Created plant ${id}.`;
    }),
);

server.registerTool(
  'list_plants',
  {
    description: 'Lists the plants in the order of their creation, a page at a time.',
    inputSchema: {
      limit: z.int().min(1).max(1000).default(100),
      after: z.int().min(0).default(0).describe('`next` of the page before'),
    },
    outputSchema: {
      plants: z.array(z.object({ name: z.string(), tag: z.string().optional() })),
      next: z.int().optional(),
    },
    annotations: { readOnlyHint: true },
  },
  (query) =>
    answer(async () => {
      const { plants: page, next } = await plants.list(user, query);
      return { plants: page, ...(next === undefined ? {} : { next }) };
    }),
);

server.registerTool(
  'delete_plant',
  { description: 'Deletes a plant.', inputSchema: { id }, annotations: { destructiveHint: true } },
  ({ id }) =>
    answer(async () => {
      const { rejection } = await plants.delete(user, id);
      return rejection ? failed(REJECTED[rejection]) : `Deleted plant ${id}.`;
    }),
);

/** Converts a result to MCP. A failure is a result too, because the model reads results only. */
async function answer(work: () => Promise<string | object>): Promise<CallToolResult> {
  try {
    const result = await work();
    if (typeof result === 'string') return { content: [{ type: 'text', text: result }] };
    if ('isError' in result) return result as CallToolResult;
    return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: { ...result } };
  } catch (error) {
    const failure = failureOf(error);
    if (failure === FAILURES.bug) report('error', String(error));
    return failed(failure);
  }
}

function failed({ error, message }: Problem): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: `${error}: ${message}` }] };
}

await server.connect(new StdioServerTransport());
// The client ends the session by closing stdin. Requests before that still get their responses.
process.stdin.once('end', () => close());
