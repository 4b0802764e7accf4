import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import { atEnd } from '../support/at-end.js';

/** Headers of one connection, not of the message. Source: RFC 9110, 7.6.1. */
const OF_A_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'content-length'];

const ofTheMessage = (headers: IncomingMessage['headers']): IncomingMessage['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_A_CONNECTION.includes(name)));

/** A proxy before the process of services that keeps chosen answers, which the services have given, until a test lets them go. */
export class HeldAnswers {
  /** Number of chosen answers that the services have given. */
  given = 0;
  #first = Promise.withResolvers<void>();
  #released: PromiseWithResolvers<void> | null = null;
  readonly #server = createServer((incoming, outgoing) => void this.#pass(incoming, outgoing).catch(() => outgoing.destroy()));

  /** @param target base URL of the services. @param isChosen whether a request's answer may be kept, by its body. */
  constructor(
    private readonly target: string,
    private readonly isChosen: (body: string) => boolean,
  ) {}

  /** @returns its base URL. It is closed after the file. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    atEnd(async () => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Keeps the chosen answers from now on. Resolves when there is one. */
  hold(): Promise<void> {
    [this.#released, this.#first] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    return this.#first.promise;
  }

  release(): void {
    this.#released?.resolve();
    this.#released = null;
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const { url = '', method = 'GET', headers } = incoming;
    const answer = await request(this.target + url, { method: method as 'POST', headers: ofTheMessage(headers), body });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    if (this.isChosen(body.toString())) await this.#kept();
    outgoing.writeHead(answer.statusCode, { ...ofTheMessage(answer.headers), 'content-length': bytes.length }).end(bytes);
  }

  async #kept(): Promise<void> {
    this.given++;
    this.#first.resolve();
    await this.#released?.promise;
  }
}
