import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../request/errors.js';
import { problemBody } from './problem.js';

/** A request that Node refuses before there is a route for it. */
interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly detail: string;
}

const MALFORMED: Refusal = { status: 400, reason: 'Bad Request', detail: 'The request is not valid HTTP/1.1' };
const TOO_LATE: Refusal = { status: 408, reason: 'Request Timeout', detail: 'The request did not come in time' };
const HEAD_TOO_LARGE: Refusal = { status: 431, reason: 'Request Header Fields Too Large', detail: 'The headers are too large' };
const UNEXPECTED: Refusal = { status: 417, reason: 'Expectation Failed', detail: 'No expectation but 100-continue can be met' };

/** By the code of Node's error; any other is {@link MALFORMED}. */
const REFUSALS: Readonly<Record<string, Refusal>> = { ERR_HTTP_REQUEST_TIMEOUT: TOO_LATE, HPE_HEADER_OVERFLOW: HEAD_TOO_LARGE };

/** The statuses have no code of their own, so the code is that of a malformed request. */
function answerOf({ status, detail }: Refusal): { headers: Record<string, string | number>; body: string } {
  const id = randomUUID();
  const body = JSON.stringify({ ...problemBody(new Problem('invalid_request', detail), id), status });
  const headers = {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': id,
    connection: 'close',
  };
  return { headers, body };
}

/** Nobody listens any more, or another answer has begun on the connection. */
const canAnswer = (socket: Socket): boolean =>
  socket.writable && !(socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage?.headersSent;

/** Answers on the connection what Node's parser refused, and ends it. */
export function refuseOnSocket(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !canAnswer(socket)) return void socket.destroy();
  const refusal = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const { headers, body } = answerOf(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${refusal.status} ${refusal.reason}`, ...lines, '', body].join('\r\n'), () => socket.destroy());
}

/** Answers `Expect` of anything but `100-continue`. Source: RFC 9110, 10.1.1. */
export function refuseExpectations(server: Server): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { headers, body } = answerOf(UNEXPECTED);
    response.writeHead(UNEXPECTED.status, headers).end(body);
  });
}
