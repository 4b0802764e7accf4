/** A day, in figures or with its month's name, and a time of day if one follows. */
const DAY = String.raw`\d{4}-\d{2}-\d{2}|\d{1,2}(?:\.\d{1,2}\.|\/\d{1,2}\/|-\d{1,2}-)(?:\d{4}|\d{2})(?![.,]?\d)|\d{1,2}[. ]{1,2}(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-zä]*\.?,? \d{4}|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2},? \d{4}`;
const TIME = String.raw`\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m\b)?`;
/** A date or a time of day, in lower case. */
export const DATE = String.raw`(?:(?<![\d.])(?:${DAY})(?:[t ,]+${TIME})?|\b${TIME})(?:\s?(?:utc|est|edt|cet|cest|z)\b)?`;

const DATES = new RegExp(DATE, 'g');
export const datesIn = (text: string): string[] => text.toLowerCase().match(DATES) ?? [];
export const withoutDates = (text: string): string => {
  let at = 0;
  const kept = [...text.toLowerCase().matchAll(DATES)].map(match => {
    const before = text.slice(at, match.index);
    at = match.index + match[0].length;
    return before;
  });
  return [...kept, text.slice(at)].join(' ');
};

/** What is said of the report, the person, the sample or the laboratory, where a colon follows or a number is called one. */
const SUBJECT = String.raw`(?:patient|member|client|physician|doctor|provider|laboratory|lab|specimen|sample|report|order|account|acct|accession|requisition|visit|ref(?:erring|erence)?|document|insurance|test|control)`;
const ASPECT = String.raw`(?:name|id|nr|no|number|type|director|address|phone|date|time|code|information|report|collected|received|reported|status|volume)`;
const TOLD = String.raw`(?:age|alter|sex|gender|geschlecht|dob|date of birth|birth ?date|geb\w*|mrn|npi|clia|ssn|zip|phone|tel\w*|fax|e-?mail|room|suite|floor|bed|ward|copies to|cc|version|form|rev|name|id|collected|collection date|collection time|date of collection|date collected|drawn|received|reported|printed|entered|date|time|datum|abnahme|entnommen|eingang|ausgang|status|fasting|fasting status|nüchtern|volume|comments?|notes?|final report|verified|released|signed)`;
const LABELS = new RegExp(
  String.raw`^(?:${SUBJECT}(?:\s+${ASPECT})?\.?\s*[:#]|${SUBJECT}\s+(?:id|nr|no|number)\b|${TOLD}\s*(?:\([^)]*\))?\s*[:#]|(?:age|alter|room|suite|floor|bed|ward|rev|version)\s+\d|(?:sex|gender)\s+(?:m|f|male|female)\b|(?:collected|drawn|received|reported|printed|verified|released|signed|entnommen|abnahme|dob|date|collection date)\s+(?:on|at|by|am)?\s*$)`,
);

const ADDRESS =
  /^\d+[A-Za-z]?\s[A-Za-z. ]*\b(?:street|st|avenue|ave|road|rd|boulevard|blvd|drive|dr|lane|ln|way|court|ct|parkway|pkwy|highway|hwy|suite)\b|\b[A-Z]{2}\s+\d{5}(?:-\d{4})?$|\bP\.?O\.? ?Box\b/;
const REACH =
  /(?:\+?\d{1,3}[ .-]?)?(?:\(\d{3}\)\s?|\b\d{3}[.-])\d{3}[.-]\d{4}\b|\S+@\S+\.\w+|\bhttps?:|\bwww\.|\b(?:phone|tel|fax|telephone|clia|npi|mrn)\b\s*[:#.]?\s*\S*\d/i;
const PAGES = /^(?:page\s*)?\d{1,3}\s*(?:of|\/|von)\s*\d{1,3}$|^-+\s*\d{1,3}\s*-+$|\bpage\s+\d+(?:\s*(?:of|\/)\s*\d+)?$/i;

/** Of what the names in a legend, a goal or a list of reference values are made. */
const LEGEND = new Set(
  (
    'very near above moderately borderline mildly severely high higher low lower average moderate relative optimal desirable normal abnormal elevated ' +
    'deficient deficiency insufficient insufficiency sufficient sufficiency prediabetes prediabetic diabetes diabetic diabetics nondiabetic increased ' +
    'toxic toxicity target goal therapeutic reference ref range interval expected adult adults child children male males female females men women ' +
    'infant infants newborn newborns pregnant pregnancy non nonpregnant first second third trimester risk cardiovascular follicular luteal midcycle mid ' +
    'cycle ovulation ovulatory postmenopausal post menopausal phase peak year years yrs optimum good fair poor control category stage for or and to of ' +
    'with in the'
  ).split(' '),
);

/** Words of sentences, which stand in no name of a test. */
const SENTENCE =
  /\b(?:is|are|was|were|been|should|may|might|can|could|will|would|must|has|have|had|when|where|while|which|that|this|these|those|your|you|we|our|patients|recommended|recommends?|indicates?|suggests?|because|therefore|however|please)\b/;
/** A line that goes on with a sentence of the line before. */
const CONTINUED = /^(?:with|for|and|or|in|to|than|of|the|a|an|by|on|at|from|as|but|not|is|are|was|were|if|when|who|which|that)\s/;

const wordsOf = (text: string): number => text.split(/\s+/).filter(word => /[a-z]{2}/.test(word)).length;

/** A sentence, whole or in part. */
export function isSentence(text: string): boolean {
  const lower = text.toLowerCase();
  return CONTINUED.test(text) || (wordsOf(lower) >= 4 && SENTENCE.test(lower)) || wordsOf(lower) > 12;
}

/** What names a table's rows but no test: a legend of ranges, which has no value of the person. */
export function isLegend(text: string): boolean {
  const [name = ''] = text.toLowerCase().split(/[<>≤≥\d]/, 1);
  const words = name.split(/[^a-z]+/).filter(Boolean);
  return words.length > 0 && words.every(word => LEGEND.has(word));
}

/** A line of the report's frame: who, when, where, which page. @param text spaces are single. */
export const isFrame = (text: string): boolean => {
  const rest = withoutDates(text).trim();
  return (
    !/[A-Za-z\d]/.test(rest) ||
    LABELS.test(rest.toLowerCase()) ||
    ADDRESS.test(text) ||
    REACH.test(text) ||
    PAGES.test(rest) ||
    PAGES.test(text)
  );
};
