import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { until } from '../../support/until.js';
import type { Patch } from '../wrong-designs.js';

const PROCESS = join(import.meta.dirname, '../process.ts');
/** Pause before a process that ended by itself is started again, as an orchestrator does, ms. */
const PAUSE_MS = 500;
/** Longest start on a busy machine, ms. */
const READY_MS = 180_000;

export interface MemberOptions {
  env: Record<string, string>;
  patches: readonly Patch[];
  /** Path below `dist/` of what is started; the gateway's `main.js`, as production starts it, unless it is given. */
  main?: string;
}

/** A process that is started again whenever it ends. */
export class Member {
  #child: ChildProcess;
  #stopped = false;
  #printed = '';
  #ready = false;
  kills = 0;
  /** How often it ended without having been killed by us. */
  fell = 0;

  constructor(readonly options: MemberOptions) {
    this.#start();
  }

  #start(): void {
    const { env, patches, main } = this.options;
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', PROCESS, JSON.stringify(patches), ...(main ? [main] : [])],
      {
        env: { PATH: process.env.PATH!, ...env },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    this.#child = child;
    this.#ready = false;
    const keep = (chunk: Buffer): void => {
      this.#printed = (this.#printed + chunk.toString('utf8')).slice(-10_000);
      this.#ready ||= chunk.includes('Ready in');
    };
    child.stdout!.on('data', keep);
    child.stderr!.on('data', keep);
    child.once('exit', (_code, signal) => {
      if (this.#stopped) return;
      if (signal === 'SIGKILL') return this.#start();
      this.fell++;
      setTimeout(() => this.#stopped || this.#start(), PAUSE_MS);
    });
  }

  get printed(): string {
    return this.#printed;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** As a crash would end it; the next one starts at once. */
  kill(): void {
    if (!this.alive) return;
    this.kills++;
    this.#ready = false; // its end is told later than who waits for the next one asks
    this.#child.kill('SIGKILL');
  }

  /** Whether the process that runs now has said that it is ready. */
  async untilReady(): Promise<void> {
    await until(
      'a process to be ready',
      async () => this.#ready,
      ready => ready,
      READY_MS,
    ).catch(error => {
      throw new Error(`${(error as Error).message}\n${this.#printed}`);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (!this.alive) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}
