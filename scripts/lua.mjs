// Parses each Lua script with its includes, and refuses a name that is neither declared, nor of
// Redis, nor a constant that the adapter passes to `loadScript`. Redis would find a mistake only
// when it executes that line.
import { readFileSync, readdirSync } from 'node:fs';
import luaparse from 'luaparse';

const FOLDER = 'src/adapters/redis';
const OF_REDIS = ['KEYS', 'ARGV', 'redis', 'cjson', 'struct', 'string', 'table', 'math'];
const OF_LUA = ['ipairs', 'pairs', 'pcall', 'tonumber', 'tostring', 'type', 'unpack'];

const read = (file) => readFileSync(`${FOLDER}/${file}`, 'utf8');
const adapter = readdirSync(FOLDER).filter((file) => file.endsWith('.ts'));
const code = adapter.map(read).join('\n');

for (const name of readdirSync(`${FOLDER}/lua`).filter((file) => file.endsWith('.lua'))) {
  const source = read(`lua/${name}`).replace(/^ *--- @include "([a-z-]+)"$/gm, (_, included) =>
    read(`lua/include/${included}.lua`),
  );
  try {
    const { globals } = luaparse.parse(source, { luaVersion: '5.1', scope: true });
    for (const global of new Set(globals.map((each) => each.name))) {
      const isConstant = /^[A-Z_]+$/.test(global) && new RegExp(`\\b${global}\\b`).test(code);
      if (!OF_REDIS.includes(global) && !OF_LUA.includes(global) && !isConstant)
        throw new Error(`${global} is not declared`);
    }
  } catch (error) {
    console.error(`lua/${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
