import { newId } from '../../runtime/data/ids.js';
import type { Context } from '../../runtime/request/context.js';
import { CORPUS } from './commands/demo/corpus.js';
import { idOf, plant, plantPictures, plantReport } from './commands/demo/plant.js';
import { SINGLES } from './commands/demo/singles.js';
import { tellChanges } from './commands/changes.js';
import { acceptAs, storePolicy } from './commands/policy.js';

const DEMO = '0190b3a0-0000-7000-8000-0000000000a1';
const POLICIES = [
  { slug: 'terms', kind: 'TERMS', title: 'Terms of use', text: 'What holds when you use this site.', requiresAcceptance: true },
  { slug: 'privacy', kind: 'PRIVACY', title: 'Privacy', text: 'What we store of you, and for how long.', requiresAcceptance: true },
  { slug: 'refunds', kind: 'REFUND', title: 'Refunds', text: 'Unopened vials within thirty days.', requiresAcceptance: false },
];
/** The first of each kind, for tests, which copy the seeded database for every file. */
const FEW = [
  'goal:recovery',
  'peptide:bpc-157',
  'article:bpc-157:storage',
  'paper:bpc-157:0',
  'coa:bpc-157:0',
  'faq:water',
  'post:recovery',
  'protocol:recovery',
];

/** `SEED_CONTENT=few`: one item per collection; else the demo site. */
const isFew = (ctx: Context): boolean => ctx.host.config.setting('SEED_CONTENT') === 'few';

/** The demo site: articles, certificates, pictures and policies, in two languages, for two brands. */
export async function seed(ctx: Context): Promise<void> {
  const few = isFew(ctx);
  await plantPictures(ctx, few ? 5 : 40);
  await plantReport(ctx);
  const documents = [...CORPUS.filter(({ key }) => !few || FEW.includes(key)), ...SINGLES];
  await plant(
    ctx,
    documents.map(one => withPeptide(one)),
  );
  for (const { text, ...policy } of POLICIES)
    await storePolicy(ctx, { ...policy, body: { html: `<p>${text}</p>` } }, { locale: 'en', id: idOf(`policy:${policy.slug}`) });
  await acceptAs(ctx, { id: newId(), userId: DEMO, clientId: 'demo-app', slug: 'terms', version: 1 });
  await tellChanges(ctx);
}

/** The stack's peptide has its id by its key. */
const withPeptide = (one: (typeof CORPUS)[number]): (typeof CORPUS)[number] =>
  one.collection === 'STACKS'
    ? { ...one, en: { ...one.en, components: [{ peptideId: idOf('peptide:bpc-157'), role: 'Base', order: 1 }] } }
    : one;
