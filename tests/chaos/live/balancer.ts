import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface Balancer {
  url: string;
  /** Requests that each process answered. */
  answered: number[];
  stop(): void;
}

/** Hands one request on, as it is. */
const pass = (port: number, incoming: IncomingMessage, outgoing: ServerResponse, answered: () => void): void => {
  const refuse = (): void => void (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end());
  const { method, headers, url: path } = incoming;
  const onward = request({ port, host: '127.0.0.1', method, headers, path, agent: false }, answer => {
    answered();
    outgoing.writeHead(answer.statusCode!, answer.headers);
    answer.on('error', refuse).pipe(outgoing);
  });
  incoming.pipe(onward.on('error', refuse));
};

/** One address in front of several processes of a service, which take requests in turn; one that is away answers 502. */
export async function balancer(ports: readonly number[]): Promise<Balancer> {
  let turn = 0;
  const answered = ports.map(() => 0);
  const server = createServer((incoming, outgoing) => {
    const at = turn++ % ports.length;
    pass(ports[at]!, incoming, outgoing, () => answered[at]!++);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answered, stop };
}
