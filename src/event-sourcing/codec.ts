/** An encoded event: two texts of well-formed Unicode. */
export interface EncodedEvent {
  /** The type of the event, which determines the format of `data`; not empty. */
  readonly type: string;
  readonly data: string;
}

/**
 * Encodes a domain's events as text and decodes them, for any store.
 *
 * `decode` reverses `encode` exactly. It also reads events that earlier versions of the domain wrote, and upcasts
 * them to today's events. It returns `undefined` for any other text.
 */
export interface Codec<Event> {
  encode(event: Event): EncodedEvent;
  decode(encoded: EncodedEvent): Event | undefined;
}
