import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { endWithProcess } from '../../support/redis/end-with-process';

/** A place where processes run. */
export interface Host {
  readonly address: string;
  /** Begins the command line of a process on this host. */
  readonly enter: readonly string[];
}

/** This machine, where all processes share the address. */
export const THIS_MACHINE: Host = { address: '127.0.0.1', enter: [] };

const NAMESPACES = '/run/netns';
/** A namespace is called after the process that created it. */
const NAME = /^plants-(\d+)-/;
let networks = 0;

/**
 * Hosts of a private network on this machine: network namespaces that are joined by a bridge. Packets between hosts can
 * be dropped. This process reaches every host all the time. Needs root, iproute2 and iptables.
 */
export class Network {
  readonly hosts: Host[] = [];
  readonly #name = `plants-${process.pid}-${networks++}`;
  readonly #switch = `${this.#name}-switch`;
  readonly #subnet = freeSubnet();
  readonly #forget = endWithProcess(() => this.#remove());

  private constructor() {
    addNamespace(this.#switch);
    ip(this.#switch, 'link add bridge type bridge');
    ip(this.#switch, 'link set bridge up');
    const own = `p${process.pid}n${networks}`;
    ip(undefined, `link add ${own} type veth peer name own netns ${this.#switch}`);
    ip(this.#switch, 'link set own master bridge up');
    ip(undefined, `addr add ${this.#subnet}.1/24 dev ${own}`);
    ip(undefined, `link set ${own} up`);
  }

  /** Why this machine can have no network; `undefined` if it can. */
  static unavailable(): string | undefined {
    try {
      removeLeftovers();
      new Network().close();
      return undefined;
    } catch (error) {
      const { stderr, message } = error as Error & { stderr?: Buffer };
      return `no network namespaces: ${(stderr?.toString() || message).trim()}`;
    }
  }

  static create(): Network {
    removeLeftovers();
    return new Network();
  }

  host(): Host {
    const number = this.hosts.length + 2;
    const name = `${this.#name}-${number}`;
    const address = `${this.#subnet}.${number}`;
    addNamespace(name);
    ip(undefined, `link add eth0 netns ${name} type veth peer name host${number} netns ${this.#switch}`);
    ip(this.#switch, `link set host${number} master bridge up`);
    ip(name, `addr add ${address}/24 dev eth0`);
    ip(name, 'link set eth0 up');
    const host = { address, enter: enter(name) };
    iptables(host, '-S');
    this.hosts.push(host);
    return host;
  }

  /** Drops all packets from these hosts to those: nothing is answered, and no connection is closed. */
  drop(from: readonly Host[], to: readonly Host[]): void {
    for (const host of to) {
      const others = from.filter((each) => each !== host).map(({ address }) => address);
      iptables(host, '-I', 'INPUT', '-s', others.join(), '-j', 'DROP');
    }
  }

  /** Drops all packets to and from this host. */
  isolate(host: Host): void {
    const others = this.hosts.filter((each) => each !== host);
    this.drop(others, [host]);
    this.drop([host], others);
  }

  heal(): void {
    for (const host of this.hosts) iptables(host, '-F', 'INPUT');
  }

  close(): void {
    this.#remove();
    this.#forget();
  }

  #remove(): void {
    for (const name of namespaces()) if (name.startsWith(`${this.#name}-`)) removeNamespace(name);
  }
}

function enter(namespace: string): string[] {
  return ['nsenter', `--net=${NAMESPACES}/${namespace}`, '--'];
}

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
}

function ip(namespace: string | undefined, command: string): void {
  run('ip', [...(namespace === undefined ? [] : ['-n', namespace]), ...command.split(' ')]);
}

function iptables(host: Host, ...args: readonly string[]): void {
  const [command = '', ...rest] = [...host.enter, 'iptables', '-w', ...args];
  run(command, rest);
}

function addNamespace(name: string): void {
  run('ip', ['netns', 'add', name]);
  ip(name, 'link set lo up');
}

/** Its interfaces are removed with it, unless processes are left in it. */
function removeNamespace(name: string): void {
  run('ip', ['netns', 'del', name]);
}

function namespaces(): string[] {
  return existsSync(NAMESPACES) ? readdirSync(NAMESPACES) : [];
}

/** Of processes that were killed. */
function removeLeftovers(): void {
  for (const name of namespaces()) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    for (const left of run('ip', ['netns', 'pids', name]).split('\n').filter(Boolean))
      process.kill(Number(left), 'SIGKILL');
    removeNamespace(name);
  }
}

/** Of 198.18.0.0/15, which is for tests of networks (RFC 2544). */
function freeSubnet(): string {
  const used = Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
  for (let third = process.pid % 256; ; third = (third + 1) % 256) {
    const subnet = `198.18.${third}`;
    if (!used.some((address) => address.startsWith(`${subnet}.`))) return subnet;
  }
}
