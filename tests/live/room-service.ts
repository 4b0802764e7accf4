import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwtVerify } from 'jose';

const PATH = /^\/twirp\/livekit\.RoomService\/(CreateRoom|DeleteRoom|ListParticipants|RemoveParticipant|UpdateParticipant)$/;
type Method = 'CreateRoom' | 'DeleteRoom' | 'ListParticipants' | 'RemoveParticipant' | 'UpdateParticipant';

/** Fields of each request that LiveKit's protocol has and this adapter may send. */
const FIELDS: Readonly<Record<Method, readonly string[]>> = {
  CreateRoom: ['name', 'emptyTimeout', 'departureTimeout'],
  DeleteRoom: ['room'],
  ListParticipants: ['room'],
  RemoveParticipant: ['room', 'identity'],
  UpdateParticipant: ['room', 'identity', 'permission'],
};

interface Participant {
  identity: string;
  sid: string;
  permission: { canPublish?: boolean; canSubscribe?: boolean; canPublishData?: boolean };
}

/** What the next request meets: no answer, or a status of the server or of a proxy before it. */
export type Trouble = 'silence' | 429 | 500 | 503;

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
  ) {
    super(code);
  }
}

/** The room service of a LiveKit server over HTTP: requests of another shape or signature are refused as by the server. */
export class RoomService {
  readonly rooms = new Map<string, Participant[]>();
  readonly asked: string[] = [];
  readonly troubles: Trouble[] = [];
  readonly #server: Server;

  private constructor(
    private readonly key: string,
    private readonly secret: string,
  ) {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(key: string, secret: string): Promise<RoomService> {
    const service = new RoomService(key, secret);
    await new Promise<void>(resolve => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise(resolve => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const trouble = this.troubles.shift();
    if (trouble === 'silence') return;
    const answer = (status: number, body: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (trouble) return answer(trouble, { code: trouble === 429 ? 'resource_exhausted' : 'unavailable', msg: 'not now' });
    try {
      answer(200, await this.#answer(request));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answer(error.status, { code: error.code, msg: error.code });
    }
  }

  async #answer(request: IncomingMessage): Promise<object> {
    const method = PATH.exec(request.url ?? '')?.[1] as Method | undefined;
    if (request.method !== 'POST' || !method) throw new Refusal(404, 'bad_route');
    if (!request.headers['content-type']?.startsWith('application/json')) throw new Refusal(415, 'malformed');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as any;
    const unknown = Object.keys(body).filter(name => !FIELDS[method].includes(name));
    if (unknown.length > 0) throw new Refusal(400, `malformed: ${unknown.join()}`);
    await this.#authorise(request, method, body.room);
    this.asked.push(method);
    return this.#do(method, body);
  }

  /** HS256 with the secret of the key that `iss` names, and the grant that the method needs. */
  async #authorise({ headers }: IncomingMessage, method: Method, room: string): Promise<void> {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const checks = { algorithms: ['HS256'], issuer: this.key, requiredClaims: ['exp', 'nbf'] };
    const verified = await jwtVerify<{ video?: any }>(token, Buffer.from(this.secret), checks).catch(() => null);
    if (!verified) throw new Refusal(401, 'unauthenticated');
    const video = verified.payload.video ?? {};
    const mayCreate = method === 'CreateRoom' || method === 'DeleteRoom';
    if (mayCreate ? video.roomCreate !== true : !(video.roomAdmin === true && video.room === room))
      throw new Refusal(403, 'permission_denied');
  }

  #do(method: Method, body: any): object {
    if (method === 'CreateRoom') {
      if (!this.rooms.has(body.name)) this.rooms.set(body.name, []);
      return { sid: `RM_${body.name}`, name: body.name, emptyTimeout: body.emptyTimeout };
    }
    const inside = this.rooms.get(body.room);
    if (!inside) throw new Refusal(404, 'not_found');
    if (method === 'DeleteRoom') return (this.rooms.delete(body.room), {});
    if (method === 'ListParticipants') return { participants: inside };
    const one = inside.find(({ identity }) => identity === body.identity);
    if (!one) throw new Refusal(404, 'not_found');
    if (method === 'RemoveParticipant')
      return (
        this.rooms.set(
          body.room,
          inside.filter(other => other !== one),
        ),
        {}
      );
    Object.assign(one.permission, { canPublish: false, canSubscribe: false, canPublishData: false }, body.permission);
    return one;
  }
}
