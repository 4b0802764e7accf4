import { connect, type Socket } from 'node:net';
import { Unanswered } from '../unanswered.js';
import { AnswerReader, type WireAnswer } from './answer.js';

/** A request and the receiver of its answer. */
export interface Flight {
  /** Head and body. */
  readonly text: string;
  answered(answer: WireAnswer): void;
  /** @param error `Unanswered` when no part of its answer has come. */
  failed(error: Error): void;
}

interface ConnectionOptions {
  host: string;
  port: number;
  maxBytes: number;
  closed(connection: WireConnection): void;
}

const CONNECT_MS = 2_000;
/** Longest that a connection waits for its next request. Shorter than the services' keep-alive time (72 s), so that they rarely close one just as it is used. */
export const IDLE_MS = 30_000;

/** A connection with several requests under way; answers come in the order of the requests. Requests of one turn of the event loop are one write. */
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

  /** Number of requests without an answer. */
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
    if (!flight) throw new Error('an answer without a request');
    flight.answered(answer);
    if (answer.last) this.end(new Error('the connection was closed'));
  }

  /** The socket was silent for its time: fails when it is not connected, closes when it is idle. The deadline of an answer is the request's signal. */
  #waited(): void {
    if (!this.#connected) setImmediate(() => this.#refuseIfStillNot());
    else if (this.load === 0) this.end(new Error('the connection was idle'));
  }

  /** One turn later: in a process that stood still for so long, the time is up before what has come meanwhile is heard. */
  #refuseIfStillNot(): void {
    if (!this.#connected) this.end(new Error('the connection was not accepted in time'));
  }

  /** Closes the connection. @param except a request that was told its error before, and for whose sake it is closed. */
  end(error: Error, except?: Flight): void {
    if (!this.open) return;
    this.#ending = error;
    this.#socket.destroy();
    this.options.closed(this);
    const [flights, begun] = [this.#flights, this.#reader.begun];
    this.#flights = [];
    const isOurs = except !== undefined;
    flights.forEach((flight, index) => {
      const isUnanswered = (isOurs || this.#connected) && !(index === 0 && begun);
      if (flight !== except) flight.failed(isUnanswered ? new Unanswered(error, isOurs) : error);
    });
  }
}
