import { buildASTSchema, isInputObjectType, isNonNullType, isObjectType, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { ruleOnNode } from '../../runtime/access/rules.js';
import { buildSubgraph } from '../../runtime/subgraph.js';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { startGateway } from '../../gateway/plans/gateway.js';
import { planTables } from '../../rest-adapter/plan.js';
import { createLogger } from '../../runtime/observe/log.js';
import { declarations, tables } from './composition.js';
import { entityKeys } from './keys.js';

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

describe.each(declarations.map(declaration => [declaration.slug, declaration] as const))('subgraph %s', (_slug, declaration) => {
  const [schema, entities] = [buildSubgraph(declaration), entityKeys(declaration)];

  test('resolves every entity that it says it resolves', () => {
    const without = [...entities.keys()].filter(type => !declaration.references?.[type]);
    expect(without).toEqual([]);
  });

  test('gives every field of an object type a rule of its own, its key, or the rule of the field that leads there', () => {
    const valueTypes = ['PageInfo', 'Quantity', 'Money'];
    const suspicious = [...entities]
      .filter(([name]) => !valueTypes.includes(name))
      .flatMap(([name, keys]) => {
        const type = schema.getType(name)!;
        if (!isObjectType(type)) return [];
        return Object.values(type.getFields())
          .filter(field => !keys.flat().includes(field.name) && !ruleOnNode(field.astNode))
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
