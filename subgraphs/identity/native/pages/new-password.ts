import { hash } from '@node-rs/argon2';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import type { ServiceHost } from '../../../../runtime/host.js';
import { breachedPasswordsOf } from '../../ports/breached-passwords.js';
import { ARGON2, lengthFault } from '../../rules/passwords.js';
import { hashing } from './password.js';

const GOOD_ENOUGH = 3;
/** Characters that are judged: what comes after them only makes it better, and 128 random ones cost 1.4 s. */
const JUDGED = 32;

let strength: Promise<ZxcvbnFactory> | null = null;

/** Loaded with the first new password: 0.4 s and 30 MB. */
async function load(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, common, english] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
  ]);
  return new ZxcvbnFactory({ dictionary: { ...common.dictionary, ...english.dictionary }, graphs: common.adjacencyGraphs });
}

const GUESSABLE = 'This password is easy to guess. Use a longer one, for example four words that have nothing to do with each other.';

/** What is wrong with a new password, as its owner is told; null: nothing. `about`: words that somebody would try first. Source: identity 4.1. */
export async function passwordFault(host: ServiceHost, text: string, about: readonly string[] = []): Promise<string | null> {
  const password = text.normalize('NFC');
  const fault = lengthFault(password);
  if (fault) return fault;
  if (await breachedPasswordsOf(host).has(password)) return 'This password is known from break-ins elsewhere. Use another one.';
  const judge = await (strength ??= load());
  const { score } = judge.check([...password].slice(0, JUDGED).join(''), [...about]);
  return score < GOOD_ENOUGH ? GUESSABLE : null;
}

/** argon2id, PHC string. @throws PageError 503 when too many wait. */
export const hashPassword = (text: string): Promise<string> => hashing(() => hash(text.normalize('NFC'), ARGON2));
