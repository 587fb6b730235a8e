import type { Plant } from './plant';
import type { PlantId } from './plant-id';

/** Map entry, segment slots and the object of one plant without its texts, in bytes. */
const PLANT_BYTES = 120;
/** Header of a string on the heap, in bytes. */
const TEXT_BYTES = 16;
/** From this length on, a text is checked for whether V8 stores one byte or two per character. */
const LONG_TEXT = 64;
/** Up to this length an id is a small integer for V8, without an object. */
export const SHORT_ID = 9;

/** Estimated memory of a living plant, in bytes; rather too high than too low. */
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
