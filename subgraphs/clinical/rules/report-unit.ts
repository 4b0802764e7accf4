const words = (text: string): string[] => text.split(' ');
const joinedWith = (prefixes: readonly string[], bases: readonly string[]): string[] =>
  bases.flatMap(base => prefixes.map(prefix => prefix + base));

/** Units that stand without a stroke, in lower case with micro as u. */
const ALONE = new Set(
  words(
    'mg% g% vol% % ‰ fl pg ng ug mcg mg g mmol umol nmol pmol meq miu iu mmhg mm cm kg mosm sec secs seconds ratio index copies coi s/co',
  ),
);
const ABOVE = new Set([
  ...joinedWith(['', 'm', 'u', 'n', 'p', 'f', 'k', 'mc'], words('g mol mole moles l iu [iu] u eq kat osm osmol')),
  ...words('mm au cells copies thou thous thousand mill million k m rbc wbc %'),
]);
const BELOW = new Set([
  ...joinedWith(['', 'd', 'm', 'u', 'n', 'c', 'mc'], ['l']),
  ...joinedWith(['', 'm', 'u', 'n', 'k'], words('g mol')),
  ...words('hpf lpf h hr hrs 24h 24hr day d min 100ml mm3 mm^3 cumm field m2 m² m^2'),
]);
const SCALE = /^x?10(?:[³⁶⁹]|(?:\^|\*\*?|e)?\d{1,2})/;
const SURFACE = /^1[.,]73(?:m(?:2|²|\^2))?$/;

/** Whether a word is a unit as laboratories write it, without regard to case. A word that is none is never taken for one. */
export function isUnit(word: string): boolean {
  const [above, below, surface, ...more] = word.toLowerCase().replace(/[µμ]/g, 'u').split('/') as [string, string?, string?];
  if (below === undefined || word.toLowerCase() === 's/co') return ALONE.has(word.toLowerCase().replace(/[µμ]/g, 'u'));
  const counted = above.replace(SCALE, '');
  const isAbove = counted === '' || ABOVE.has(counted);
  const isBelow = BELOW.has(below.replace(/creat(?:inine)?$/, ''));
  return isAbove && isBelow && more.length === 0 && (surface === undefined || SURFACE.test(surface));
}

/** Units of one word: without spaces around the stroke, in the power of ten and before the body's surface. */
export const withUnitsWhole = (text: string): string =>
  text
    .replace(/(?<=[A-Za-zµμ%\]]) ?\/ ?(?=[A-Za-zµμ[])/g, '/')
    .replace(/1([.,])73 ?m(?=[2²^])/g, '1$173m')
    .replace(/\bx 10(?=[\^*eE³⁶⁹\d])/g, 'x10')
    .replace(/(?<=\/[munkµμ]?(?:g|mol)) creat/g, 'creat');

/** Spellings of laboratories that UCUM does not have, in lower case. */
const SPELLED: Readonly<Record<string, string>> = {
  'mg%': 'mg/dL',
  'g%': 'g/dL',
  'thousand/ul': '10*3/uL',
  'thous/ul': '10*3/uL',
  'k/ul': '10*3/uL',
  'million/ul': '10*6/uL',
  'mill/ul': '10*6/uL',
  'm/ul': '10*6/uL',
};

const POWERS: Readonly<Record<string, string>> = { '³': '3', '⁶': '6', '⁹': '9' };

/**
 * A unit in UCUM's spelling as far as that is only spelling: micro as u, IU in brackets, powers of ten, equivalents in small letters.
 * What is something else is left as it is written.
 */
export function unitOf(written: string): string {
  const unit = written
    .replace(/\s+/g, '')
    .replace(/[µμ]/g, 'u')
    .replace(/m\^?[2²]$/, 'm2')
    .replace(/\bmc(?=[gLl])/gi, 'u')
    .replace(/x?10(?:\^|\*\*?|[eE])?(\d{1,2}|[³⁶⁹])(?=\/|[A-Za-z])/, (_all, power: string) => `10*${POWERS[power] ?? power}`);
  return (
    SPELLED[unit.toLowerCase()] ??
    unit
      .replace(/(?<![A-Za-z[])([mukn]?)\[?IU\]?(?![A-Za-z\]])/gi, (_all, prefix: string) => `${prefix.toLowerCase()}[IU]`)
      .replace(/(?<![A-Za-z])(m|u|n)?eq(?![A-Za-z])/gi, (_all, prefix: string | undefined) => `${prefix?.toLowerCase() ?? ''}eq`)
  );
}
