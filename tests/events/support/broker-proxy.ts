import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Class and method of what is looked at. Source: AMQP 0-9-1, 1.2. */
const PUBLISH = '60.40';
const ACK = '60.80';
const CONFIRM_SELECT = '85.10';
const DECLARE_OK = '50.11';
const CONSUME_OK = '60.21';
const CANCEL = '60.30';
const PROTOCOL_HEADER = 8;
const HEAD = 7;
const METHOD_FRAME = 1;
const FRAME_END = 0xce;

const shortString = (bytes: Buffer, at: number): string => bytes.subarray(at + 1, at + 1 + bytes.readUInt8(at)).toString();

interface Frame {
  bytes: Buffer;
  channel: number;
  /** `class.method`; null of another kind of frame. */
  method: string | null;
  /** What follows class and method. */
  body: Buffer;
}

/** Cuts a stream into AMQP frames. */
class Frames {
  #left = Buffer.alloc(0);

  *of(chunk: Buffer): Generator<Frame> {
    this.#left = Buffer.concat([this.#left, chunk]);
    while (this.#left.length >= HEAD) {
      const size = HEAD + this.#left.readUInt32BE(3) + 1;
      if (this.#left.length < size) return;
      const bytes = this.#left.subarray(0, size);
      this.#left = this.#left.subarray(size);
      const isMethod = bytes.readUInt8(0) === METHOD_FRAME;
      const method = isMethod ? `${bytes.readUInt16BE(HEAD)}.${bytes.readUInt16BE(HEAD + 2)}` : null;
      yield { bytes, channel: bytes.readUInt16BE(1), method, body: bytes.subarray(HEAD + 4, size - 1) };
    }
  }
}

function frameOf(channel: number, method: string, body: Buffer): Buffer {
  const bytes = Buffer.alloc(HEAD + 4 + body.length + 1);
  const [classId, methodId] = method.split('.').map(Number);
  bytes.writeUInt8(METHOD_FRAME, 0);
  bytes.writeUInt16BE(channel, 1);
  bytes.writeUInt32BE(4 + body.length, 3);
  bytes.writeUInt16BE(classId!, HEAD);
  bytes.writeUInt16BE(methodId!, HEAD + 2);
  body.copy(bytes, HEAD + 4);
  bytes.writeUInt8(FRAME_END, bytes.length - 1);
  return bytes;
}

function ackOf(channel: number, tag: bigint): Buffer {
  const body = Buffer.alloc(9);
  body.writeBigUInt64BE(tag);
  return frameOf(channel, ACK, body);
}

/** Asks for no answer. @param tag with its length before it. */
const cancelOf = (channel: number, tag: Buffer): Buffer => frameOf(channel, CANCEL, Buffer.concat([tag, Buffer.of(1)]));

/** A way to a broker some of whose queues do not answer: their confirms and answers to declarations are kept back. */
export class BrokerProxy {
  /** Of what is published with such a routing key the confirms are kept back. */
  silentKeys: (routingKey: string) => boolean = () => false;
  /** Of such a queue the answers to declarations are. */
  silentQueues: (queue: string) => boolean = () => false;
  /** How many connections there ever were. */
  connections = 0;
  #kept: (() => void)[] = [];
  /** What takes each consumer from the broker. */
  #consumers: (() => void)[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(
    readonly target: URL,
    readonly server: Server,
  ) {}

  static async before(url: string): Promise<BrokerProxy> {
    const server = createServer();
    const proxy = new BrokerProxy(new URL(url), server);
    server.on('connection', client => proxy.#join(client));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.toString();
  }

  #join(client: Socket): void {
    this.connections++;
    const server = connect(Number(this.target.port || 5672), this.target.hostname);
    const published = new Map<number, { next: bigint; keys: Map<bigint, string> }>();
    this.#follow(client, server, published);
    this.#answerBack(client, server, published);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }

  /** Notes the routing key of each message that is to be confirmed. */
  #follow(client: Socket, server: Socket, published: Map<number, { next: bigint; keys: Map<bigint, string> }>): void {
    const frames = new Frames();
    let header = PROTOCOL_HEADER;
    client.on('data', (chunk: Buffer) => {
      server.write(chunk.subarray(0, header));
      const after = chunk.subarray(header);
      header = Math.max(0, header - chunk.length);
      for (const { bytes, channel, method, body } of frames.of(after)) {
        server.write(bytes); // whole ones, so that another may go between two
        if (method === CONFIRM_SELECT) published.set(channel, { next: 1n, keys: new Map() });
        const confirmed = published.get(channel);
        if (method !== PUBLISH || !confirmed) continue;
        const exchangeLength = body.readUInt8(2);
        confirmed.keys.set(confirmed.next++, shortString(body, 3 + exchangeLength));
      }
    });
  }

  #answerBack(client: Socket, server: Socket, published: Map<number, { next: bigint; keys: Map<bigint, string> }>): void {
    const frames = new Frames();
    server.on('data', (chunk: Buffer) => {
      for (const { bytes, channel, method, body } of frames.of(chunk)) {
        const keys = published.get(channel)?.keys;
        if (method === CONSUME_OK) {
          const cancel = cancelOf(channel, Buffer.from(body));
          this.#consumers.push(() => server.write(cancel));
        }
        if (method === ACK && keys) this.#confirm(client, channel, keys, body);
        else this.#pass(client, bytes, method === DECLARE_OK && this.silentQueues(shortString(body, 0)));
      }
    });
  }

  /** Each message by itself, where the broker confirms many at once. */
  #confirm(client: Socket, channel: number, keys: Map<bigint, string>, body: Buffer): void {
    const [last, multiple] = [body.readBigUInt64BE(0), body.readUInt8(8) === 1];
    for (const [tag, key] of keys) {
      if (multiple ? tag > last : tag !== last) continue;
      keys.delete(tag);
      this.#pass(client, ackOf(channel, tag), this.silentKeys(key));
    }
  }

  #pass(client: Socket, bytes: Buffer, silent: boolean): void {
    if (silent) this.#kept.push(() => client.write(bytes));
    else client.write(bytes);
  }

  /** The queues answer again. @param lost whether what was kept back never comes. */
  answer({ lost = false } = {}): void {
    this.silentKeys = this.silentQueues = () => false;
    const kept = this.#kept.splice(0);
    if (!lost) kept.forEach(tell => tell());
  }

  /** The broker has forgotten all consumers, of which they hear nothing. */
  forget(): void {
    this.#consumers.splice(0).forEach(take => take());
  }

  async close(): Promise<void> {
    this.#sockets.forEach(socket => socket.destroy());
    await new Promise(resolve => this.server.close(resolve));
  }
}
