interface Shown {
  cardBrand: string | null;
  cardLast4: string | null;
  bankLast4: string | null;
  type: string;
}

/** What a person recognises a method by, `visa •4242`; kept on payments after the method is detached. */
export const methodSummary = ({ cardBrand, cardLast4, bankLast4, type }: Shown): string =>
  cardLast4 === null ? `${type.replaceAll('_', ' ')} •${bankLast4 ?? '----'}` : `${cardBrand ?? 'card'} •${cardLast4}`;
