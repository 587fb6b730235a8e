import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type ValidatorSettings, ValidationSeverity, validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { readConfig, variables } from '../../src/service/config';
import { theBlock } from '../docs/shell';

const STRICT: ValidatorSettings = {
  deprecatedMaintainer: ValidationSeverity.ERROR,
  directiveCasing: ValidationSeverity.ERROR,
  emptyContinuationLine: ValidationSeverity.ERROR,
  instructionCasing: ValidationSeverity.ERROR,
  instructionCmdMultiple: ValidationSeverity.ERROR,
  instructionEntrypointMultiple: ValidationSeverity.ERROR,
  instructionHealthcheckMultiple: ValidationSeverity.ERROR,
  instructionJSONInSingleQuotes: ValidationSeverity.ERROR,
  instructionWorkdirRelative: ValidationSeverity.ERROR,
};

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly environment?: Record<string, string>;
        readonly entrypoint?: string[];
        readonly volumes?: string[];
      }
    >
  >;
}

describe('The files for containers', () => {
  it('have a Dockerfile that passes a linter', () => {
    expect(validate(readFileSync('Dockerfile', 'utf8'), STRICT)).to.deep.equal([]);
    expect(validate('FROM scratch\nworkdir here\n', STRICT)).to.have.length(2);
  });

  it('set only variables of the service, in the Dockerfile', () => {
    const [, set] = /^ENV PATH=\S+ (.+)$/m.exec(readFileSync('Dockerfile', 'utf8'))!;
    const environment = Object.fromEntries(set!.split(' ').map((one) => one.split('=') as [string, string]));
    const known = ['NODE_ENV', ...variables.map(({ name }) => name)];
    expect(known).to.include.members(Object.keys(environment));
    expect(
      readConfig({ ...environment, EVENT_STORE: 'memory', AUTH_TOKENS: 'alice:0123456789abcdef' }).config,
    ).to.include({
      production: true,
      HOST: '0.0.0.0',
      PORT: 3000,
    });
  });

  it('set only variables of the service, in compose.yaml', () => {
    const { services } = parse(readFileSync('compose.yaml', 'utf8')) as Compose;
    const environment = Object.fromEntries(
      Object.entries(services['plants']!.environment!).map(([name, value]) => [
        name,
        value
          .replace(/^\$\{AUTH_TOKENS:\?.*\}$/, 'alice:0123456789abcdef')
          .replace(/\$\{REDIS_PASSWORD:\?.*\}/, '0123456789abcdef'),
      ]),
    );
    expect(readConfig(environment).problems).to.equal(undefined);
    expect(readConfig(environment).config).to.include({
      EVENT_STORE: 'redis',
      REDIS_URL: 'redis://plant-store:0123456789abcdef@redis:6379',
    });
  });

  it('let Redis sync every write to a volume, in compose.yaml', () => {
    const { entrypoint, volumes } = (parse(readFileSync('compose.yaml', 'utf8')) as Compose).services[
      'redis'
    ]!;
    expect(entrypoint).to.deep.equal(['sh', '/etc/plant-store/start.sh']);
    expect(volumes).to.deep.equal(['events:/data', './deploy/redis:/etc/plant-store:ro']);
    expect(readFileSync('deploy/redis/start.sh', 'utf8')).to.contain(
      '\nappendonly yes\nappendfsync always\n',
    );
  });
});

describe('deploy/redis/start.sh', () => {
  it('has the users of the pages, with the same rights', () => {
    const pages = ['redis acl', 'redis tasks', 'redis operator'].flatMap((kind) =>
      theBlock(kind).text.trim().split('\n'),
    );
    const ours = readFileSync('deploy/redis/start.sh', 'utf8').match(/^user plant-store.*$/gm)!;
    const rights = (line: string) => line.replace(/^user |^ACL SETUSER /, '').replace(/ >\S+/, '');
    expect(ours.map(rights)).to.have.members(pages.map(rights));
  });
});
