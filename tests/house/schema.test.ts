import { buildASTSchema, GraphQLSchema, isInputObjectType, isNonNullType, isObjectType, Kind, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { ruleOnNode } from '../../runtime/access/rules.js';
import { buildSubgraph } from '../../runtime/subgraph.js';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { startGateway } from '../../gateway/plans/gateway.js';
import { planTables } from '../../rest-adapter/plan.js';
import { createLogger } from '../../runtime/observe/log.js';
import { declarations, tables } from './composition.js';

const notCalled = () => Promise.reject(new Error('not called'));
const unreachable = { process: notCalled, prepare: () => notCalled };

describe('the supergraph', () => {
  test('has an access rule on every operation, also after composition', async () => {
    const supergraph = buildASTSchema(parse(await readSupergraph()), { assumeValid: true });
    const roots = [supergraph.getQueryType(), supergraph.getMutationType()].filter(type => type != null);
    const bare = roots.flatMap(type =>
      Object.values(type.getFields())
        .filter(field => !ruleOnNode(field.astNode))
        .map(field => `${type.name}.${field.name}`),
    );
    expect(bare).toEqual([]);
  });

  test("answers every route's document", async () => {
    const gateway = await startGateway({
      supergraphSdl: await readSupergraph(),
      source: () => unreachable,
      executor: 'compiled',
      log: createLogger('error'),
    });
    const faults = planTables(gateway.supergraph, tables).flatMap(({ key, document }) =>
      validate(gateway.apiSchema, document).map(error => `${key}: ${error.message}`),
    );
    expect(faults).toEqual([]);
  });
});

/** Fields that a user may be found by; the owner is one of them or is reached through them. */
const entityTypes = (schema: GraphQLSchema): string[] =>
  Object.values(schema.getTypeMap())
    .filter(
      type =>
        isObjectType(type) &&
        type.astNode?.directives?.some(
          directive => directive.name.value === 'key' && directive.arguments?.every(arg => arg.name.value !== 'resolvable'),
        ),
    )
    .map(type => type.name);

describe.each(declarations.map(declaration => [declaration.slug, declaration] as const))('subgraph %s', (_slug, declaration) => {
  const schema = buildSubgraph(declaration);

  test('resolves every entity that it says it resolves', () => {
    const without = entityTypes(schema).filter(type => !declaration.references?.[type]);
    expect(without).toEqual([]);
  });

  test('gives every field of an object type a rule of its own, its key, or the rule of the field that leads there', () => {
    const valueTypes = ['PageInfo', 'Quantity', 'Money'];
    const suspicious = entityTypes(schema)
      .filter(name => !valueTypes.includes(name))
      .flatMap(name => {
        const type = schema.getType(name)!;
        if (!isObjectType(type)) return [];
        const keys = (type.astNode?.directives ?? [])
          .filter(one => one.name.value === 'key')
          .flatMap(one =>
            (one.arguments ?? []).map(arg => (arg.value.kind === Kind.STRING ? arg.value.value.split(/[\s{}]+/) : [])).flat(),
          );
        return Object.values(type.getFields())
          .filter(field => !keys.includes(field.name) && !ruleOnNode(field.astNode))
          .map(field => `${name}.${field.name}`);
      });
    expect(suspicious).toEqual([]);
  });

  test('has a description on no input field that could not say its bounds: strings from outside are bounded', () => {
    const unbounded = Object.values(schema.getTypeMap())
      .filter(isInputObjectType)
      .flatMap(type =>
        Object.values(type.getFields())
          .filter(
            field =>
              String(isNonNullType(field.type) ? field.type.ofType : field.type) === 'String' &&
              !field.astNode?.directives?.some(one => one.name.value === 'constraint'),
          )
          .map(field => `${type.name}.${field.name}`),
      );
    expect(unbounded).toEqual([]);
  });
});
