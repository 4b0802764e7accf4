/** The demo site as data: some 350 items, most of them in English and German, a part of them of a second brand. */
import type { ContentCollection } from '../../entities/enums.js';
import { ASPECTS, GOALS, QUESTIONS, SUBJECTS, type Aspect, type Subject } from './words.js';

export const MAIN_BRAND = '0190b3a0-0000-7000-8000-000000000001';
export const SECOND_BRAND = '0190b3a0-0000-7000-8000-000000000002';

/** What a document is about; the judged set of search grades by it. */
export interface Topic {
  subject?: string;
  goal?: string;
  aspect?: Aspect | 'profile' | 'paper' | 'certificate' | 'question' | 'protocol' | 'stack' | 'goal' | 'news' | 'policy';
  question?: string;
  /** Of certificates and papers. */
  code?: string;
}

export interface Document {
  key: string;
  collection: ContentCollection;
  brandId: string | null;
  topic: Topic;
  /** Input of a create operation in English, and what is localised in German. */
  en: Record<string, unknown>;
  de?: Record<string, unknown>;
  /** Inputs that are ids, by the keys of the documents. */
  refs?: Readonly<Record<string, readonly string[]>>;
}

const DISCLAIMER = ['For research and education; no medical advice.', 'Für Forschung und Bildung; kein ärztlicher Rat.'] as const;
const LEVELS = ['HUMAN_RCT', 'HUMAN_OBSERVATIONAL', 'ANIMAL', 'IN_VITRO', 'ANECDOTAL'] as const;
const paragraphs = (...texts: readonly string[]) => ({ html: texts.map(text => `<p>${text}</p>`).join('') });

const goalName = (key: string, at: 0 | 1): string => GOALS.find(one => one.key === key)!.name[at];

const peptide = (one: Subject, index: number): Document => ({
  key: `peptide:${one.key}`,
  collection: 'PEPTIDES',
  brandId: null,
  topic: { subject: one.key, goal: one.goal, aspect: 'profile' },
  refs: { goalIds: [`goal:${one.goal}`] },
  en: {
    name: one.name,
    slug: one.key,
    aliases: one.aliases,
    summary: `${one.name} is a peptide studied for ${one.topic[0]}.`,
    mechanism: paragraphs(
      `Researchers follow ${one.name} for ${one.topic[0]}.`,
      `It is named with the goal ${goalName(one.goal, 0).toLowerCase()}.`,
    ),
    evidenceLevel: LEVELS[index % LEVELS.length],
    molecularWeight: 400 + index * 97.3,
    disclaimer: DISCLAIMER[0],
    tags: [one.goal, 'peptide'],
  },
  de: {
    summary: `${one.name} ist ein Peptid, das für ${one.topic[1]} untersucht wird.`,
    mechanism: paragraphs(`${one.name} wird für ${one.topic[1]} erforscht.`),
    disclaimer: DISCLAIMER[1],
  },
});

const article = (one: Subject, aspect: Aspect, index: number): Document => ({
  key: `article:${one.key}:${aspect}`,
  collection: 'LEARN_ARTICLES',
  brandId: index % 12 === 11 ? SECOND_BRAND : null,
  topic: { subject: one.key, goal: one.goal, aspect },
  refs: { relatedPeptideIds: [`peptide:${one.key}`], goalIds: [`goal:${one.goal}`] },
  en: {
    title: ASPECTS[aspect].title[0](one.name),
    excerpt: `${one.name} and ${one.topic[0]}: ${ASPECTS[aspect].text[0]}`.slice(0, 300),
    body: paragraphs(ASPECTS[aspect].text[0], `People ask about ${one.name} because of ${one.topic[0]}.`),
    author: { name: 'Editorial team' },
    difficulty: ['INTRO', 'INTERMEDIATE', 'ADVANCED'][index % 3],
    tags: [one.goal, aspect],
  },
  de: {
    title: ASPECTS[aspect].title[1](one.name),
    excerpt: `${one.name} und ${one.topic[1]}: ${ASPECTS[aspect].text[1]}`.slice(0, 300),
    body: paragraphs(ASPECTS[aspect].text[1], `Nach ${one.name} wird wegen ${one.topic[1]} gefragt.`),
  },
});

const paper = (one: Subject, index: number): Document => ({
  key: `paper:${one.key}:${index}`,
  collection: 'RESEARCH_PAPERS',
  brandId: null,
  topic: { subject: one.key, goal: one.goal, aspect: 'paper', code: `10.5555/demo.${one.key}.${index}` },
  refs: { peptideIds: [`peptide:${one.key}`], goalIds: [`goal:${one.goal}`] },
  en: {
    title: `${['A randomised trial', 'An animal model'][index]} of ${one.name} in ${one.topic[0]}`,
    authors: ['R. Example', 'M. Muster'],
    journal: 'Journal of Demonstrations',
    publishedOn: `201${index + 5}-0${(one.key.length % 9) + 1}-15`,
    doi: `10.5555/demo.${one.key}.${index}`,
    abstract: `We measured ${one.topic[0]} after ${one.name}. Effects were small and the sample was limited.`,
    plainSummary: `A study of ${one.name} and ${one.topic[0]}.`,
    studyType: ['RCT', 'ANIMAL'][index],
    evidenceLevel: ['HUMAN_RCT', 'ANIMAL'][index],
    retracted: false,
    tags: [one.goal],
  },
});

const certificate = (one: Subject, index: number): Document => ({
  key: `coa:${one.key}:${index}`,
  collection: 'COAS',
  brandId: null,
  topic: { subject: one.key, aspect: 'certificate', code: `${one.batch}-${index}` },
  en: {
    productName: `${one.name} ${[5, 10][index]} mg`,
    variantSku: `${one.key.replaceAll('-', '').toUpperCase()}-${[5, 10][index]}`,
    batchNumber: `${one.batch}-${index}`,
    lotNumber: `L-${one.batch}-${index}`,
    reportNumber: `R-${one.batch}-${index}`,
    lab: { name: 'Example Analytical', accreditation: 'ISO/IEC 17025:2017 #1234', url: 'https://lab.example.com' },
    testedOn: '2026-09-02',
    issuedOn: '2026-09-05',
    results: [
      {
        test: 'PURITY',
        method: 'RP-HPLC 220 nm',
        specification: '≥ 98 %',
        resultText: '99.1 %',
        resultValue: 99.1,
        unit: '%',
        verdict: 'PASS',
      },
      { test: 'IDENTITY', method: 'ESI-MS', resultText: 'conforms', verdict: 'PASS' },
    ],
  },
});

const question = ([key, en, de, answerEn, answerDe]: (typeof QUESTIONS)[number], index: number): Document => ({
  key: `faq:${key}`,
  collection: 'FAQS',
  brandId: index % 5 === 4 ? MAIN_BRAND : null,
  topic: { aspect: 'question', question: key },
  en: { question: en, answer: paragraphs(answerEn), category: 'shop', position: index },
  de: { question: de, answer: paragraphs(answerDe) },
});

const peptideQuestion = (one: Subject, index: number): Document => ({
  key: `faq:${one.key}`,
  collection: 'FAQS',
  brandId: null,
  topic: { subject: one.key, goal: one.goal, aspect: 'question' },
  en: {
    question: `Is ${one.name} for ${one.topic[0]} proven?`,
    answer: paragraphs(`Not beyond doubt: most of what is known about ${one.name} comes from small studies.`),
    category: 'peptides',
    position: 100 + index,
    tags: [one.goal],
  },
  de: {
    question: `Ist ${one.name} für ${one.topic[1]} belegt?`,
    answer: paragraphs(`Nicht zweifelsfrei: das meiste über ${one.name} stammt aus kleinen Studien.`),
  },
});

const goal = (one: (typeof GOALS)[number], index: number): Document => ({
  key: `goal:${one.key}`,
  collection: 'GOALS',
  brandId: null,
  topic: { goal: one.key, aspect: 'goal' },
  en: { name: one.name[0], slug: one.key, summary: one.about[0], icon: one.key, position: index, tags: [one.key] },
  de: { name: one.name[1], summary: one.about[1] },
});

const goalArticle = (one: (typeof GOALS)[number]): Document => ({
  key: `article:goal:${one.key}`,
  collection: 'LEARN_ARTICLES',
  brandId: null,
  topic: { goal: one.key, aspect: 'goal' },
  en: {
    title: `A beginner's guide to ${one.name[0].toLowerCase()}`,
    excerpt: `${one.about[0]} Where to begin, and what to measure.`,
    body: paragraphs(`${one.about[0]} Habits come first: food, training and rest.`, 'Then ask what the evidence says.'),
    author: { name: 'Editorial team' },
    difficulty: 'INTRO',
    tags: [one.key, 'guide'],
  },
  de: {
    title: `Einstieg: ${one.name[1]}`,
    excerpt: `${one.about[1]} Womit man beginnt und was man misst.`,
    body: paragraphs(`${one.about[1]} Gewohnheiten zuerst: Essen, Training und Ruhe.`),
  },
});

const goalQuestion = (one: (typeof GOALS)[number], index: number): Document => ({
  key: `faq:goal:${one.key}`,
  collection: 'FAQS',
  brandId: null,
  topic: { goal: one.key, aspect: 'question' },
  en: {
    question: `What helps with ${one.name[0].toLowerCase()} before any product?`,
    answer: paragraphs(`${one.about[0]} Sleep, food and movement help most.`),
    category: 'goals',
    position: 200 + index,
    tags: [one.key],
  },
  de: {
    question: `Was hilft bei ${one.name[1]} vor jedem Produkt?`,
    answer: paragraphs(`${one.about[1]} Schlaf, Essen und Bewegung helfen am meisten.`),
  },
});

const goalStory = (one: (typeof GOALS)[number]): Document => ({
  key: `story:${one.key}`,
  collection: 'POSTS',
  brandId: null,
  topic: { goal: one.key, aspect: 'news' },
  en: {
    kind: 'STORY',
    title: `A member's year with ${one.name[0].toLowerCase()}`,
    excerpt: `One person, twelve months, ${one.name[0].toLowerCase()}.`,
    body: paragraphs(`What changed, what did not, and what the numbers said about ${one.name[0].toLowerCase()}.`),
    tags: [one.key],
  },
  de: {
    title: `Ein Jahr mit ${one.name[1]}`,
    excerpt: `Eine Person, zwölf Monate, ${one.name[1]}.`,
    body: paragraphs(`Was sich änderte, was nicht, und was die Zahlen über ${one.name[1]} sagten.`),
  },
});

const goalPost = (one: (typeof GOALS)[number], index: number): Document => ({
  key: `post:${one.key}`,
  collection: 'POSTS',
  brandId: index % 4 === 3 ? SECOND_BRAND : null,
  topic: { goal: one.key, aspect: 'news' },
  en: {
    kind: 'NEWS',
    title: `New this month: ${one.name[0].toLowerCase()}`,
    excerpt: `What we published about ${one.name[0].toLowerCase()}.`,
    body: paragraphs(`Our editors collected what is new about ${one.name[0].toLowerCase()}.`),
    tags: [one.key],
  },
  de: {
    title: `Neu in diesem Monat: ${one.name[1]}`,
    excerpt: `Was wir über ${one.name[1]} veröffentlicht haben.`,
    body: paragraphs(`Unsere Redaktion hat Neues über ${one.name[1]} gesammelt.`),
  },
});

const protocol = (one: (typeof GOALS)[number]): Document => ({
  key: `protocol:${one.key}`,
  collection: 'PROTOCOL_DETAILS',
  brandId: null,
  topic: { goal: one.key, aspect: 'protocol' },
  en: {
    title: `${one.name[0]} protocol`,
    slug: `${one.key}-protocol`,
    summary: `Twelve weeks for ${one.name[0].toLowerCase()}, with checks.`,
    phases: [{ name: 'Begin', weeks: 4, guidance: paragraphs('Low and slow.'), monitoring: 'Weekly check-in' }],
    medicallyReviewedBy: { name: 'Dr. R. Example', credentials: 'PharmD' },
    reviewedOn: '2026-09-01',
    tags: [one.key],
  },
  de: {
    title: `Protokoll ${one.name[1]}`,
    summary: `Zwölf Wochen für ${one.name[1]}, mit Kontrollen.`,
    phases: [{ name: 'Beginn', weeks: 4, guidance: paragraphs('Langsam beginnen.'), monitoring: 'Wöchentliche Rückmeldung' }],
  },
});

const ASPECT_NAMES = Object.keys(ASPECTS) as Aspect[];

/** All documents; references between them are made by key where they are stored. */
export const CORPUS: readonly Document[] = [
  ...GOALS.map(goal),
  ...SUBJECTS.map(peptide),
  ...SUBJECTS.flatMap((one, index) => ASPECT_NAMES.map((aspect, at) => article(one, aspect, index * ASPECT_NAMES.length + at))),
  ...SUBJECTS.flatMap(one => [0, 1].map(index => paper(one, index))),
  ...SUBJECTS.flatMap(one => [0, 1].map(index => certificate(one, index))),
  ...QUESTIONS.map(question),
  ...SUBJECTS.map(peptideQuestion),
  ...GOALS.map(goalArticle),
  ...GOALS.map(goalPost),
  ...GOALS.map(goalQuestion),
  ...GOALS.map(goalStory),
  ...GOALS.map(protocol),
];
