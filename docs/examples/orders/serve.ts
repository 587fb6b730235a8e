import { openApp } from './http.js';

const app = await openApp('orders');
console.log(await app.listen({ port: Number(process.env['PORT'] ?? 3001) }));
