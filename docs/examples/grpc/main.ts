/**
 * Serves plants over HTTP at PORT and over gRPC at GRPC_PORT, for the user of TOKEN, until SIGTERM.
 */
import { staticTokens } from 'plant-store/adapters/auth';
import { serve } from 'plant-store/adapters/http';
import { system } from 'plant-store/adapters/system';
import { PlantStore, parseUser } from 'plant-store/application';
import { openStore } from '../orders/open-store.js';
import { serveGrpc } from './grpc.js';

const { TOKEN, PORT = '3000', GRPC_PORT = '50051' } = process.env;
const opened = await openStore('plants');
const plants = new PlantStore({ ...system(), store: opened.store });
const authenticator = staticTokens(new Map([[TOKEN!, parseUser('alice')!]]));
const http = await serve({ plants, authenticator, port: Number(PORT) });
const rpc = await serveGrpc({ plants, authenticator, address: `127.0.0.1:${GRPC_PORT}` });
console.log(`http://127.0.0.1:${http.port}/plants and 127.0.0.1:${rpc.port}`);

process.once('SIGTERM', () => void close());

async function close(): Promise<void> {
  const timeoutMs = 10_000;
  await Promise.all([http.close({ noticeMs: 0, timeoutMs }), rpc.close({ timeoutMs })]);
  await opened.close();
}
