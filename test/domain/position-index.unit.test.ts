import { expect } from 'chai';
import { type Key, PositionIndex, keyOf } from '../../src/domain/position-index';
import { plantId } from '../support/given';

describe('The index of positions', () => {
  /** Short ids, negative ones, and long ones that share their last digits. */
  const keys: readonly Key[] = Array.from({ length: 30_000 }, (_, index) => [
    keyOf(plantId(index)),
    keyOf(plantId(-1 - index)),
    keyOf(plantId(`${1_000_000_000 + index}12345678`)),
  ]).flat();

  it('finds what a map finds, however large it is, and after removals', () => {
    const [index, map] = [new PositionIndex(), new Map<Key, number>()];
    const expectSame = () => {
      expect(index.size).to.equal(map.size);
      for (const key of keys) if (index.get(key) !== map.get(key)) expect.fail(`another position of ${key}`);
    };
    keys.forEach((key, position) => {
      index.add(key, position);
      map.set(key, position);
    });
    expectSame();
    for (let removed = 0; removed < keys.length; removed += 3) {
      index.remove(keys[removed]!);
      map.delete(keys[removed]!);
    }
    expectSame();
    for (let again = 0; again < keys.length; again += 6) {
      index.add(keys[again]!, again + 1);
      map.set(keys[again]!, again + 1);
    }
    expectSame();
  });
});
