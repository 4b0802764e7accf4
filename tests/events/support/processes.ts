import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { COMPILE_CACHE } from '../../support/compile-cache.js';
import type { Orders } from './child.js';
import { LEASE_MS, World } from './world.js';

const SCRIPT = fileURLToPath(new URL('./child.ts', import.meta.url));

/** A process that is started again whenever it ends, until it is stopped. */
export class Restarted {
  #child: ChildProcess | undefined;
  #stopped = false;
  #starts = 0;
  #ready: Promise<void> = Promise.resolve();

  constructor(
    readonly world: World,
    readonly orders: Partial<Orders>,
  ) {
    this.#start();
    world.onClose(() => this.stop());
  }

  /** How often it was started. */
  get starts(): number {
    return this.#starts;
  }

  #start(): void {
    this.#starts++;
    const child = start(this.world, this.orders);
    this.#child = child;
    this.#ready = Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]).then(() => undefined);
    child.once('exit', () => !this.#stopped && this.#start());
  }

  ready(): Promise<void> {
    return this.#ready;
  }

  /** As a crash would end it; the next one starts at once. */
  async kill(): Promise<void> {
    const child = this.#child!;
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#stopped = true;
    const child = this.#child!;
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

function start(world: World, orders: Partial<Orders>): ChildProcess {
  const all: Orders = {
    databaseUrl: world.url,
    amqpUrl: world.kind === 'rabbitmq' ? inject('amqpUrl') : null,
    prefix: world.prefix,
    leaseMs: LEASE_MS,
    ...orders,
  };
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', SCRIPT, JSON.stringify(all)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
}

/** Runs an emitter to its end. @throws Error when it fails. */
export async function emitElsewhere(world: World, emit: NonNullable<Orders['emit']>): Promise<void> {
  const child = start(world, { emit });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`an emitter ended with ${code}`);
}
