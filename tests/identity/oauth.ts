import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Answer, SharedPlatform } from '../support/platform.js';

/** Credentials of the seeded machine client. */
export const M2M = { client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' };
export const PARTNER = { client_id: 'demo-partner-app', client_secret: 'demo-partner-secret' };

type Form = Record<string, string> | readonly (readonly [string, string])[];

/** Posts a form to a protocol endpoint. */
export const post = (p: SharedPlatform, path: string, form: Form, headers: Record<string, string> = {}): Promise<Answer> =>
  p.rest('POST', `/identity/v1/oauth/${path}`, {
    body: new URLSearchParams(form as Record<string, string>).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

export const credentials = (p: SharedPlatform, more: Record<string, string> = {}): Promise<Answer> =>
  post(p, 'token', { grant_type: 'client_credentials', ...M2M, ...more });

export const introspect = async (p: SharedPlatform, token: string, as: Record<string, string> = M2M): Promise<any> =>
  (await post(p, 'introspect', { ...as, token })).body;

export const claimsOf = (token: string): Record<string, any> => decodeJwt(token.slice(4));
export const headerOf = (token: string): Record<string, any> => decodeProtectedHeader(token.slice(4));

/** Data of the emitted events of a type, oldest first. */
export const emitted = async (p: SharedPlatform, type: string): Promise<any[]> =>
  (await p.sql('select data from events.outbox where type = $1 order by seq', [type])).map(row => row.data);
