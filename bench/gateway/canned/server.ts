/**
 * The canned services in one process, as cheap as JavaScript allows, so that the gateway is what gets measured: HTTP/1.1 on bare sockets,
 * pipelined or not, with the ready bytes of each answer kept by path and request body. What was not asked before is executed for real.
 *
 * `POST /<service>/graphql`; `GET /stats` answers the number of calls: `{"calls": n}`. Environment: PORT.
 */
import { createServer, type Socket } from 'node:net';
import { graphql } from 'graphql';
import { NAMES, schemaOf } from './services.ts';

const MAX_KEPT = 50_000;
const schemas = new Map(NAMES.map(name => [`/${name}/graphql`, schemaOf(name)]));
const kept = new Map<string, Buffer>();
let calls = 0;

const SECRETS = new URL('../../../dist/runtime/access/subgraph-secret.js', import.meta.url).href;
const secrets = (await import(SECRETS)) as { COMPLETE_ANSWER_HEADER: string; completeAnswerProof(secret: string): string };
/** As our services do, an answer without errors says so, and that nothing was written for it; the other gateways ignore both. */
const COMPLETE = `${secrets.COMPLETE_ANSWER_HEADER}: ${secrets.completeAnswerProof('bench')}\r\nx-no-trace: true\r\n`;

function bytesOf(value: object): Buffer {
  const body = Buffer.from(JSON.stringify(value));
  const complete = 'errors' in value ? '' : COMPLETE;
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${complete}content-length: ${body.length}\r\nconnection: keep-alive\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

async function execute(path: string, body: string): Promise<Buffer> {
  const { query, variables, operationName } = JSON.parse(Buffer.from(body, 'latin1').toString());
  const answer = await graphql({ schema: schemas.get(path)!, source: query, variableValues: variables, operationName });
  if (answer.errors) process.stderr.write(`${path}: ${answer.errors[0]!.message}\n`);
  return bytesOf(answer);
}

interface Request {
  path: string;
  body: string;
  /** Where the next one begins. */
  end: number;
}

/** A chunked body from a position; null while it is not whole. */
function chunksFrom(text: string, from: number): Omit<Request, 'path'> | null {
  for (let at = from, body = ''; ;) {
    const line = text.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = parseInt(text.slice(at, line), 16);
    const next = line + 4 + size;
    if (text.length < next) return null;
    if (size === 0) return { body, end: next };
    body += text.slice(line + 2, line + 2 + size);
    at = next;
  }
}

/** The first request of what came; null while it is not whole. Text is latin1: a character a byte, cheap to cut and to look up by. */
function requestIn(text: string): Request | null {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return null;
  const [from, heads] = [head + 4, text.slice(0, head)];
  const path = heads.slice(heads.indexOf(' ') + 1, heads.indexOf(' HTTP/'));
  const length = Number(/\r\ncontent-length: ?(\d+)/i.exec(heads)?.[1] ?? 0);
  if (/\r\ntransfer-encoding: ?chunked/i.test(heads)) {
    const chunks = chunksFrom(text, from);
    return chunks && { path, ...chunks };
  }
  return text.length < from + length ? null : { path, body: text.slice(from, from + length), end: from + length };
}

function answerOf({ path, body }: Request): Buffer | Promise<Buffer> {
  if (path === '/stats') return bytesOf({ calls });
  calls++;
  const key = path + body;
  return kept.get(key) ?? execute(path, body).then(bytes => keep(key, bytes));
}

function keep(key: string, bytes: Buffer): Buffer {
  if (kept.size < MAX_KEPT) kept.set(key, bytes);
  return bytes;
}

/** Answers leave in the order of their requests; those to pipelined requests in one write. */
function serve(socket: Socket): void {
  let text = '';
  let last: Promise<unknown> | null = null;
  const answer = (request: Request): void => {
    const bytes = answerOf(request);
    if (Buffer.isBuffer(bytes) && !last) return void socket.write(bytes);
    const mine: Promise<unknown> = Promise.all([bytes, last]).then(([ready]) => {
      socket.write(ready);
      if (last === mine) last = null;
    });
    last = mine;
  };
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer | string) => {
    text += String(chunk);
    socket.cork();
    for (let request = requestIn(text); request; request = requestIn(text)) {
      text = text.slice(request.end);
      answer(request);
    }
    socket.uncork();
  });
}

createServer(serve).listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
