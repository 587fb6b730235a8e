import { expect } from 'chai';
import { plantedIn } from './faults';

const SOURCE = `
const LIMIT = /a"b/;
export function outer(): void {
  const call = async (first: number) => {
    send(first, { second: 2 });
  };
}
class Calls {
  #count = 0;
  call(): void {
    this.#count++;
    send(1);
    send(1);
  }
}
`;
const fault = (path: string, before: string, after = '', file = 'source.ts') => {
  const others = { what: '', test: '', title: '' };
  return { ...others, file, path: path.split('.'), before, after };
};

describe('A planted fault', () => {
  it('replaces a text of its function, however that is formatted', () => {
    const planted = fault('outer.call', 'send(first, { second: 2 });', 'send(0);');
    for (const [before, after] of [
      ['send(first, { second: 2 });', 'send(0);'],
      ['send(\n  first,\n  { second: 2 },\n);', 'send(0);'],
    ] as const) {
      const text = SOURCE.replace('send(first, { second: 2 });', before);
      expect(plantedIn(text, planted)).to.equal(
        SOURCE.replace('send(first, { second: 2 });', after),
      );
    }
    const trailing = fault('outer.call', 'send(\nfirst,\n{ second: 2 },\n);', 'send(0);');
    expect(plantedIn(SOURCE, trailing)).to.contain('send(0);');
  });

  it('is planted in a constant, and in a function of Lua', () => {
    expect(
      plantedIn(SOURCE, fault('LIMIT', 'const LIMIT = /a"b/;', 'const LIMIT = /c/;')),
    ).to.contain('= /c/;');
    const lua =
      'local function one()\n  return 1\nend\n\nlocal function other()\n  return 1\nend\n';
    expect(plantedIn(lua, fault('other', 'return 1', 'return 2', 'script.lua'))).to.equal(
      'local function one()\n  return 1\nend\n\nlocal function other()\n  return 2\nend\n',
    );
  });

  for (const [path, before, message] of [
    ['Calls.call', 'send(1);', 'Calls.call of source.ts has 2 times'],
    ['Calls.call', 'send(2);', 'Calls.call of source.ts has 0 times'],
    ['Calls.call', 'end(1);', 'Calls.call of source.ts has 0 times'],
    ['Calls.call', '#count = 0;', 'Calls.call of source.ts has 0 times'],
    ['call', 'send(1);', 'source.ts has 0 functions call'],
    ['Calls.other', 'send(1);', 'source.ts has 0 functions Calls.other'],
  ] as const)
    it(`is refused: "${before}" in ${path}`, () => {
      expect(() => plantedIn(SOURCE, fault(path, before))).to.throw(message);
    });
});
