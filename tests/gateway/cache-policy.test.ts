import { buildASTSchema, buildSchema, parse } from 'graphql';
import { Directive, Field, ID, ObjectType, Query, Resolver } from 'type-graphql';
import { expect, test } from 'vitest';
import { cachePolicy } from '../../gateway/plans/cache-policy.js';
import { compose } from '../../gateway/compose.js';
import { Access } from '../../runtime/access/access.js';
import type { ServiceDeclaration } from '../../runtime/service.js';

const policy = cachePolicy(
  buildSchema(`
  directive @access(public: Boolean, user: [String!], flag: String) on FIELD_DEFINITION
  directive @cacheControl(maxAge: Int, scope: Scope, inheritMaxAge: Boolean) on FIELD_DEFINITION | OBJECT | INTERFACE | UNION
  enum Scope { PUBLIC PRIVATE }
  type Query {
    page: Page @access(public: true) @cacheControl(maxAge: 60)
    plain: Page @access(public: true)
    typed: Typed @access(public: true)
    mine: Page @access(public: true) @cacheControl(maxAge: 60, scope: PRIVATE)
    guarded: Page @access(user: ["read:x"]) @cacheControl(maxAge: 60)
    flagged: Page @access(public: true, flag: "x.y") @cacheControl(maxAge: 60)
    bare: Page @cacheControl(maxAge: 60)
    version: Int @access(public: true)
    counted: Int @access(public: true) @cacheControl(maxAge: 7)
    any: Any @access(public: true) @cacheControl(maxAge: 60)
    negative: Int @access(public: true) @cacheControl(maxAge: -1)
  }
  type Mutation { change: Page @access(public: true) @cacheControl(maxAge: 60) }
  type Page { id: ID soon: Int @cacheControl(maxAge: 5) secret: Int @access(user: ["read:x"]) open: Int @access(public: true)
    inner: Page inherited: Page @cacheControl(inheritMaxAge: true) typed: Typed own: Private longer: Typed @cacheControl(maxAge: 90) }
  type Typed @cacheControl(maxAge: 30) { id: ID }
  type Private @cacheControl(maxAge: 30, scope: PRIVATE) { id: ID }
  union Any = Page | Private
`),
);

test.each([
  ['a hint of the root field', '{ page { id open } }', 60],
  ['the lowest of all', '{ page { id soon } }', 5],
  ['a root field without a hint', '{ plain { id } }', 0],
  ['a root scalar without a hint', '{ version }', 0],
  ['a root scalar with one', '{ counted }', 7],
  ['the hint of a type', '{ typed { id } }', 30],
  ['a field’s hint before its type’s', '{ page { longer { id } } }', 60],
  ['objects without a hint', '{ page { inner { id } } }', 0],
  ['objects that inherit', '{ page { inherited { id } } }', 60],
  ['a lower type below', '{ page { typed { id } } }', 30],
  ['two root fields', '{ page { id } counted }', 7],
  ['two root fields, one without', '{ page { id } plain { id } }', 0],
  ['a private root field', '{ mine { id } }', 0],
  ['a private type below', '{ page { own { id } } }', 0],
  ['an abstract type, one of whose types is private', '{ any { __typename } }', 0],
  ['a root field with a rule', '{ guarded { id } }', 0],
  ['a root field without any rule', '{ bare { id } }', 0],
  ['a rule with a flag', '{ flagged { id } }', 0],
  ['a field with a rule', '{ page { id secret } }', 0],
  ['a field with a rule in a fragment', '{ page { ...f } } fragment f on Page { secret }', 0],
  ['a skipped field counts', '{ page { id secret @skip(if: true) } }', 0],
  ['an alias hides nothing', '{ page { id open: secret } }', 0],
  ['a type’s name', '{ page { __typename id } __typename }', 60],
  ['nothing but a type’s name', '{ __typename }', 0],
  ['introspection', '{ page { id } __schema { types { name } } }', 0],
  ['a mutation', 'mutation { change { id } }', 0],
  ['a query beside a mutation', 'query A { page { id } } mutation B { change { id } }', 0],
  ['a negative hint', '{ negative }', 0],
])('%s', (_title, source, seconds) => expect(policy(parse(source))).toBe(seconds));

@Directive('@cacheControl(maxAge: 60)')
@ObjectType()
class Leaflet {
  @Field(() => ID)
  id: string;

  @Directive('@cacheControl(maxAge: 20)')
  @Field(() => String)
  text: string;
}

@Resolver()
class LeafletResolver {
  @Access({ public: true })
  @Query(() => Leaflet)
  leaflet(): Leaflet {
    return new Leaflet();
  }

  @Access({ public: true })
  @Directive('@cacheControl(maxAge: 60, scope: PRIVATE)')
  @Query(() => Leaflet)
  myLeaflet(): Leaflet {
    return new Leaflet();
  }
}

test('the hints of a service’s classes survive composition', () => {
  const supergraph = compose([{ slug: 'content', resolvers: [LeafletResolver] } as unknown as ServiceDeclaration]);
  const composed = cachePolicy(buildASTSchema(parse(supergraph), { assumeValid: true }));
  const ages = ['{ leaflet { id } }', '{ leaflet { text } }', '{ myLeaflet { id } }'].map(source => composed(parse(source)));
  expect(ages).toEqual([60, 20, 0]);
});
