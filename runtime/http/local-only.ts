import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../request/errors.js';
import { sendProblem } from './server.js';

const LOOPBACK = /^(::1|(::ffff:)?127(\.\d+){3})$/;
/** The names of this machine. Another one that leads here is a foreign page that rebinds its own name. */
const LOCAL_HOST = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i;
/** What a proxy on this machine adds, which carries a request from elsewhere. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** Whether somebody at this machine asks, in a browser or a shell; neither a proxy nor a foreign page in that browser. */
export function isLocal({ raw, headers }: Pick<FastifyRequest, 'raw' | 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  return (
    LOOPBACK.test(raw.socket.remoteAddress ?? '') &&
    LOCAL_HOST.test(headers.host ?? '') &&
    FORWARDED.every(name => headers[name] === undefined) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  );
}

/** To everybody else the path does not exist. For use as a hook. */
export async function localOnly(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | void> {
  if (!isLocal(request)) return sendProblem(reply, new Problem('not_found', 'There is nothing at this address'));
}
