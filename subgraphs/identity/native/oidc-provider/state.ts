import type { IncomingMessage } from 'node:http';
import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import type { IssuedToken } from './issued.js';
import type { Attempt, Registration } from './registration.js';

/** A family has no end of its own. Seconds, a hundred years. */
export const FOREVER = 3_155_760_000;

/** A request on its way into the engine. */
export interface EngineRequest extends IncomingMessage {
  /** Path below the issuer's origin. */
  originalUrl: string;
  /** What failures are counted by, see `addressKey`. */
  clientAddress: string;
  /** Where the request comes from, when the operator's edge names it. */
  countryCode: string | null;
}

/** How an authorization request stands to what the user has consented to. */
export interface Authorization {
  /** The stored consent; null: none. */
  consentId: string | null;
  /** The user has to be asked. */
  asks: boolean;
  /** What the family will hold, `openid` included. */
  scopes: string[];
}

/** What the steps of one request hand on. */
export interface EngineState {
  /** Counted when the authentication fails. */
  attempt?: Attempt;
  /** Of the client that was found last. */
  registration?: Registration | null;
  /** The client was read from the database for this request. */
  clientIsFresh?: boolean;
  /** Id of the secret that the client has authenticated with: claim `csi`. */
  secretId?: string;
  issued?: IssuedToken;
  /** How an authorization request stands to the user's consent. */
  authorization?: Authorization;
  /** This request has spent its code or refresh token. */
  spent?: boolean;
  /** Families that this request has ended, by id. */
  ended?: Map<string, Promise<void>>;
}

export const stateOf = (ctx: KoaContextWithOIDC): EngineState => ctx.state as EngineState;

/** The client as identity registered it. */
export const registrationOf = (client: Client | undefined): Registration =>
  (client as Client & { registration: Registration }).registration;
