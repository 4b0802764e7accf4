import { stored, type Federation } from '../../runtime/federation/federation.js';
import { loggedError, type Logger } from '../../runtime/observe/log.js';

const POLL_MS = 30_000;

const ORIGINS = stored('query ClientOrigins { clientOrigins { clientId origins } }');

interface Data {
  clientOrigins: { clientId: string; origins: string[] }[];
}

/** Web origins of the active clients, read from identity every 30 s. Until they are known there are none; those that are known stay when identity is away. */
export class ClientOrigins {
  #byClient: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #all: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(
    private readonly federation: () => Federation,
    private readonly log: Logger,
  ) {}

  /** Whether the origin is one of the client's. */
  areOf(clientId: string, origin: string): boolean {
    return this.#byClient.get(clientId)?.has(origin) ?? false;
  }

  /** Whether the origin is one of any active client's. */
  areOfAny(origin: string): boolean {
    return this.#all.has(origin);
  }

  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.#poll(), POLL_MS).unref();
    await this.#poll();
  }

  /** Resolves when nothing is read any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  /** @throws Problem when identity cannot be asked. */
  async read(): Promise<void> {
    const { clientOrigins } = await this.federation().run<Data>(ORIGINS);
    this.#byClient = new Map(clientOrigins.map(({ clientId, origins }) => [clientId, new Set(origins)]));
    this.#all = new Set(clientOrigins.flatMap(({ origins }) => origins));
  }

  #poll(): Promise<void> {
    return (this.#reading = this.read().catch(error =>
      this.log.warn({ err: loggedError(error) }, 'the web origins of clients could not be read'),
    ));
  }
}
