import { expect } from 'chai';
import { BrokenTokenFile, parseTokenFile, usersByDigest } from '../../../src/adapters/auth/token-file-format';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

function read(file: unknown): ReadonlyMap<string, string> {
  return usersByDigest(parseTokenFile(Buffer.from(typeof file === 'string' ? file : JSON.stringify(file))));
}

describe('A token file', () => {
  it('maps each digest to its user; a user may have several or none', () => {
    const users = [
      { name: 'alice', tokens: [{ sha256: A, note: 'laptop' }, { sha256: B }] },
      { name: 'bob', tokens: [] },
    ];
    expect([...read({ users })]).to.deep.equal([
      [A, 'alice'],
      [B, 'alice'],
    ]);
  });

  it('keeps the note of each token', () => {
    const users = [{ name: 'alice', tokens: [{ sha256: A, note: 'laptop' }, { sha256: B }] }];
    const file = JSON.stringify({ users });
    expect(JSON.stringify(parseTokenFile(Buffer.from(file)))).to.equal(file);
  });

  it('may have digests in upper case', () => {
    expect([
      ...read({ users: [{ name: 'alice', tokens: [{ sha256: A.toUpperCase() }] }] }).keys(),
    ]).to.deep.equal([A]);
  });

  it('may begin with a byte order mark', () => {
    expect([...read('\ufeff{"users":[]}')]).to.deep.equal([]);
  });

  const good = { name: 'alice', tokens: [{ sha256: A }] };
  const broken: Record<string, [file: unknown, message: string]> = {
    'is not JSON': ['{', 'the file must be JSON in UTF-8'],
    'is empty': ['', 'the file must be JSON in UTF-8'],
    'is a list': [[], 'the file must be an object'],
    'is null': ['null', 'the file must be an object'],
    'has no users': [{}, 'users must be a list'],
    'has another member': [{ users: [], tokens: [] }, 'the file may have no members but users'],
    'has a member __proto__': ['{"users":[],"__proto__":{}}', 'the file may have no members but users'],
    'has a user that is not an object': [{ users: ['alice'] }, 'users[0] must be an object'],
    'has a user with an unknown member': [
      { users: [good, { ...good, expires: '2027-01-01' }] },
      'users[1] may have no members but name and tokens',
    ],
    'has a user without a name': [
      { users: [{ tokens: [] }] },
      'users[0].name must be 1 to 255 characters of well-formed Unicode',
    ],
    'has a name of 256 characters': [
      { users: [{ ...good, name: 'n'.repeat(256) }] },
      'users[0].name must be 1 to 255 characters of well-formed Unicode',
    ],
    'has a lone surrogate in a name': [
      '{"users":[{"name":"\\ud800","tokens":[]}]}',
      'users[0].name must be 1 to 255 characters of well-formed Unicode',
    ],
    'has a user without tokens': [{ users: [{ name: 'alice' }] }, 'users[0].tokens must be a list'],
    'has a token in place of its hash': [
      { users: [{ name: 'alice', tokens: ['plants_secret'] }] },
      'users[0].tokens[0] must be an object',
    ],
    'has a hash of another length': [
      { users: [{ name: 'alice', tokens: [{ sha256: A }, { sha256: `${A}a` }] }] },
      'users[0].tokens[1].sha256 must be 64 hexadecimal digits',
    ],
    'has a hash that is not hexadecimal': [
      { users: [{ name: 'alice', tokens: [{ sha256: 'g'.repeat(64) }] }] },
      'users[0].tokens[0].sha256 must be 64 hexadecimal digits',
    ],
    'has a list of hashes': [
      { users: [{ name: 'alice', tokens: [{ sha256: [A] }] }] },
      'users[0].tokens[0].sha256 must be 64 hexadecimal digits',
    ],
    'has a token with an unknown member': [
      { users: [{ name: 'alice', tokens: [{ sha256: A, expires: 1 }] }] },
      'users[0].tokens[0] may have no members but sha256 and note',
    ],
    'has a note that is not text': [
      { users: [{ name: 'alice', tokens: [{ sha256: A, note: 1 }] }] },
      'users[0].tokens[0].note must be text',
    ],
    'lists a user twice': [
      { users: [good, { name: 'alice', tokens: [] }] },
      'users[1].name is the same as users[0].name: list a user once, with all tokens',
    ],
    'lists a token twice': [
      { users: [good, { name: 'bob', tokens: [{ sha256: B }, { sha256: A.toUpperCase() }] }] },
      'users[1].tokens[1].sha256 is the same as users[0].tokens[0].sha256: list a token once',
    ],
    'has a member twice': [`{"users":[],"users":[${JSON.stringify(good)}]}`, 'users is given twice'],
    'has the tokens of a user twice': [
      `{"users":[${JSON.stringify(good)},{"name":"bob","tokens":[{"sha256":"${B}"}],"t\\u006fkens":[]}]}`,
      'users[1].tokens is given twice',
    ],
    'has the name of a user twice': [
      `{"users":[{"name":"{\\"name\\":[,","tokens":[],"name" : "bob"}]}`,
      'users[0].name is given twice',
    ],
    'has the hash of a token twice': [
      `{"users":[{"name":"alice","tokens":[{"sha256":"${A}"},{"sha256":"${A}","note":"a","sha256":"${B}"}]}]}`,
      'users[0].tokens[1].sha256 is given twice',
    ],
  };
  for (const [what, [file, message]] of Object.entries(broken)) {
    it(`is invalid if it ${what}, and the error names the entry and the rule`, () => {
      expect(() => read(file))
        .to.throw(BrokenTokenFile)
        .with.property('message', message);
    });
  }

  it('is invalid if it is not UTF-8', () => {
    const bytes = Buffer.from(JSON.stringify({ users: [good] }).replace('alice', '\u00e9'), 'latin1');
    expect(() => parseTokenFile(bytes)).to.throw(BrokenTokenFile, 'UTF-8');
  });
});
