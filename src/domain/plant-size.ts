import type { Plant } from './plant';
import type { PlantId } from './plant-id';

/** Map entry, segment slots and the object of one plant without its texts, in bytes (measured: 86 to 110). */
const PLANT_BYTES = 120;
/** Header of a string on the heap, in bytes. */
const TEXT_BYTES = 16;
/** From this length on it is worth looking whether a text takes one byte or two a character. */
const LONG_TEXT = 64;
/** Up to this many characters an id is a small integer for V8: it takes no object, and about half the time to find. */
export const SHORT_ID = 9;

/** About how much memory a living plant takes, in bytes; rather too much than too little. */
export function plantBytes(id: PlantId, { name, tag }: Plant): number {
  return (
    PLANT_BYTES +
    (id.length > SHORT_ID ? textBytes(id) : 0) +
    textBytes(name) +
    (tag === undefined ? 0 : textBytes(tag))
  );
}

function textBytes(text: string): number {
  const wide = text.length < LONG_TEXT || /[^\0-\xff]/.test(text);
  return TEXT_BYTES + (wide ? 2 : 1) * text.length;
}
