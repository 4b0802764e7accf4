import { getNamedType, isLeafType, isObjectType, type GraphQLField, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { ruleOnNode, type AccessRule } from '../../runtime/access.js';
import type { Slug } from '../../events/slugs.js';
import { SERVICES } from '../../subgraphs/services.js';
import { DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { tables } from './composition.js';

/**
 * Every route and every operation × the callers that must be turned away. The lists come from the tables and schemas themselves,
 * so a new operation is in here without a line of its own.
 */
let p: TestPlatform;
/** A machine client without any scope of the services here, and a user token with a scope that opens nothing here. */
let foreignService: string;
let poorUser: string;

beforeAll(async () => {
  p = await platform();
  foreignService = await p.internalToken('cash');
  poorUser = await p.userToken(DEMO2, ['read:content']);
});

const REFUSED = [401, 403, 404];
const opensTo = (rule: AccessRule | null, kind: 'service' | 'user'): boolean =>
  rule?.public === true || (kind === 'service' ? rule?.service === '*' || rule?.internal?.includes('*') === true : rule?.user?.every(scope => scope === '*') === true);

const rootField = (schema: GraphQLSchema, document: string): AccessRule | null => {
  const [, operation, name] = /^\s*(?:(query|mutation)\b[^{]*)?\{\s*result\s*:\s*(\w+)/.exec(document) ?? [];
  const type = operation === 'mutation' ? schema.getMutationType() : schema.getQueryType();
  return ruleOnNode(type?.getFields()[name ?? '']?.astNode);
};

const routes = tables.flatMap(table => table.routes.map(route => ({ name: `${route.method} /${table.service}${route.path}`, service: table.service, route })));
const urlOf = (service: string, path: string): string => `/${service}${path.replace(/\{[^}]+\}/g, '0190b3a0-0000-7000-8000-00000000dead')}`;

describe('REST', () => {
  test.each(routes)('$name tells nobody anything without a valid token', async ({ service, route }) => {
    const rule = rootField(p.host(service).schema, route.document);
    const [none, broken] = await Promise.all([p.rest(route.method, urlOf(service, route.path)), p.rest(route.method, urlOf(service, route.path), { token: 'svc_e30.e30.e30' })]);
    expect(broken.status).toBe(401);
    expect(broken.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    if (rule?.public) return;
    expect(none.status).toBe(401);
    expect(none.headers['content-type']).toContain('application/problem+json');
  });

  test.each(routes)('$name refuses a token without its scope', async ({ service, route }) => {
    const rule = rootField(p.host(service).schema, route.document);
    const [byService, byUser] = await Promise.all([foreignService, poorUser].map(token => p.rest(route.method, urlOf(service, route.path), { token })));
    if (!opensTo(rule, 'service')) expect(REFUSED).toContain(byService!.status);
    if (!opensTo(rule, 'user')) expect(REFUSED).toContain(byUser!.status);
  });
});

/** A document for one root field in which every required argument is a variable; none is given, because access comes first. */
function documentFor(field: GraphQLField<unknown, unknown>, kind: string): string {
  const required = field.args.filter(arg => String(arg.type).endsWith('!') && arg.defaultValue === undefined);
  const declared = required.map(arg => `$${arg.name}: ${arg.type}`).join(', ');
  const given = required.map(arg => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isLeafType(getNamedType(field.type)) ? '' : ' { __typename }';
  return `${kind}${declared ? `(${declared})` : ''} { result: ${field.name}${given ? `(${given})` : ''}${selection} }`;
}

const fieldsOf = (type: GraphQLObjectType | null | undefined): GraphQLField<unknown, unknown>[] => Object.values(type?.getFields() ?? {}).filter(field => !field.name.startsWith('_'));

describe.each(Object.keys(SERVICES) as Slug[])('GraphQL of %s', slug => {
  const operations = () => {
    const { schema } = p.host(slug);
    return [...fieldsOf(schema.getQueryType()).map(field => ({ field, kind: 'query' })), ...fieldsOf(schema.getMutationType()).map(field => ({ field, kind: 'mutation' }))];
  };
  const doors = [['the gateway', '/graphql'], ['the subgraph port', `/${slug}/graphql`]] as const;

  test.each(doors)('every operation at %s refuses no token, a foreign service and a user without the scope', async (_name, door) => {
    for (const { field, kind } of operations()) {
      const rule = ruleOnNode(field.astNode);
      const ask = (token: string | null) => p.rest('POST', door, { token, body: { query: documentFor(field, kind) } });
      const callers = [['nobody', null, rule?.public === true], ['a service', foreignService, opensTo(rule, 'service')], ['a user', poorUser, opensTo(rule, 'user')]] as const;
      for (const [who, token, open] of callers) {
        if (open) continue;
        const answer = await ask(token);
        expect({ field: field.name, who, refused: REFUSED.includes(answer.status) }).toEqual({ field: field.name, who, refused: true });
        expect(answer.body.data?.result ?? null).toBeNull();
      }
    }
  });

  test('_entities and _service answer nobody without a token', async () => {
    const types = Object.values(p.host(slug).schema.getTypeMap()).filter(type => isObjectType(type) && type.astNode?.directives?.some(one => one.name.value === 'key'));
    for (const query of ['{ _service { sdl } }', ...(types.length ? [`{ _entities(representations: [{ __typename: "${types[0]!.name}", id: "${DEMO2}" }]) { __typename } }`] : [])]) {
      const answer = await p.rest('POST', `/${slug}/graphql`, { body: { query } });
      expect(answer.status).toBe(401);
    }
  });
});
