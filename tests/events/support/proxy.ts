import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut, opened again, and made to say something of its own. */
export class Proxy {
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  private constructor(readonly target: URL) {}

  static async before(url: string): Promise<Proxy> {
    const proxy = new Proxy(new URL(url));
    await proxy.open();
    return proxy;
  }

  /** The same address by way of the proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    url.searchParams.delete('host'); // a socket would pass it by
    return url.toString();
  }

  async open(): Promise<void> {
    this.#server = createServer(client => this.#join(client));
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #join(client: Socket): void {
    const server = connect(Number(this.target.port || 5672), this.target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }

  /** Nobody gets through any more, and those who were are cut off. */
  async cut(): Promise<void> {
    this.#sockets.forEach(socket => socket.destroy());
    if (this.#server?.listening) await new Promise(resolve => this.#server!.close(resolve));
  }

  /** What the server says no longer gets through to those who are connected; who connects anew is heard. */
  hold(): void {
    for (const socket of this.#sockets) if (socket.localPort !== this.#port) socket.unpipe().resume();
  }

  /** Puts bytes into every connection, in the server's name; only between frames, so only while it is silent. */
  inject(bytes: Buffer): void {
    for (const socket of this.#sockets) if (socket.localPort === this.#port) socket.write(bytes);
  }
}
