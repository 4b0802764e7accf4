import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { fixed } from '../support/random.js';

/** What a provider took: to whom, which message, and by which key. A text whose key it knows is no second text. */
export interface Copy {
  channel: 'email' | 'sms';
  to: string;
  /** `Message-ID` of a mail, idempotency token of a text. */
  key: string;
}

/** What a provider does with what it took: answers, cuts the connection, or answers after a while; or it refuses for now. */
type Fate = 'taken' | 'cut' | 'late' | 'busy';

export interface Vices {
  /** Parts of all deliveries. */
  cut: number;
  late: number;
  busy: number;
}

const LATE_MS = 1_500;

/** An SMTP server and a vendor of texts with all the vices of one. Texts are idempotent by their key, mails by nothing. */
export class Providers {
  readonly copies: Copy[] = [];
  /** Called when something was taken and not yet answered. */
  onTaken: (copy: Copy) => void = () => undefined;
  readonly #tries = new Map<string, number>();
  readonly #ports: { smtp: number; sms: number } = { smtp: 0, sms: 0 };
  #smtp: SMTPServer;
  #sms: Server;
  kills = 0;

  constructor(
    readonly seed: number,
    readonly vices: Vices,
  ) {}

  async start(): Promise<this> {
    this.#smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: ({ address }, _session, done) =>
        this.#fate(`busy ${address}`) === 'busy' ? done(Object.assign(new Error('4.3.0 later'), { responseCode: 451 })) : done(),
      onData: (stream, session, done) => void this.#mail(stream, session as never, done),
    });
    this.#smtp.on('error', () => undefined); // a client that was killed
    this.#sms = createServer((request, response) => void this.#text(request, response));
    await new Promise<void>(resolve => this.#smtp.listen(this.#ports.smtp, '127.0.0.1', resolve));
    await new Promise<void>(resolve => this.#sms.listen(this.#ports.sms, '127.0.0.1', resolve));
    this.#ports.smtp = (this.#smtp.server.address() as AddressInfo).port;
    this.#ports.sms = (this.#sms.address() as AddressInfo).port;
    return this;
  }

  /** Variables of who sends by these. */
  get env(): Record<string, string> {
    return {
      COMMS_EMAIL: 'smtp',
      COMMS_SMTP_URL: `smtp://127.0.0.1:${this.#ports.smtp}`,
      COMMS_SMS: 'twilio',
      COMMS_SMS_URL: `http://127.0.0.1:${this.#ports.sms}`,
      COMMS_SMS_ACCOUNT: 'AC1',
      COMMS_SMS_TOKEN: 'secret',
      COMMS_SMS_FROM: '+15550100001',
      COMMS_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    };
  }

  /** The same for the same delivery, whenever it comes. */
  #fate(key: string): Fate {
    const tries = this.#tries.get(key) ?? 0;
    this.#tries.set(key, tries + 1);
    let left = fixed(this.seed, key, tries);
    const { cut, late, busy } = this.vices;
    if (key.startsWith('busy')) return left < busy ? 'busy' : 'taken';
    return (Object.entries({ cut, late }) as [Fate, number][]).find(([, part]) => (left -= part) < 0)?.[0] ?? 'taken';
  }

  /** @returns whether it is to be answered. */
  async #take(copy: Copy): Promise<boolean> {
    this.copies.push(copy);
    this.onTaken(copy);
    const fate = this.#fate(`${copy.channel} ${copy.to}`);
    if (fate === 'late') await sleep(LATE_MS);
    return fate !== 'cut';
  }

  async #mail(
    stream: AsyncIterable<Buffer>,
    { envelope, id }: { id: string; envelope: { rcptTo: { address: string }[] } },
    done: () => void,
  ): Promise<void> {
    let text = '';
    try {
      for await (const chunk of stream) text += chunk.toString();
    } catch {
      return; // the client was killed before the end
    }
    const key = /^message-id: (.+)$/im.exec(text)?.[1]?.trim() ?? '';
    if (await this.#take({ channel: 'email', to: envelope.rcptTo[0]!.address, key })) return done();
    for (const connection of this.#smtp.connections as unknown as Set<{ id: string; _socket: { destroy(): void } }>)
      if (connection.id === id) connection._socket.destroy();
  }

  async #text(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    try {
      for await (const chunk of request) body += String(chunk);
    } catch {
      return;
    }
    const [to, key] = [new URLSearchParams(body).get('To')!, String(request.headers['i-twilio-idempotency-token'])];
    if (this.#fate(`busy ${to}`) === 'busy') return void response.writeHead(503).end();
    if (await this.#take({ channel: 'sms', to, key })) response.writeHead(201).end(JSON.stringify({ sid: `SM${key}` }));
    else request.socket.destroy();
  }

  /** Both die with all connections, and are there again after a while, ms. */
  async kill(downMs: number): Promise<void> {
    this.kills++;
    await this.stop();
    await sleep(downMs);
    await this.start();
  }

  async stop(): Promise<void> {
    const gone = [
      new Promise<void>(resolve => this.#sms.close(() => resolve())),
      new Promise<void>(resolve => this.#smtp.close(() => resolve())),
    ];
    this.#sms.closeAllConnections();
    for (const connection of this.#smtp.connections as unknown as Set<{ _socket: { destroy(): void } }>) connection._socket.destroy();
    await Promise.all(gone);
  }
}
