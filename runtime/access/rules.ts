import { type ConstDirectiveNode, valueFromASTUntyped } from 'graphql';
import { holdsPermission, isStaff, type Caller } from '../request/caller.js';
import { fail } from '../request/errors.js';

/**
 * Who may use an operation or field. `service`, `user`, `staff` and `internal` are alternatives, one per kind of caller; a kind
 * that is not named is refused. `a|b` inside a string means either. Source: identity A6.
 */
export interface AccessRule {
  /** Service token with this admin scope; `*` for any service token. */
  service?: string;
  /** User token with all of these scopes; `*` for any user token. */
  user?: readonly string[];
  /** Staff token holding this permission; `*` for any staff token. */
  staff?: string;
  /** A user token acts on `sub` only: a `userId` or `patientId` argument that differs is `not_found`. */
  self?: boolean;
  /** User tokens of first-party apps only. */
  firstParty?: boolean;
  /** Seconds since the last active sign-in of a user token. */
  stepUp?: number;
  /** Internal clients `svc-<slug>` with these slugs; `*` for any. An empty list shuts all of them out, whatever their scopes. */
  internal?: readonly string[];
  /** No token needed. */
  public?: boolean;
  /** Boolean flag that must be on; it depends neither on brand nor on user. */
  flag?: string;
}

/** A rule as its author writes it. */
export type RuleInput = Omit<AccessRule, 'user' | 'internal'> & {
  user?: string | readonly string[];
  internal?: true | string | readonly string[];
};

const asList = (value: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof value === 'string' ? [value] : value;

/** A rule in its stored form. */
export const ruleOf = (input: RuleInput): AccessRule => ({
  ...input,
  user: asList(input.user),
  internal: input.internal === true ? ['*'] : asList(input.internal),
});

/** The rule on an SDL node, from its `@access` directive. */
export function ruleOnNode(node: { directives?: readonly ConstDirectiveNode[] } | null | undefined): AccessRule | null {
  const directive = node?.directives?.find(candidate => candidate.name.value === 'access');
  if (!directive) return null;
  return Object.fromEntries((directive.arguments ?? []).map(arg => [arg.name.value, valueFromASTUntyped(arg.value)])) as AccessRule;
}

const either = (needed: string, holds: (one: string) => boolean): boolean => needed.split('|').some(holds);

const forbidden = (): never => fail('forbidden', 'This operation is not open to this kind of caller');

function insufficient(scope: string): never {
  fail('insufficient_scope', `The token lacks ${scope}`, { scope });
}

function checkService(rule: AccessRule, caller: Caller): void {
  const slug = caller.serviceSlug;
  if (slug !== null && rule.internal?.length === 0) forbidden();
  if (slug !== null && rule.internal?.some(one => one === '*' || one === slug)) return;
  if (rule.service === undefined) forbidden();
  if (rule.service === '*') return;
  if (!either(rule.service!, one => caller.scopes.has(one))) insufficient(rule.service!.split('|')[0]!);
}

const missingScope = (needed: readonly string[], caller: Caller): string | undefined =>
  needed.find(scope => scope !== '*' && !either(scope, one => caller.scopes.has(one)));

function checkUser(rule: AccessRule, caller: Caller): void {
  if (rule.staff !== undefined && either(rule.staff, one => (one === '*' ? isStaff(caller) : holdsPermission(caller, one)))) return;
  const staffWithout = rule.staff !== undefined && caller.permissions.length > 0;
  if (rule.user === undefined && !staffWithout) forbidden();
  if (rule.user !== undefined && rule.firstParty && !caller.firstParty) forbidden();
  const missing = rule.user === undefined ? rule.staff!.split('|')[0] : missingScope(rule.user, caller);
  if (missing) insufficient(missing.split('|')[0]!);
}

function checkStepUp(rule: AccessRule, caller: Caller, nowSeconds: number): void {
  if (rule.stepUp === undefined || caller.kind !== 'user') return;
  if (caller.authTime === null || nowSeconds - caller.authTime > rule.stepUp)
    fail('step_up_required', 'This operation needs a recent sign-in', { maxAge: rule.stepUp });
}

/**
 * Decides steps 2-5 of identity A5 except the flag, which needs the service's flag client.
 * @throws Problem unauthenticated, forbidden, insufficient_scope or step_up_required.
 */
export function checkAccess(rule: AccessRule | null, caller: Caller, nowSeconds: number = Date.now() / 1000): void {
  if (rule?.public) return;
  if (caller.kind === 'anonymous') fail('unauthenticated', 'A bearer token is required');
  if (rule === null) forbidden();
  else if (caller.kind === 'service') checkService(rule, caller);
  else checkUser(rule, caller);
  checkStepUp(rule!, caller, nowSeconds);
}

/** Whether the caller satisfies a rule; for fields that are null to those who may not see them. */
export function mayAccess(rule: AccessRule, caller: Caller): boolean {
  try {
    checkAccess(rule, caller);
    return true;
  } catch {
    return false;
  }
}

/** Argument names that mean "the user concerned"; `patient_id` is the same id by specification. */
const SUBJECT_ARGUMENTS = ['userId', 'patientId'];

const subjectsIn = (args: Record<string, unknown>): unknown[] =>
  [args, args.input]
    .filter(Boolean)
    .flatMap(source => SUBJECT_ARGUMENTS.map(name => (source as Record<string, unknown>)[name]))
    .filter(v => v != null);

/**
 * Whether a caller reaches everybody's rows under a rule: services, and staff who hold its permission. Whoever is let in by a scope is a
 * member there, whatever they may do elsewhere.
 */
export const reachesAll = (rule: Pick<AccessRule, 'staff'>, caller: Caller): boolean =>
  caller.kind !== 'user' || (rule.staff !== undefined && either(rule.staff, one => holdsPermission(caller, one)));

/** `self`: a user token that names another user finds nothing. Staff who hold the rule's permission are not bound. */
export function checkSelf(rule: AccessRule | null, caller: Caller, args: Record<string, unknown>): void {
  if (!rule?.self || reachesAll(rule, caller)) return;
  if (subjectsIn(args).some(subject => subject !== caller.userId)) fail('not_found', 'Not found');
}

/** A service token on a `me` field has no user to act for. Source: identity A6. */
export const isMeField = (name: string): boolean => /^(me|my)([A-Z]|$)/.test(name);

/** SDL of the directives that composition keeps. */
export const PLATFORM_DIRECTIVES = `
directive @access(service: String, user: [String!], staff: String, self: Boolean, firstParty: Boolean, stepUp: Int, internal: [String!], public: Boolean, flag: String) on FIELD_DEFINITION
directive @constraint(min: Float, max: Float, minLength: Int, maxLength: Int, pattern: String, minItems: Int, maxItems: Int, object: Boolean) on INPUT_FIELD_DEFINITION | ARGUMENT_DEFINITION
`;
