/** The spelling in which codes and words are compared: `BPC-157`, `bpc 157` and `bpc157` are one. As `commerce.fold`. Source: commerce 4.3. */
export const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '');

/** Words of a question, folded; all must be found. */
export const wordsOf = (question: string): string[] => [...new Set(question.split(/\s+/).map(fold).filter(Boolean))].slice(0, 10);
