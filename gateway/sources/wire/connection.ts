import { connect, type Socket } from 'node:net';
import { AnswerReader, type WireAnswer } from './answer.js';

/** A request on its way. */
export interface Flight {
  /** Head and body as they are sent. */
  readonly text: string;
  answered(answer: WireAnswer): void;
  /** @param unseen nothing of its answer has come: a query may be asked again elsewhere. */
  failed(error: Error, unseen: boolean): void;
}

export interface ConnectionOptions {
  host: string;
  port: number;
  maxBytes: number;
  closed(connection: WireConnection): void;
}

const CONNECT_MS = 2_000;
/** Shorter than what Fastify grants an idle connection (72 s), so that it rarely closes one that is just used. */
const IDLE_MS = 30_000;

/** A connection that carries several requests at once; the answers come in the order of the requests. What a turn sends is one write. */
export class WireConnection {
  readonly #socket: Socket;
  readonly #reader: AnswerReader;
  #flights: Flight[] = [];
  #out = '';
  #connected = false;
  #ending: Error | null = null;

  constructor(private readonly options: ConnectionOptions) {
    const { host, port, maxBytes } = options;
    this.#reader = new AnswerReader(maxBytes, answer => this.#answered(answer));
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.setTimeout(CONNECT_MS);
    this.#socket
      .on('connect', () => {
        this.#connected = true;
        this.#socket.setTimeout(IDLE_MS);
      })
      .on('timeout', () => this.#waited())
      .on('data', bytes => this.#read(bytes))
      .on('error', error => this.end(error))
      .on('close', () => this.end(new Error('the connection was closed')));
  }

  /** Requests that have no answer yet. */
  get load(): number {
    return this.#flights.length;
  }

  get open(): boolean {
    return this.#ending === null;
  }

  send(flight: Flight): void {
    this.#flights.push(flight);
    if (this.#out === '') setImmediate(() => this.#flush());
    this.#out += flight.text;
  }

  #flush(): void {
    const out = this.#out;
    this.#out = '';
    if (this.open) this.#socket.write(out);
  }

  #read(bytes: Buffer): void {
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.end(error as Error);
    }
  }

  #answered(answer: WireAnswer): void {
    const flight = this.#flights.shift();
    if (!flight) throw new Error('an answer that nobody asked for');
    flight.answered(answer);
    if (answer.last) this.end(new Error('the connection was closed'));
  }

  /** An idle one goes; one that nobody accepts fails. A slow answer is its signal's matter. */
  #waited(): void {
    if (!this.#connected) this.end(new Error('the connection was not accepted in time'));
    else if (this.load === 0) this.end(new Error('the connection was idle'));
  }

  /** Ends the connection; `except` has had its error already. */
  end(error: Error, except?: Flight): void {
    if (!this.open) return;
    this.#ending = error;
    this.#socket.destroy();
    this.options.closed(this);
    const [flights, begun] = [this.#flights, this.#reader.begun];
    this.#flights = [];
    flights.forEach((flight, place) => {
      if (flight !== except) flight.failed(error, this.#connected && !(place === 0 && begun));
    });
  }
}
