/** Serves orders from Redis at REDIS_URL, or from memory. */
import { openStore } from './open-store.js';
import { ordersApp } from './http.js';

const port = Number(process.env['PORT'] ?? 3001);
ordersApp(await openStore('orders')).app.listen(port, () =>
  console.log(`http://127.0.0.1:${port}/orders`),
);
