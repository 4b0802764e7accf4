import { AsyncLocalStorage } from 'node:async_hooks';
import { type Adapter, type AdapterPayload, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { Sql } from '../../../../events/outbox.js';
import type { ServiceHost, Context } from '../../../../runtime/request/context.js';
import { internalRequest } from '../../../../runtime/request/request.js';
import { sendNotice } from '../../commands/notice.js';
import { endFamilies, familyRevocations, publishRevocations } from '../../commands/token-family.js';
import { asClient } from './issued.js';
import type { Registrations } from './registration.js';
import { type EngineState, stateOf } from './state.js';

export interface EngineStore {
  host: ServiceHost;
  /** On the service's pool, outside any transaction. */
  sql: Sql;
  registrations: Registrations;
  /** Grant types that the engine offers. */
  offered: readonly string[];
}

const ofPages = new AsyncLocalStorage<KoaContextWithOIDC>();

/** The request that the engine answers now, or a page that saves something for it; undefined outside one. */
export const koa = (): KoaContextWithOIDC | undefined => Provider.ctx ?? ofPages.getStore();

/** Lets a page save models of the engine, which does not know of the page's request. */
export const forPage = <T>(ctx: KoaContextWithOIDC, work: () => Promise<T>): Promise<T> => ofPages.run(ctx, work);

/** Somebody else may hold a copy of the token. */
async function warnOwners(tx: Context, families: readonly string[]): Promise<void> {
  const rows = await tx.sql<{ id: string }>('select distinct user_id as id from identity.token_family where id = any($1)', [families]);
  for (const { id } of rows) sendNotice(tx, id, 'token_replayed');
}

/** Storage for one model of the engine. What a model does not need is an error. */
export abstract class ModelAdapter implements Adapter {
  constructor(
    protected readonly store: EngineStore,
    protected readonly model: string,
  ) {}

  protected refuse(what: string): never {
    throw new Error(`${this.model} is not ${what}`);
  }

  async upsert(_id: string, _payload: AdapterPayload, _expiresIn: number): Promise<void> {
    this.refuse('stored');
  }
  abstract find(id: string): Promise<AdapterPayload | undefined>;
  async findByUserCode(): Promise<AdapterPayload | undefined> {
    return this.refuse('found by user code');
  }
  async findByUid(_uid: string): Promise<AdapterPayload | undefined> {
    return this.refuse('found by uid');
  }
  async consume(_id: string): Promise<void> {
    this.refuse('consumed');
  }
  async destroy(_id: string): Promise<void> {
    this.refuse('destroyed');
  }

  /** Ends the family of an engine grant: on revocation by the app, or on a replay. Once a request, however many models ask for it. */
  async revokeByGrantId(familyId: string): Promise<void> {
    const ctx = koa();
    const state: EngineState = ctx ? stateOf(ctx) : {};
    state.ended ??= new Map();
    if (!state.ended.has(familyId)) state.ended.set(familyId, this.#end(familyId, ctx));
    await state.ended.get(familyId);
  }

  async #end(familyId: string, ctx: KoaContextWithOIDC | undefined): Promise<void> {
    const reason = ctx?.oidc.route === 'revocation' ? 'token_revoked' : 'replayed';
    const clientId = ctx?.oidc.client?.clientId ?? '';
    await this.store.host.transaction(
      async tx => {
        const ended = await endFamilies(tx, 'id', familyId, reason);
        for (const id of ended) tx.audit(reason === 'replayed' ? 'token.replayed' : 'token_family.revoked', id, { client_id: clientId });
        if (reason === 'replayed') await warnOwners(tx, ended);
        await publishRevocations(tx, familyRevocations(tx, ended));
      },
      internalRequest(asClient(clientId)),
    );
  }
}
