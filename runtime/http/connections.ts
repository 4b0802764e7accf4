import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A server's connections at its end, of which Node closes only those that are idle after a request at that very moment. */
export class Connections {
  /** Without a request yet, as browsers open them in advance: Node takes them for busy ones. */
  readonly #unused = new Set<Socket>();
  readonly #underWay = new Set<ServerResponse>();
  #last = false;

  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#unused.add(socket);
      socket.once('close', () => this.#unused.delete(socket));
    });
    server.prependListener('request', ({ socket }, response) => this.#begun(socket, response));
  }

  #begun(socket: Socket, response: ServerResponse): void {
    this.#unused.delete(socket);
    this.#underWay.add(response);
    response.once('close', () => this.#underWay.delete(response));
    if (this.#last) response.shouldKeepAlive = false;
  }

  /** From now on an answer says that its connection ends, and ends it. */
  endAfterAnswers(): void {
    this.#last = true;
    for (const response of this.#underWay) if (!response.headersSent) response.shouldKeepAlive = false;
  }

  /** Ends those that carry nothing; called again while answers whose headers were sent before come to their end. */
  endIdle(): void {
    for (const socket of this.#unused) socket.destroy();
    this.server.closeIdleConnections();
  }
}
