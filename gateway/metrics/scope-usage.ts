import { TypeInfo, visit, visitWithTypeInfo, type DocumentNode, type GraphQLSchema } from 'graphql';
import { ruleOnNode, type AccessRule } from '../../runtime/access/rules.js';
import { holdsPermission, type Caller } from '../../runtime/request/caller.js';
import { stored, type Federation } from '../../runtime/federation/federation.js';
import { loggedError, type Logger } from '../../runtime/observe/log.js';
import { hasData, type Executor } from '../plans/executor.js';

/** Source: identity 9.4. */
const REPORT_MS = 60_000;
/** Most uses that the operation takes in one report. */
const BATCH = 1000;
/** Uses kept between two reports, about 10 MB; at this number a report is sent early. */
const MAX_USES = 50_000;

const REPORT = stored('mutation ReportScopeUse($input: ReportScopeUseInput!) { reportScopeUse(input: $input) }');

const alternatives = (scope: string): string[] => scope.split('|');

const byPermission = ({ staff }: AccessRule, caller: Caller): boolean =>
  staff !== undefined && alternatives(staff).some(one => holdsPermission(caller, one));

/**
 * Scopes that an operation with these rules used. Of a rule's alternatives it is the one that another rule also demands; else all that the
 * caller holds, because a scope whose use is not counted would be offered for removal although the app needs it.
 */
export function scopesUsed(rules: readonly AccessRule[], caller: Caller): Set<string> {
  const held = (scope: string): string[] => alternatives(scope).filter(one => caller.scopes.has(one));
  const passed = rules.filter(rule => rule.user?.every(scope => scope === '*' || held(scope).length > 0) && !byPermission(rule, caller));
  const demanded = [...new Set(passed.flatMap(rule => rule.user!))]
    .filter(scope => scope !== '*')
    .sort((a, b) => alternatives(a).length - alternatives(b).length);
  const used = new Set<string>();
  for (const scope of demanded) if (!alternatives(scope).some(one => used.has(one))) held(scope).forEach(one => used.add(one));
  return used;
}

/** Finds the rules for users of a document's fields, once per document. */
export function ruleFinder(supergraph: GraphQLSchema): (document: DocumentNode) => readonly AccessRule[] {
  const known = new WeakMap<DocumentNode, readonly AccessRule[]>();
  const find = (document: DocumentNode): readonly AccessRule[] => {
    const [info, rules] = [new TypeInfo(supergraph), new Map<string, AccessRule>()];
    const Field = (): void => {
      const rule = ruleOnNode(info.getFieldDef()?.astNode);
      if (rule?.user) rules.set(JSON.stringify([rule.user, rule.staff]), rule);
    };
    visit(document, visitWithTypeInfo(info, { Field }));
    return [...rules.values()];
  };
  return document => {
    const rules = known.get(document) ?? find(document);
    known.set(document, rules);
    return rules;
  };
}

interface Use {
  clientId: string;
  userId: string;
  scope: string;
  /** Epoch ms. */
  at: number;
}

/**
 * Collects which app used which scope for which user, and reports it to identity every minute: users see it as "last used" of their connected
 * apps. A request costs a look-up. Nothing waits for a report; the uses of one that fails are part of the next.
 */
export class ScopeUsage {
  #uses = new Map<string, Use>();
  #reporting: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly federation: () => Federation,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.#timer = setInterval(() => void this.report(), REPORT_MS).unref();
  }

  /** Sends a last report. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reporting;
    await this.report();
  }

  /** Wraps executors of a supergraph's gateway so that the scopes of answered operations are noted. */
  watcher(supergraph: GraphQLSchema): (executor: Executor) => Executor {
    const rulesOf = ruleFinder(supergraph);
    return executor => ({
      prepare: operation => executor.prepare?.(operation),
      execute: async (operation, request) => {
        const result = await executor.execute(operation, request);
        if (request.caller.kind === 'user' && hasData(result)) this.note(rulesOf(operation.document), request.caller);
        return result;
      },
    });
  }

  note(rules: readonly AccessRule[], caller: Caller): void {
    if (this.#uses.size >= MAX_USES) void this.report();
    if (this.#uses.size >= MAX_USES) return; // a report is still under way
    const { clientId, userId } = caller;
    for (const scope of scopesUsed(rules, caller))
      this.#uses.set(`${clientId} ${userId} ${scope}`, { clientId, userId: userId!, scope, at: Date.now() });
  }

  /** Reports the uses since the last report; one report at a time. Never rejects. */
  report(): Promise<void> {
    return (this.#reporting ??= this.#send().finally(() => (this.#reporting = null)));
  }

  async #send(): Promise<void> {
    const uses = this.#uses;
    if (uses.size === 0) return;
    this.#uses = new Map();
    try {
      while (uses.size) await this.#sendBatch(uses);
    } catch (error) {
      for (const [key, use] of uses) if (!this.#uses.has(key) && this.#uses.size < MAX_USES) this.#uses.set(key, use);
      this.log.warn({ err: loggedError(error), uses: uses.size }, 'scope uses could not be reported');
    }
  }

  async #sendBatch(uses: Map<string, Use>): Promise<void> {
    const batch = [...uses].slice(0, BATCH);
    const now = Date.now();
    const reported = batch.map(([, { at, ...use }]) => ({
      ...use,
      secondsAgo: Math.min(86_400, Math.max(0, Math.round((now - at) / 1000))),
    }));
    await this.federation().run(REPORT, { input: { uses: reported } });
    for (const [key] of batch) uses.delete(key);
  }
}
