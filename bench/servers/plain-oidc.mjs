/** Plain oidc-provider with its in-memory adapter: one machine client, the same ES256 at+jwt tokens, nothing else. */
import { exportJWK, generateKeyPair } from 'jose';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const port = Number(process.env.PORT);
const { privateKey } = await generateKeyPair('ES256', { extractable: true });
const audience = 'urn:platform:api';
const provider = new Provider(`http://localhost:${port}`, {
  clients: [
    {
      client_id: 'demo-m2m',
      client_secret: 'demo-m2m-secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_post',
      scope: 'admin:clinical',
    },
  ],
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] },
  scopes: ['openid', 'admin:clinical'],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'admin:clinical',
        audience,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 3600,
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});
const answer = provider.callback();
createServer((request, response) => void answer(request, response)).listen(port, 'localhost');
process.on('SIGTERM', () => process.exit(0));
