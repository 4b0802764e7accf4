import {
  defaultFieldResolver,
  getNamedType,
  isObjectType,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { rulesOfWhole } from './answer.js';
import { checkAccess, checkSelf, isMeField, ruleOnNode, type AccessRule } from './rules.js';
import type { Context } from '../request/context.js';
import { fail, requireValid } from '../request/errors.js';
import { cursorProblem } from '../request/paging.js';
import { propertyBehind, type ContextCheck } from '../execution/properties.js';
import { checkKey, once } from '../data/idempotency.js';
import { opensOwnTransactions, preparationOf } from '../request/operation.js';
import { twoPhasesOf } from '../request/two-phase.js';
import { compileArguments } from '../schema/violations.js';
import { databaseProblem, inTransaction } from '../data/transaction.js';
import { firstRun, isSecondRun, secondRun } from '../data/two-phase.js';

type Field = GraphQLField<unknown, Context>;
type Resolver = GraphQLFieldResolver<unknown, Context>;

/** Access of one operation or field for this caller: decided once per request. @throws Problem of identity A5, steps 2-5. */
export function enforce(rule: AccessRule | null, field: string, ctx: Context): void {
  if (!rule) return decide(null, field, ctx);
  const known = ctx.decided.get(rule);
  if (known === true) return;
  if (known) throw known;
  try {
    decide(rule, field, ctx);
    ctx.decided.set(rule, true);
  } catch (error) {
    ctx.decided.set(rule, error as Error);
    throw error;
  }
}

function decide(rule: AccessRule | null, field: string, ctx: Context): void {
  checkAccess(rule, ctx.caller);
  if (ctx.caller.kind === 'service' && isMeField(field)) fail('forbidden', 'A service token has no user to act for');
  ctx.host.revocations.requireFresh(rule, ctx.caller);
  if (rule?.flag && !ctx.flags.boolean(rule.flag)) fail('forbidden', 'This feature is off', { reason: 'feature_off' });
}

const pathOf = (info: GraphQLResolveInfo): string => String(info.path.key);

async function mutate(
  inner: Resolver,
  source: unknown,
  args: Record<string, unknown>,
  ctx: Context,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  checkKey(ctx.request);
  const run = async () => inner(source, args, ctx, info);
  const phases = twoPhasesOf(info.fieldName);
  if (phases && isSecondRun(ctx, phases)) return secondRun(ctx, run);
  ctx.facts = await preparationOf(info.fieldName)?.(ctx, args);
  if (phases) throw await firstRun(ctx, { phases, args, info });
  if (opensOwnTransactions(info.fieldName)) return run();
  const operation = { field: info.fieldName, path: pathOf(info), args, type: getNamedType(info.returnType).name };
  return inTransaction(ctx, async () => {
    const result = await once(ctx, operation, run);
    if (ctx.audits.length === 0) ctx.audit(info.fieldName, (result as { id?: string } | null)?.id ?? null);
    return result;
  });
}

/** An operation: access, a mutation's to its answer as well, then every violation of its arguments, then ownership, then the work, a mutation in its transaction. */
function guardOperation(field: Field, mutation: boolean): Resolver {
  const [rule, check, inner] = [ruleOnNode(field.astNode), compileArguments(field.args), field.resolve ?? defaultFieldResolver];
  return async (source, args, ctx, info) => {
    enforce(rule, field.name, ctx);
    if (mutation) for (const inside of rulesOfWhole(info)) enforce(inside, '', ctx);
    const errors = check?.(args) ?? [];
    requireValid(errors);
    checkSelf(rule, ctx.caller, args);
    try {
      return await (mutation ? mutate(inner, source, args, ctx, info) : inner(source, args, ctx, info));
    } catch (error) {
      throw cursorProblem(args, error) ?? databaseProblem(error);
    }
  };
}

/** `_entities` and `_service` answer nobody without a token. Source: must-not-happen 3. */
function guardMachinery(field: Field): Resolver {
  const inner = field.resolve ?? defaultFieldResolver;
  return (source, args, ctx, info) => {
    if (ctx.caller.kind === 'anonymous') fail('unauthenticated', 'A bearer token is required');
    return inner(source, args, ctx, info);
  };
}

/** A check for each rule that differs from the others, so that the fields of an object are decided once. */
function ruleChecks(): (rule: AccessRule) => ContextCheck {
  const checks = new Map<string, ContextCheck>();
  return rule => {
    const text = JSON.stringify(rule);
    if (!checks.has(text)) checks.set(text, (ctx: Context) => enforce(rule, '', ctx));
    return checks.get(text)!;
  };
}

/** A field with a rule of its own; one without inherits its parent's decision and costs nothing. */
function guardField(field: Field, checkOf: (rule: AccessRule) => ContextCheck): void {
  const rule = ruleOnNode(field.astNode);
  const check = compileArguments(field.args);
  if (!rule && !check) return;
  const [inner, access] = [field.resolve ?? defaultFieldResolver, rule && checkOf(rule)];
  const isList = field.args.some(({ name }) => name === 'after');
  if (access && !check && inner === defaultFieldResolver) return void (field.resolve = propertyBehind(access));
  field.resolve = (source, args, ctx, info) => {
    access?.(ctx);
    const errors = check?.(args) ?? [];
    requireValid(errors);
    return isList ? judgingCursor(args, () => inner(source, args, ctx, info)) : inner(source, args, ctx, info);
  };
}

async function judgingCursor<Result>(args: object, work: () => Result): Promise<Awaited<Result>> {
  try {
    return await work();
  } catch (error) {
    throw cursorProblem(args, error) ?? error;
  }
}

/** Wraps every field of a subgraph schema; a root field without a rule fails the build. */
export function guardSchema(schema: GraphQLSchema): void {
  const roots = new Map([
    [schema.getQueryType()?.name, false],
    [schema.getMutationType()?.name, true],
  ]);
  const checkOf = ruleChecks();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const mutation = roots.get(type.name);
    for (const field of Object.values(type.getFields()) as Field[]) {
      if (mutation === undefined) guardField(field, checkOf);
      else if (field.name.startsWith('_')) field.resolve = guardMachinery(field);
      else if (!ruleOnNode(field.astNode)) throw new Error(`${type.name}.${field.name} has no @Access rule`);
      else field.resolve = guardOperation(field, mutation);
    }
  }
}
