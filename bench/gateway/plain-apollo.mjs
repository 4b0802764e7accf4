/** @apollo/gateway behind @apollo/server's own HTTP server, as they come. Environment: PORT, SUPERGRAPH. */
process.env.APOLLO_TELEMETRY_DISABLED = 'true';
const { ApolloGateway } = await import('@apollo/gateway');
const { ApolloServer } = await import('@apollo/server');
const { startStandaloneServer } = await import('@apollo/server/standalone');
const { readFile } = await import('node:fs/promises');

const gateway = new ApolloGateway({ supergraphSdl: await readFile(process.env.SUPERGRAPH, 'utf8') });
const server = new ApolloServer({ gateway, stopOnTerminationSignals: false });
await startStandaloneServer(server, { listen: { port: Number(process.env.PORT), host: '127.0.0.1' } });
process.on('SIGTERM', () => process.exit(0));
