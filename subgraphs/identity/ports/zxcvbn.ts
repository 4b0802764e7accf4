import type { ZxcvbnFactory } from '@zxcvbn-ts/core';

const GOOD_ENOUGH = 3;
/** Characters that are judged: what comes after them only makes it better, and 128 random ones cost 1.4 s. */
const JUDGED = 32;

let strength: Promise<ZxcvbnFactory> | null = null;

/** Loaded with the first new password: 0.4 s and 30 MB. */
async function load(): Promise<ZxcvbnFactory> {
  const [core, common, english] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
  ]);
  return new core.ZxcvbnFactory({ dictionary: { ...common.dictionary, ...english.dictionary }, graphs: common.adjacencyGraphs });
}

/** Whether a password is easily guessed. `about`: texts that somebody would try first. */
export async function isGuessable(password: string, about: readonly string[]): Promise<boolean> {
  const judge = await (strength ??= load());
  return judge.check([...password].slice(0, JUDGED).join(''), [...about]).score < GOOD_ENOUGH;
}
