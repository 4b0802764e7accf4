/** A subgraph that answers ready bytes, over HTTP/1.1 at PORT and over HTTP/2 in clear at H2_PORT: what is measured is who calls it. */
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';

const rows = count =>
  Array.from({ length: count }, (_, at) => ({
    __typename: 'Review',
    id: `review-${at}`,
    body: 'Said about it, in a few words',
    stars: at % 5,
  }));
const ANSWERS = Object.fromEntries(
  Object.entries({ point: 7, wide: 950 }).map(([work, count]) => [work, Buffer.from(JSON.stringify({ data: { reviews: rows(count) } }))]),
);

/** The path's service is the work. */
function answer(request, response) {
  const body = ANSWERS[request.url.split('/')[1]];
  if (!body) return response.writeHead(200).end('ok');
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
}

const { PORT, H2_PORT } = process.env;
const servers = [
  createServer({ keepAliveTimeout: 60_000 }, answer).listen(Number(PORT)),
  createHttp2Server(answer).listen(Number(H2_PORT)),
];
process.on('SIGTERM', () => (servers.forEach(server => server.close()), process.exit(0)));
