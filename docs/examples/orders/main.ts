import { system } from 'plant-store/adapters/system';
import { Aggregates, OutcomeUnknown, parseStreamName } from 'plant-store/event-sourcing';
import { type OrderCommand, orderDecider } from './order.js';
import { codec, openStore } from './store.js';

const { store, close } = await openStore('orders');
const orders = new Aggregates(orderDecider, { ...system(), store, codec });
const order = parseStreamName('order 1')!;

/** Repeats a command whose outcome is unknown. All commands are idempotent. */
async function execute(command: OrderCommand) {
  const { events, rejection } = await orders.execute(order, command).catch((error: unknown) => {
    if (error instanceof OutcomeUnknown) return orders.execute(order, command);
    throw error;
  });
  console.log(command.type, rejection ?? events);
}

const lines = [{ article: 'pen', quantity: 3, price: 10 }];
const pay = { type: 'PayOrder', amount: 30 } as const;
await Promise.all([pay, { type: 'PlaceOrder', lines } as const, pay, pay].map(execute));
console.log(await orders.query(order, ({ status }) => status));
close?.();
