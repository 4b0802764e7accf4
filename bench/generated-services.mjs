/**
 * Services that do not exist yet, as declarations made by the same decorators, so that start, memory and the suite can be measured with all
 * 28 of them: tables, operations, REST rows and consumers, but no work.
 */
import 'reflect-metadata';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Arg, Args, Ctx, Directive, Field, ID, InputType, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import { biomarkerAdded, protocolStarted } from '../dist/events/catalogue/clinical.js';
import { paymentPaid } from '../dist/events/catalogue/payments.js';
import { handle } from '../dist/events/consumer.js';
import { schemaOf } from '../dist/events/slugs.js';
import { get, post } from '../dist/rest-adapter/route.js';
import { Access } from '../dist/runtime/access/access.js';
import { houseTables } from '../dist/runtime/data/house-tables.js';
import { newId } from '../dist/runtime/data/ids.js';
import { rowReferences } from '../dist/runtime/data/references.js';
import { findRow } from '../dist/runtime/data/rows.js';
import { connectionOf, page, PageArgs } from '../dist/runtime/request/paging.js';
import { Rule, UUID } from '../dist/runtime/schema/constraints.js';
import { registerEnums } from '../dist/runtime/schema/enums.js';
import { DateTime } from '../dist/runtime/schema/scalars.js';
import { service } from '../dist/runtime/service.js';

const range = count => Array.from({ length: count }, (_, at) => at);
const pascal = slug => slug.replaceAll(/(^|-)(\w)/g, (_, _dash, letter) => letter.toUpperCase());
const decorate = (prototype, name, ...decorators) => decorators.forEach(one => one(prototype, name));
const named = (name, made) => Object.defineProperty(made, 'name', { value: name });

/** Columns besides id, kind and the time. */
const COLUMNS = {
  userId: ['uuid', ID],
  name: ['text', String],
  note: ['text', String],
  amount: ['integer', Int],
  version: ['integer', Int],
};

function tableOf(slug, at) {
  const name = `${pascal(slug)}Thing${at}`;
  const Kind = { FIRST: 'first', SECOND: 'second', THIRD: 'third' };
  registerEnums({ [`${name}Kind`]: Kind });
  const made = named(
    name,
    class {
      id = newId();
    },
  );
  decorate(
    made.prototype,
    'id',
    PrimaryKey({ type: 'uuid' }),
    Field(() => ID),
  );
  decorate(
    made.prototype,
    'kind',
    Enum({ items: () => Kind }),
    Field(() => Kind),
  );
  decorate(
    made.prototype,
    'createdAt',
    Property({ type: 'datetime', length: 3 }),
    Field(() => DateTime),
  );
  for (const [column, [type, field]] of Object.entries(COLUMNS))
    decorate(
      made.prototype,
      column,
      Property({ type }),
      Field(() => field),
    );
  Directive('@key(fields: "id")')(made);
  ObjectType(name, { description: 'A thing.' })(made);
  Entity({ tableName: `thing_${at}` })(made);
  return { name, made, Kind, Connection: connectionOf(made, name) };
}

function inputOf({ name, Kind }, verb) {
  const made = named(`${verb}${name}Input`, class {});
  decorate(
    made.prototype,
    'userId',
    Field(() => ID),
    Rule({ pattern: UUID }),
  );
  decorate(
    made.prototype,
    'kind',
    Field(() => Kind),
  );
  decorate(
    made.prototype,
    'name',
    Field(() => String),
    Rule({ minLength: 1, maxLength: 200 }),
  );
  decorate(
    made.prototype,
    'amount',
    Field(() => Int, { nullable: true }),
    Rule({ min: 0, max: 1000 }),
  );
  InputType()(made);
  return made;
}

/** The four kinds of operation, in turn. */
const OPERATIONS = [
  ({ made }) => ({
    prefix: '',
    type: [Query, () => made, { nullable: true }],
    args: [Arg('id', () => ID)],
    run: (id, ctx) => findRow(ctx, made, { id }),
  }),
  table => ({
    prefix: 'create',
    type: [Mutation, () => table.made],
    input: inputOf(table, 'Create'),
    run: input => Object.assign(new table.made(), input),
  }),
  ({ made, Connection }) => ({
    prefix: 'list',
    type: [Query, () => Connection],
    args: [Args(() => PageArgs)],
    run: (args, ctx) => page(ctx.em, made, {}, args, { time: 'createdAt' }),
  }),
  table => ({
    prefix: 'update',
    type: [Mutation, () => table.made],
    input: inputOf(table, 'Update'),
    run: input => Object.assign(new table.made(), input),
  }),
];

const fieldName = (prefix, name) => (prefix ? prefix + name : name[0].toLowerCase() + name.slice(1));

function operationOf(slug, tables, at) {
  const table = tables[at % tables.length];
  const made = OPERATIONS[Math.floor(at / tables.length) % OPERATIONS.length](table);
  const field = fieldName(made.prefix, table.name);
  const target = named(`${pascal(slug)}Resolver${at}`, class {});
  target.prototype[field] = (first, ctx) => made.run(first, ctx);
  const [decorator, type, options] = made.type;
  const descriptor = Object.getOwnPropertyDescriptor(target.prototype, field);
  (made.input ? Arg('input', () => made.input) : made.args[0])(target.prototype, field, 0);
  Ctx()(target.prototype, field, 1);
  Access({ service: `admin:${schemaOf(slug)}` })(target.prototype, field, descriptor);
  decorator(type, { description: 'Does something.', ...options })(target.prototype, field, descriptor);
  Resolver()(target);
  return { resolver: target, field, prefix: made.prefix, at };
}

const SELECTION = 'id userId kind name note amount version createdAt';

function rowsOf({ field, prefix, at }) {
  const path = `/v1/things-${at}`;
  if (prefix === '') return [get(`${path}/{id}`, field, SELECTION, 'Read a thing')];
  if (prefix === 'list') return [get(path, field, SELECTION, 'List things')];
  return [post(path, field, SELECTION, 'Change a thing')];
}

/** Rows beyond one for each operation: other paths of the same fields. */
const moreRows = (operations, count) =>
  operations.slice(0, count).map(({ field, prefix, at }) => {
    const as = `${field}Again`;
    const path = `/v1/others-${at}`;
    if (prefix === '') return get(`${path}/{id}`, field, 'id name', 'Read a thing shortly', { as });
    return prefix === 'list'
      ? get(path, field, 'id name', 'List things shortly', { as })
      : post(path, field, 'id', 'Change it shortly', { as });
  });

const consumersOf = (slug, count) =>
  [biomarkerAdded, protocolStarted, paymentPaid]
    .slice(0, count)
    .map((event, at) => ({ name: `${slug}.generated_${'abc'[at]}`, on: [handle(event, async () => undefined)] }));

/**
 * One service: its declaration, its route table, and the statements that make its schema.
 * @param size how many tables, operations, rows and consumers.
 */
export function generatedService(slug, { tables, operations, rows, consumers }) {
  const all = range(tables).map(at => tableOf(slug, at));
  const made = range(operations).map(at => operationOf(slug, all, at));
  const declaration = service({
    slug,
    purpose: 'Generated, for measurements',
    entities: all.map(table => table.made),
    resolvers: made.map(one => one.resolver),
    references: Object.fromEntries(all.map(table => [table.name, rowReferences(table.made)])),
    consumers: consumersOf(slug, consumers),
    erase: 'nothing_held',
  });
  const clock = post('/v1/admin/test-clock', `set${pascal(slug)}Clock`, 'now', 'Move the clock');
  const routes = [...made.flatMap(rowsOf), ...moreRows(made, rows - operations - 1), clock];
  return { declaration, table: { service: slug, routes }, statements: houseTables(slug) };
}
