import { fail } from '../../../runtime/request/errors.js';
import { layoutOf } from '../rules/layout.js';

/**
 * HTML of an MJML text. By itself MJML has the fonts that it knows, such as Roboto, loaded from their maker, who would learn who reads mails of ours.
 * @throws Problem invalid_request naming what is wrong with it.
 */
export async function compileMjml(text: string): Promise<string> {
  const { default: mjml2html } = await import('mjml'); // 0.9 s of CPU and 90 MB, for whoever compiles
  const made = await mjml2html(text, { validationLevel: 'soft', ignoreIncludes: true, fonts: {} } as never);
  const faults = made.errors.map(({ line, message }) => `line ${line}: ${message}`);
  if (faults.length) fail('invalid_request', 'The input is invalid', { errors: faults.map(message => ({ pointer: '/mjml', message })) });
  return made.html;
}

const [LANG, HEADING, BODY, ACTION] = ['x-lang-x', 'x-heading-x', 'x-body-x', 'x-action-x'];
const layouts = new Map<boolean, Promise<string>>();

/** A seeded mail: the layout is compiled once, the words are put in. */
export async function compiledSeed(
  body: string,
  action: string | null,
  { heading, lang }: { heading: string; lang: string },
): Promise<string> {
  const has = action !== null;
  if (!layouts.has(has)) layouts.set(has, compileMjml(layoutOf(BODY, has ? ACTION : null, { heading: HEADING, lang: LANG })));
  return (await layouts.get(has)!)
    .replaceAll(LANG, lang)
    .replaceAll(HEADING, heading)
    .replaceAll(BODY, body)
    .replaceAll(ACTION, action ?? '');
}
