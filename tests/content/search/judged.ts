/**
 * The judged set: 80 queries over the documents of the demo site, graded before the ranking was written. A query says what its author
 * looks for; each document's grade follows from what it is about: 3 what was looked for, 2 would help, 1 is on the subject, 0 not.
 */
import type { Document, Topic } from '../../../subgraphs/content/commands/demo/corpus.js';

export interface Judged {
  q: string;
  locale: 'en' | 'de';
  kind: 'plain' | 'typo' | 'code' | 'none';
  /** What was looked for; all of it is a 3. */
  want: Topic;
}

/** 0 to 3. */
export function gradeOf({ want, kind }: Judged, { topic, collection }: Pick<Document, 'topic' | 'collection'>): number {
  if (kind === 'none') return 0;
  if (want.code !== undefined) return topic.code === want.code ? 3 : topic.subject === want.subject && want.subject !== undefined ? 1 : 0;
  if (want.question !== undefined) return topic.question === want.question ? 3 : 0;
  const onSubject = want.subject === undefined || topic.subject === want.subject;
  const onGoal = want.goal === undefined || topic.goal === want.goal;
  if (!onSubject || !onGoal) return 0;
  if (want.aspect === undefined) return topic.aspect === 'profile' || topic.aspect === 'goal' ? 3 : topic.aspect === 'certificate' ? 1 : 2;
  if (topic.aspect === want.aspect) return 3;
  return topic.aspect === 'profile' || collection === 'PEPTIDES' ? 2 : 1;
}

const en = (q: string, want: Topic): Judged => ({ q, locale: 'en', kind: 'plain', want });
const de = (q: string, want: Topic): Judged => ({ q, locale: 'de', kind: 'plain', want });
const typo = (q: string, want: Topic, locale: 'en' | 'de' = 'en'): Judged => ({ q, locale, kind: 'typo', want });
const code = (q: string, want: Topic): Judged => ({ q, locale: 'en', kind: 'code', want });
const none = (q: string): Judged => ({ q, locale: 'en', kind: 'none', want: {} });

const of = (subject: string, aspect?: Topic['aspect']): Topic => ({ subject, ...(aspect && { aspect }) });

/** nDCG@10 as it was when the ranking was last changed, and the drop that is taken for a fault. A better ranking raises the figures. */
export const RECORDED = { heldOut: 0.84, tuning: 0.828, drop: 0.02 } as const;

/** Every second query, beginning with the first, is for tuning; the others are held out. */
export const JUDGED: readonly Judged[] = [
  en('side effects of selank', of('selank', 'safety')),
  en('semax adverse reactions', of('semax', 'safety')),
  en('how to store ipamorelin', of('ipamorelin', 'storage')),
  en('keep oxytocin refrigerated', of('oxytocin', 'storage')),
  en('epitalon mechanism of action', of('epitalon', 'mechanism')),
  en('how sermorelin works', of('sermorelin', 'mechanism')),
  en('tesamorelin human trials evidence', of('tesamorelin', 'evidence')),
  en('what studies say about kpv', of('kpv', 'evidence')),
  en('tendon repair', of('bpc-157')),
  en('collagen wrinkles', of('ghk-cu')),
  en('fall asleep deep sleep', { goal: 'sleep' }),
  en('visceral fat', of('tesamorelin')),
  en('telomeres', of('epitalon')),
  en('tanning', of('melanotan-2')),
  en('certificate of analysis how to read', { question: 'certificate' }),
  en('delivery time parcels', { question: 'shipping' }),
  en('return order refund', { question: 'returns' }),
  en('pause my subscription', { question: 'subscription' }),
  en('anti-doping prohibited list', { question: 'doping' }),
  en('need a prescription', { question: 'prescription' }),
  en('guide to muscle growth', { goal: 'muscle-growth', aspect: 'goal' }),
  en('gut health protocol', { goal: 'gut-health', aspect: 'protocol' }),
  en('immunity protocol weeks', { goal: 'immunity', aspect: 'protocol' }),
  en('randomised trial oxytocin', of('oxytocin', 'paper')),
  en('animal model dsip', of('dsip', 'paper')),
  en('bonding and trust', of('oxytocin')),
  en('insulin sensitivity mitochondria', of('mots-c')),
  en('sexual desire', of('pt-141')),
  en('dissolve powder bacteriostatic', { question: 'water' }),
  en('travel hand luggage vials', { question: 'travel' }),

  de('Nebenwirkungen Selank', of('selank', 'safety')),
  de('Ipamorelin lagern Kühlschrank', of('ipamorelin', 'storage')),
  de('Wie wirkt Semax', of('semax', 'mechanism')),
  de('Studien über Epitalon', of('epitalon', 'evidence')),
  de('Tiefschlaf Einschlafen', { goal: 'sleep' }),
  de('Sehnen Bänder Heilung', of('bpc-157')),
  de('Kollagen Falten', of('ghk-cu')),
  de('Lieferung Pakete Dauer', { question: 'shipping' }),
  de('Bestellung zurückgeben', { question: 'returns' }),
  de('Analysezertifikat lesen', { question: 'certificate' }),
  de('Rezept nötig', { question: 'prescription' }),
  de('Muskelaufbau Einstieg', { goal: 'muscle-growth', aspect: 'goal' }),
  de('Protokoll Darmgesundheit', { goal: 'gut-health', aspect: 'protocol' }),
  de('Bräunung der Haut', of('melanotan-2')),
  de('sexuelles Verlangen', of('pt-141')),

  typo('side efects of selank', of('selank', 'safety')),
  typo('ipamorlin', of('ipamorelin')),
  typo('epitolon', of('epitalon')),
  typo('tesamorlin', of('tesamorelin')),
  typo('oxytocine', of('oxytocin')),
  typo('semorelin', of('sermorelin')),
  typo('kisspetin', of('kisspeptin-10')),
  typo('thymosyn alfa', of('thymosin-alpha-1')),
  typo('bremelanotid', of('pt-141')),
  typo('elamipretid', of('ss-31')),
  typo('melanotn', of('melanotan-2')),
  typo('pralmorelyn', of('ghrp-2')),
  typo('cathelicidine', of('ll-37')),
  typo('selnk', of('selank')),
  typo('thymalfasyn', of('thymosin-alpha-1')),

  code('BPC-157', of('bpc-157')),
  code('bpc157', of('bpc-157')),
  code('BPC 157', of('bpc-157')),
  code('tb500 storage', of('tb-500', 'storage')),
  code('cjc1295', of('cjc-1295')),
  code('CJC 1295 side effects', of('cjc-1295', 'safety')),
  code('aod9604', of('aod-9604')),
  code('PT 141', of('pt-141')),
  code('ll37', of('ll-37')),
  code('ss 31', of('ss-31')),
  code('GHRP2', of('ghrp-2')),
  code('ghrp 6 studies', of('ghrp-6', 'evidence')),
  code('10.5555/demo.selank.0', { subject: 'selank', code: '10.5555/demo.selank.0' }),
  code('BPC12607-0', { subject: 'bpc-157', code: 'BPC12607-0' }),
  code('R-SEMA2605-1', { subject: 'semax', code: 'SEMA2605-1' }),

  none('quantum entanglement'),
  none('lawnmower spare parts'),
  none('zzxqwv'),
  none('bitcoin mining'),
  none('volcano eruption'),
];

/** Discounted gain of the first ten against the best that the documents allow. */
export function ndcg(grades: readonly number[], ideal: readonly number[]): number {
  const gain = (list: readonly number[]): number =>
    list.slice(0, 10).reduce((sum, grade, index) => sum + (2 ** grade - 1) / Math.log2(index + 2), 0);
  const best = gain([...ideal].sort((a, b) => b - a));
  return best === 0 ? (grades.some(grade => grade > 0) ? 0 : 1) : gain(grades) / best;
}
