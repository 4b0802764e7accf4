import { getNamedType, isLeafType, type GraphQLField, type GraphQLObjectType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { isMeField, ruleOnNode } from '../../runtime/access/rules.js';
import type { ServiceDeclaration } from '../../runtime/service.js';
import { buildSubgraph } from '../../runtime/subgraph.js';
import { DEMO2, sharedPlatform, type SharedPlatform } from '../support/platform.js';
import { declarations } from './composition.js';
import { entityKeys } from './keys.js';
import { forbidden, principalsOf, refusalOf, type Principal, type Refusal } from './principals.js';

/**
 * Every operation in GraphQL × the callers that must be turned away; `permissions.test.ts` asks the routes. The lists come from the schemas
 * themselves, so a new operation is in here without a line of its own.
 */
let p: SharedPlatform;
let everybody: Principal[];

beforeAll(async () => {
  p = await sharedPlatform();
  everybody = Object.values(await principalsOf(p));
});

/** Who must be turned away, and how: by the rule, and no service has a user to act for on a `me` field. */
function turnedAway({ field }: Operation): (readonly [Principal, Refusal])[] {
  const rule = ruleOnNode(field.astNode);
  const refused = everybody.map(
    who => [who, refusalOf(rule, who) ?? (who.claims?.token_use === 'service' && isMeField(field.name) ? forbidden : null)] as const,
  );
  return refused.flatMap(([who, refusal]) => (refusal ? [[who, refusal] as const] : []));
}

/** A document for one root field in which every required argument is a variable; none is given, because access comes first. */
function documentFor(field: GraphQLField<unknown, unknown>, kind: string): string {
  const required = field.args.filter(arg => String(arg.type).endsWith('!') && arg.defaultValue === undefined);
  const declared = required.map(arg => `$${arg.name}: ${arg.type}`).join(', ');
  const given = required.map(arg => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isLeafType(getNamedType(field.type)) ? '' : ' { __typename }';
  return `${kind}${declared ? `(${declared})` : ''} { result: ${field.name}${given ? `(${given})` : ''}${selection} }`;
}

const fieldsOf = (type: GraphQLObjectType | null | undefined): GraphQLField<unknown, unknown>[] =>
  Object.values(type?.getFields() ?? {}).filter(field => !field.name.startsWith('_'));

interface Operation {
  field: GraphQLField<unknown, unknown>;
  kind: 'query' | 'mutation';
}

function operationsOf(declaration: ServiceDeclaration): Operation[] {
  const schema = buildSubgraph(declaration);
  const of = (kind: Operation['kind'], type: GraphQLObjectType | null | undefined) => fieldsOf(type).map(field => ({ field, kind }));
  return [...of('query', schema.getQueryType()), ...of('mutation', schema.getMutationType())];
}

describe.each(declarations)('GraphQL of $slug', declaration => {
  const { slug } = declaration;
  const endpoints = [
    ['the gateway', '/graphql'],
    ['the subgraph port', `/${slug}/graphql`],
  ] as const;

  test.each(endpoints)(
    'every operation at %s turns away whom its rule does not name, before it looks at anything',
    async (_name, endpoint) => {
      for (const operation of operationsOf(declaration))
        for (const [who, { status, code, challenge }] of turnedAway(operation)) {
          const { body, headers, ...answer } = await p.rest('POST', endpoint, {
            token: who.token,
            body: { query: documentFor(operation.field, operation.kind) },
          });
          const about = { field: operation.field.name, who: who.name };
          const seen = {
            status: answer.status,
            code: (body.errors?.[0]?.extensions?.code ?? body.code)?.toLowerCase(),
            challenge: headers['www-authenticate'] ?? null,
          };
          expect({ ...about, ...seen, data: body.data?.result ?? null }).toEqual({ ...about, status, code, challenge, data: null });
        }
    },
  );

  test('_entities and _service answer nobody without a token', async () => {
    const [type] = entityKeys(declaration).keys();
    for (const query of [
      '{ _service { sdl } }',
      ...(type ? [`{ _entities(representations: [{ __typename: "${type}", id: "${DEMO2}" }]) { __typename } }`] : []),
    ]) {
      const answer = await p.rest('POST', `/${slug}/graphql`, { body: { query } });
      expect(answer.status).toBe(401);
    }
  });
});
