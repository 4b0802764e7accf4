/** @apollo/gateway and @apollo/server as they come, calling the platform's subgraphs over HTTP. */
process.env.APOLLO_TELEMETRY_DISABLED = 'true';
const { ApolloGateway, RemoteGraphQLDataSource } = await import('@apollo/gateway');
const { ApolloServer } = await import('@apollo/server');
const { default: fastifyApollo, fastifyApolloDrainPlugin } = await import('@as-integrations/fastify');
const { default: fastify } = await import('fastify');
const { readFileSync } = await import('node:fs');

class Forwarding extends RemoteGraphQLDataSource {
  willSendRequest({ request, context }) {
    if (context.authorization) request.http.headers.set('authorization', context.authorization);
  }
}

const supergraphSdl = readFileSync(new URL('../../gateway/supergraph.graphql', import.meta.url), 'utf8');
const gateway = new ApolloGateway({
  supergraphSdl,
  buildService: ({ name }) => new Forwarding({ url: `${process.env.SUBGRAPHS}/${name}/graphql` }),
});
const app = fastify();
const server = new ApolloServer({ gateway, plugins: [fastifyApolloDrainPlugin(app)], stopOnTerminationSignals: false });
await server.start();
await app.register(fastifyApollo(server), { context: async request => ({ authorization: request.headers.authorization }) });
app.get('/ready', () => 'ok');
await app.listen({ port: Number(process.env.PORT), host: 'localhost' });
process.on('SIGTERM', () => process.exit(0));
