import { createHash } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { theBlock } from '../docs/samples';
import { type RedisServer, describeRedis } from '../support/redis';
import { disconnect, plainClient } from '../support/redis/server';
import { compiledCli } from '../support/service-process';
import { temporaryDirectory } from '../support/temporary-directory';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describeRedis('What a restart of Redis forgets, by docs/operations.md,', (startRedis) => {
  const run = compiledCli();
  const path = temporaryDirectory();

  async function start(...lines: string[]): Promise<RedisServer> {
    writeFileSync(
      path('users.acl'),
      'user default on nopass ~* &* +@all\nuser bob on nopass +ping\n',
    );
    writeFileSync(
      path('redis.conf'),
      lines.map((line) => `${line.replace('users.acl', path('users.acl'))}\n`).join(''),
    );
    return startRedis(path('redis.conf'));
  }
  async function restart(redis: RedisServer): Promise<void> {
    await redis.kill9();
    await redis.start();
  }
  const call = ({ admin }: RedisServer, [command, ...args]: string[]) =>
    admin.call(command!, ...args);
  const follow = (kind: string, redis: RedisServer) =>
    run(theBlock(`sh ${kind}`), { ADMIN_URL: redis.url }).ended;

  for (const [file, set, ask, forgotten, kept, last] of [
    ['', 'CONFIG SET maxmemory 1gb', 'CONFIG GET maxmemory', '0', '1073741824', 'CONFIG REWRITE'],
    ['', 'ACL SETUSER carol on', 'ACL USERS', 'default', 'carol', 'CONFIG REWRITE'],
    ['user bob on nopass', 'ACL DELUSER bob', 'ACL USERS', 'bob', 'default', 'CONFIG REWRITE'],
    ['aclfile users.acl', 'ACL SETUSER carol on', 'ACL USERS', 'bob', 'carol', 'ACL SAVE'],
    ['', 'REPLICAOF 127.0.0.1 1', 'ROLE', 'master', 'slave', 'CONFIG REWRITE'],
  ] as const)
    it(`is ${set}${file && ` with "${file.split(' ')[0]!}" in its file`}, unless ${last} follows it`, async () => {
      const redis = await start(file);
      const answer = async () => String(await call(redis, ask.split(' ')));
      await call(redis, set.split(' '));
      if (last === 'ACL SAVE') await call(redis, ['CONFIG', 'REWRITE']);
      await restart(redis);
      expect(await answer())
        .to.contain(forgotten)
        .and.not.contain('carol');
      await call(redis, set.split(' '));
      if (last === 'ACL SAVE') await call(redis, ['ACL', 'SAVE']);
      else expect(await follow('restart', redis)).to.include({ code: 0 });
      await restart(redis);
      expect(await answer()).to.contain(kept);
      if (forgotten === 'bob' && last !== 'ACL SAVE') expect(await answer()).not.to.contain('bob');
    });

  it('is all data if only the configuration file turns on the append-only file, unlike the recipe', async () => {
    const redis = await start('appendfsync always');
    await redis.admin.set('plant-store:id', 'one');
    await redis.admin.save();
    expect(await follow('append-only', redis)).to.include({ code: 0 });
    await redis.admin.set('later', 'two');
    await restart(redis);
    expect(await redis.admin.mget('plant-store:id', 'later')).to.deep.equal(['one', 'two']);

    const careless = await start();
    await careless.admin.set('plant-store:id', 'one');
    await careless.admin.save();
    appendFileSync(path('redis.conf'), 'appendonly yes\n');
    await restart(careless);
    expect(await careless.admin.dbsize()).to.equal(0);
  });

  it('is a setting for which there is no configuration file, or that an argument overrides', async () => {
    const bare = await startRedis();
    expect((await follow('restart', bare)).error).to.contain('without a config file');
    writeFileSync(path('redis.conf'), '');
    const redis = await startRedis(path('redis.conf'), '--maxmemory', '2gb');
    await redis.admin.config('SET', 'maxmemory', '1gb');
    expect(await follow('restart', redis)).to.include({ code: 0 });
    await restart(redis);
    expect(await redis.admin.config('GET', 'maxmemory')).to.include('2147483648');
  });

  it('is not the rotation of a password, which leaves connections logged in', async () => {
    const redis = await start('user plant-store on >old-password ~plant-store:* +@all');
    const urlOf = (password: string) => redis.url.replace('//', `//plant-store:${password}@`);
    const before = plainClient(urlOf('old-password'));
    const rotate = (kind: string) => {
      const environment = {
        ADMIN_URL: redis.url,
        NEW_PASSWORD: 'new-password',
        OLD_PASSWORD: 'old-password',
      };
      return run(theBlock(`sh rotate ${kind}`), environment).ended;
    };
    await before.connect();
    expect(await rotate('add')).to.include({ code: 0 });
    for (const password of ['old-password', 'new-password'])
      expect(await redis.admin.call('AUTH', 'plant-store', password)).to.equal('OK');
    await redis.admin.call('AUTH', 'default', '');
    expect(await rotate('remove')).to.include({ code: 0 });
    expect(await before.get('plant-store:id')).to.equal(null);
    disconnect(before);
    await restart(redis);
    const users = await redis.admin.acl('LIST');
    expect(users.find((line) => line.startsWith('user plant-store ')))
      .to.contain(sha256('new-password'))
      .and.not.contain(sha256('old-password'));
  });
});
