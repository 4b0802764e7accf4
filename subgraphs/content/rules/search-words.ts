/** Configuration of PostgreSQL's full-text search for a locale. */
export function languageOf(locale: string): 'english' | 'german' | 'french' | 'spanish' | 'simple' {
  const languages = { en: 'english', de: 'german', fr: 'french', es: 'spanish' } as const;
  return languages[locale.split('-')[0] as keyof typeof languages] ?? 'simple';
}

const CODE = /\b([a-z]{1,12})[-\s]?(\d{1,6}[a-z]?)\b/gi;

/** `BPC-157`, `BPC157` and `bpc 157` in one form each: how codes are found whatever way they are written. */
export const codeForms = (text: string): string[] =>
  [...text.matchAll(CODE)].map(([, letters, digits]) => `${letters}${digits}`.toLowerCase());
