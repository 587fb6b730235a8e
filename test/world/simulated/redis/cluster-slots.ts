import { bucketOf } from '../../../../src/adapters/redis/stream-key';
import { type StreamName, partsOf } from '../../../../src/event-sourcing';

/** One of the two nodes of the simulated Cluster. */
export type ClusterNode = 0 | 1;

/** The node that owns the slot of a stream, and the node that has its keys. They differ while the slot migrates. */
interface Place {
  readonly owner: ClusterNode;
  readonly keys: ClusterNode;
}

const SLOTS = 16_384;
export const PORT = 6379;

/** The address of a node, as an instance reaches it. */
export function hostOf(instance: number, node: ClusterNode): string {
  return `10.0.${instance}.${node}`;
}

/** The instance and the node of an address. */
export function placeOf(host: string): { instance: number; node: ClusterNode } {
  const [instance, node] = host.split('.').slice(2).map(Number);
  return { instance: instance!, node: node as ClusterNode };
}

/** The slots of a Cluster. The first node has all but those that were migrated. */
export class ClusterSlots {
  readonly #places = new Map<StreamName, Place>();
  /** The streams whose slots no node serves. */
  readonly down = new Set<StreamName>();

  /** The next step of moving a slot to the other node: its keys first, then the slot. */
  migrate(stream: StreamName): void {
    const { owner, keys } = this.#placeOf(stream);
    this.#places.set(stream, owner === keys ? { owner, keys: other(keys) } : { owner: keys, keys });
  }

  /** The error reply of a node that does not serve the stream. */
  redirection(
    stream: StreamName,
    { instance, node, asking }: { instance: number; node: ClusterNode; asking: boolean },
  ): string | undefined {
    if (this.down.has(stream)) return 'CLUSTERDOWN Hash slot not served';
    const { owner, keys } = this.#placeOf(stream);
    const to = (target: ClusterNode) => `${slotOf(stream)} ${hostOf(instance, target)}:${PORT}`;
    if (node === owner) return keys === owner ? undefined : `ASK ${to(keys)}`;
    return asking && node === keys ? undefined : `MOVED ${to(owner)}`;
  }

  /** The reply of CLUSTER SLOTS. */
  slots(instance: number): (number | (string | number)[])[][] {
    const migrated = [...this.#places]
      .flatMap(([stream, { owner }]) => (owner === 1 ? [slotOf(stream)] : []))
      .sort((a, b) => a - b);
    const range = (first: number, last: number, node: ClusterNode) =>
      first > last ? [] : [[first, last, [hostOf(instance, node), PORT, `node ${node}`]]];
    return [
      ...migrated.flatMap((slot, index) => [
        ...range(index === 0 ? 0 : migrated[index - 1]! + 1, slot - 1, 0),
        ...range(slot, slot, 1),
      ]),
      ...range((migrated.at(-1) ?? -1) + 1, SLOTS - 1, 0),
    ];
  }

  #placeOf(stream: StreamName): Place {
    return this.#places.get(stream) ?? { owner: 0, keys: 0 };
  }
}

function other(node: ClusterNode): ClusterNode {
  return node === 0 ? 1 : 0;
}

/** CRC16 of the hash tag. */
function slotOf(stream: StreamName): number {
  let crc = 0;
  for (const byte of Buffer.from(String(bucketOf(encodeURIComponent(partsOf(stream).id))))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}
