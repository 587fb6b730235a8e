import type { Codec } from './codec';

/** By the name of each member of an event but `type`: whether a value may be that member. */
export type MemberChecks<Event> = {
  readonly [Name in Exclude<keyof Event, 'type'>]-?: (value: unknown) => boolean;
};

/** By the type of each event of a domain. The compiler names a type or member that is missing. */
export type EventChecks<Event extends { readonly type: string }> = {
  readonly [Type in Event['type']]: MemberChecks<Extract<Event, { readonly type: Type }>>;
};

/**
 * Writes an event as a JSON object of its members, in the order of their checks; one that is `undefined` is left out.
 * For events whose members JSON holds exactly.
 *
 * `encode` throws TypeError if a check fails, since the event could not be read again. Exactly what `encode` writes
 * is decoded.
 */
export function jsonCodec<Event extends { readonly type: string }>(checks: EventChecks<Event>): Codec<Event> {
  const types = new Map(Object.entries<MemberChecks<Event>>(checks));

  /** The members of an event of this type; `undefined` if there is no such type, or a check fails. */
  function membersOf(type: string, source: Readonly<Record<string, unknown>>): object | undefined {
    const names = types.get(type);
    if (names === undefined) return undefined;
    const members = Object.entries<(value: unknown) => boolean>(names).map(
      ([name, check]) => [name, source[name], check] as const,
    );
    if (!members.every(([, value, check]) => check(value))) return undefined;
    return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as object;
  }

  return {
    encode(event) {
      const { type, ...source } = event;
      const members = membersOf(type, source);
      if (members === undefined) throw new TypeError(`a member of ${type} could not be read again`);
      return { type, data: JSON.stringify(members) };
    },
    decode({ type, data }) {
      const members = membersOf(type, parseJsonObject(data));
      // A member more, one that occurs twice, another order or spelling: all of these are written differently.
      if (members === undefined || JSON.stringify(members) !== data) return undefined;
      return { type, ...members } as unknown as Event;
    },
  };
}

/** The members of the JSON object in `text`; none if `text` is anything else. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
