import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { parse } from 'graphql';
import { Ctx, Field, FieldResolver, ID, Mutation, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Access } from '../../runtime/access/access.js';
import { newId } from '../../runtime/data/ids.js';
import { Context } from '../../runtime/request/context.js';
import { internalRequest } from '../../runtime/request/request.js';
import { service } from '../../runtime/service.js';
import { CALLER, startService, type Started } from './support/service.js';

const [MAKERS, READERS] = [{ service: 'admin:payments' }, { service: 'admin:cash' }];

@Access(MAKERS)
@ObjectType('TestSeal')
class Seal {
  @Field(() => ID)
  id: string;

  @Access(READERS)
  @Field(() => String)
  motto: string;
}

@Access(MAKERS)
@ObjectType('TestLetter')
@Entity({ tableName: 'letter' })
class Letter {
  @PrimaryKey({ type: 'uuid' })
  @Field(() => ID)
  id: string = newId();

  @Access(READERS)
  @Property({ type: 'text' })
  @Field(() => String)
  text: string = 'come';

  @Access(READERS)
  @Property({ type: 'text', nullable: true })
  @Field(() => String, { nullable: true })
  note: string | null = 'soon';
}

const seal = (): Seal => Object.assign(new Seal(), { id: newId(), motto: 'ever' });

@Resolver(() => Letter)
class LetterResolver {
  @Access(MAKERS)
  @Query(() => Letter)
  testLetter(): Letter {
    return new Letter();
  }

  @Access(MAKERS)
  @Mutation(() => Letter)
  writeTestLetter(@Ctx() ctx: Context): Letter {
    const letter = new Letter();
    ctx.em.persist(letter);
    return letter;
  }

  @FieldResolver(() => [Seal])
  seals(@Root() _letter: Letter): Seal[] {
    return [seal()];
  }

  @FieldResolver(() => Seal, { nullable: true })
  lastSeal(@Root() _letter: Letter): Seal {
    return seal();
  }
}

let started: Started;
beforeAll(async () => {
  const declaration = service({
    slug: 'payments',
    purpose: 'Letters, for tests of the runtime.',
    entities: [Letter],
    resolvers: [LetterResolver],
    references: {},
    erase: 'nothing_held',
  });
  started = await startService(declaration, ['create table payments.letter (id uuid primary key, text text not null, note text)']);
});
beforeEach(() => started.sql('delete from payments.letter'));

const write = (selection: string, variables: Record<string, unknown> = {}) =>
  started.host.execute({ document: parse(`mutation W${selection}`), variables }, internalRequest(CALLER));
const written = async (): Promise<number> => (await started.sql('select id from payments.letter')).length;
const REFUSED = { data: null, errors: [{ path: ['writeTestLetter'], extensions: { code: 'INSUFFICIENT_SCOPE' } }] };

describe('a change whose whole answer the caller may not see is refused before it is made', () => {
  test.each([
    ['a field', '{ writeTestLetter { id text } }'],
    ['a field of the items of a list', '{ writeTestLetter { seals { motto } } }'],
    ['a field in a fragment', '{ writeTestLetter { ...F } } fragment F on TestLetter { text }'],
    ['a field that is asked for under a condition', '($is: Boolean!) { writeTestLetter { id text @include(if: $is) } }'],
  ])('%s', async (_what, selection) => {
    expect(await write(selection, { is: true })).toMatchObject(REFUSED);
    expect(await written()).toBe(0);
  });
});

describe('a change is made', () => {
  test.each([
    ['and answered without a field that may be null', '{ writeTestLetter { id note } }', { note: null }],
    ['and answered without an object that may be null', '{ writeTestLetter { id lastSeal { motto } } }', { lastSeal: null }],
    ['where the field that would be refused is left out', '($is: Boolean!) { writeTestLetter { id text @include(if: $is) } }', {}],
  ])('%s', async (_what, selection, part) => {
    const { data } = await write(selection, { is: false });
    expect(data).toMatchObject({ writeTestLetter: { id: expect.any(String), ...part } });
    expect(await written()).toBe(1);
  });
});
