/**
 * The rules of an order, and its events as JSON. Money is exact: all prices and amounts are
 * integers of cents.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Decider, type Decision, type Kind, jsonCodec } from 'plant-store/event-sourcing';

export type Line = Readonly<{ article: string; quantity: number; price: number }>;

export type OrderCommand =
  | { readonly type: 'PlaceOrder'; readonly lines: readonly Line[] }
  | { readonly type: 'PayOrder'; readonly amount: number };

export type OrderEvent =
  | ({ readonly type: 'LineAdded' } & Line)
  | { readonly type: 'OrderPlaced'; readonly total: number }
  | { readonly type: 'OrderPaid'; readonly amount: number };

export type OrderStatus = 'unplaced' | 'placed' | 'paid';
export type Order = Readonly<{ status: OrderStatus; lines: readonly Line[] }>;
export type OrderRejection = `order-${OrderStatus}` | 'lines-invalid' | 'amount-wrong';

/** Every command may be repeated: it says what shall be the case. */
const decider: Decider<OrderCommand, OrderEvent, OrderRejection, Order> = {
  initialState: () => ({ status: 'unplaced', lines: [] }),

  decide(command, { status, lines }) {
    switch (command.type) {
      case 'PlaceOrder':
        if (status === 'unplaced') return place(command.lines);
        return isDeepStrictEqual(command.lines, lines)
          ? { events: [] }
          : { rejection: `order-${status}` };
      case 'PayOrder':
        if (status === 'unplaced') return { rejection: 'order-unplaced' };
        if (command.amount !== totalOf(lines)) return { rejection: 'amount-wrong' };
        return { events: status === 'paid' ? [] : [{ type: 'OrderPaid', amount: command.amount }] };
    }
  },

  evolve({ lines }, event) {
    if (event.type !== 'LineAdded') return { status: STATUS_AFTER[event.type], lines };
    const { type, ...line } = event;
    return { status: 'unplaced', lines: [...lines, line] };
  },
};

const STATUS_AFTER = { OrderPlaced: 'placed', OrderPaid: 'paid' } as const;

function place(lines: readonly Line[]): Decision<OrderEvent, OrderRejection> {
  const total = totalOf(lines);
  const numbers = lines.flatMap(({ quantity, price }) => [quantity, price]);
  if (![total, ...numbers].every(isWhole)) return { rejection: 'lines-invalid' };
  const added = lines.map((line) => ({ type: 'LineAdded', ...line }) as const);
  return { events: [...added, { type: 'OrderPlaced', total }] };
}

/** Whether it is an integer, 1 or more, that a JavaScript number holds exactly. */
const isWhole = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;
/**
 * Without U+0000, which a text of PostgreSQL cannot contain: an event that a read model refuses
 * would stop it forever.
 */
const isText = (value: unknown) =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0');

const totalOf = (lines: readonly Line[]) =>
  lines.reduce((sum, line) => sum + line.quantity * line.price, 0);

export const orderKind: Kind<OrderCommand, OrderEvent, OrderRejection, Order> = {
  category: 'orders',
  decider,
  codec: jsonCodec<OrderEvent>({
    LineAdded: { article: isText, quantity: isWhole, price: isWhole },
    OrderPlaced: { total: isWhole },
    OrderPaid: { amount: isWhole },
  }),
};

/** The lines in a body; `undefined` if it is anything else. The rules check their numbers. */
export function linesOf(body: unknown): readonly Line[] | undefined {
  if (!Array.isArray(body)) return undefined;
  const lines = body.map(({ article, quantity, price } = {} as Line) => ({
    article,
    quantity,
    price,
  }));
  return lines.every(({ article }) => isText(article)) ? lines : undefined;
}
