/** A bare Fastify that answers recorded bytes: what the HTTP stack alone costs. */
import fastify from 'fastify';
import { readFileSync } from 'node:fs';

const answers = JSON.parse(readFileSync(process.env.ANSWERS, 'utf8'));
const app = fastify();
for (const [path, text] of Object.entries(answers)) {
  app.route({ method: ['GET', 'POST'], url: path, handler: (_request, reply) => reply.type('application/json; charset=utf-8').send(text) });
}
await app.listen({ port: Number(process.env.PORT), host: 'localhost' });
process.on('SIGTERM', () => process.exit(0));
