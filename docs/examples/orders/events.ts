/**
 * `node dist/orders/events.js events verify`, and the other commands for events, with the kinds of
 * this domain.
 */
import { runCommandLine, toCliKind } from 'plant-store/command-line';
import { orderKind } from './order.js';

void runCommandLine(process.argv.slice(2), [
  toCliKind(orderKind, { items: { name: 'line', count: ({ lines }) => lines.length } }),
]);
