import type { FastifyPluginAsync } from 'fastify';

/** A plugin with a name. Without one Fastify compares it with every module of the process at its registration, to find a name for it. */
export const plugin = (name: string, work: FastifyPluginAsync): FastifyPluginAsync =>
  Object.assign(work, { [Symbol.for('fastify.display-name')]: name });
