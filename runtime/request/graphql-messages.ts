/**
 * The one rule for messages of graphql-js: they repeat what a client sent ("got invalid value {…}"), which may be health or contact data. What
 * remains names the variable or argument, the path in it and what is expected there. It holds for answers and for logs.
 */

/** What is expected, without the value, for each way in which graphql-js says it. */
const REASONS: readonly [RegExp, (found: RegExpExecArray) => string][] = [
  [
    /Field "(?:\w+\.)?(\w+)" of required type "([^"]+)" was not provided/,
    ([, name, type]) => `Field "${name}" of type "${type}" is required`,
  ],
  [/Field "(\w+)" is not defined by type "([^"]+)"/, ([text]) => text],
  [/(?:^|; )(must be [^";]+)$/, ([, expected]) => expected!],
  [/\b(Int|Float|String|Boolean|ID) cannot represent/, ([, type]) => `must be of type ${type}`],
  [
    /(?: in "(\w+)" enum| enum "(\w+)"|^Enum "(\w+)" cannot represent|; Enum "(\w+)" cannot represent)/i,
    found => `must be a value of ${found.slice(1).find(Boolean)}`,
  ],
  [/Expected non-nullable type "[^"]+" not to be null|, found null\.$/, () => 'must not be null'],
  [/Expected type "[^"]+" to be an object/, () => 'must be an object'],
  [/[Ee]xactly one key must be specified/, () => 'must have exactly one key'],
];

/** What graphql-js expects, in words that hold no value; null where it does not say. */
export function reasonOf(message: string): string | null {
  for (const [pattern, say] of REASONS) {
    const found = pattern.exec(message);
    if (found) return say(found);
  }
  return null;
}

/** `Argument "input" is invalid at "input.unit": must be of type String`. */
export function invalidValue(holder: string, path: string | null, reason: string | null): string {
  return `${holder} is invalid${path ? ` at "${path}"` : ''}${reason ? `: ${reason}` : ''}`;
}

const HOLDER = /^(?:Variable "(\$\w+)" got|Argument "(\w+)" has) invalid value /;
/** The last one, because an object's key in the value may look like a path. */
const PATH = /^[^]* at "([\w.[\]]+)"; /;
/** Messages that begin with what is expected and end with the value. */
const BARE = /^(?:Expected value of type "|Value "|Enum "\w+" cannot|(?:Int|Float|String|Boolean|ID) cannot)/;
/** A literal at which parsing failed. */
const TOKEN = /^(Syntax Error: [^]*\b(?:Int|Float|String|BlockString)) "[^]*$/;

/** A message without values; one of ours stays as it is. */
export function withoutValues(message: string): string {
  const [, variable, argument] = HOLDER.exec(message) ?? [];
  if (variable) return invalidValue(`Variable "${variable}"`, PATH.exec(message)?.[1] ?? null, reasonOf(message));
  if (argument) return invalidValue(`Argument "${argument}"`, null, null);
  if (BARE.test(message)) return invalidValue('A value', null, reasonOf(message));
  return message.replace(TOKEN, '$1');
}

/** Messages that name parts of the schema or of a document only. */
const VALUELESS = [
  /^(?:Variable|Argument) "\$?\w+" (?:is invalid|of (?:required|non-null) type )/,
  /^A value is invalid/,
  /^Cannot return null for non-nullable field [\w.]+\.$/,
  /^Expected Iterable, but did not find one for field "[\w.]+"\.$/,
  /^(?:Syntax Error: |Cannot query field|Unknown (?:type|field|argument|directive|fragment)|Must provide an operation)/,
];

/** What a log may hold of a message of graphql-js. An unknown message may repeat a value, so it is withheld. */
export function loggable(message: string): string {
  const shown = withoutValues(message);
  return VALUELESS.some(pattern => pattern.test(shown)) ? shown : 'withheld, because it may repeat a value';
}
