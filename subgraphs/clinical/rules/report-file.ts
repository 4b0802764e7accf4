/** Kinds of files that are read. Source: clinical 4, POST /v1/bloodwork. */
export type ReportType = 'application/pdf' | 'image/jpeg' | 'image/png' | 'image/heic' | 'application/hl7-v2' | 'application/fhir+json';

export const MOST_BYTES = 20 * 1024 * 1024;
export const MOST_PAGES = 30;

const startsWith = (bytes: Buffer, ...signature: number[]): boolean => signature.every((byte, index) => bytes[index] === byte);

/** The kind of a file by its content, never by its name; null for what is not taken. */
export function sniff(bytes: Buffer): ReportType | null {
  if (bytes.subarray(0, 1024).includes('%PDF-')) return 'application/pdf';
  if (startsWith(bytes, 0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (startsWith(bytes, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (bytes.subarray(4, 8).toString('latin1') === 'ftyp' && /^(heic|heix|hevc|mif1|msf1)$/.test(bytes.subarray(8, 12).toString('latin1')))
    return 'image/heic';
  const head = bytes.subarray(0, 4096).toString('utf8').trimStart(); // the mark of byte order counts as a space
  if (head.startsWith('MSH|')) return 'application/hl7-v2';
  return head.startsWith('{') && isBundle(bytes) ? 'application/fhir+json' : null;
}

const [QUOTE, BACKSLASH] = Buffer.from('"\\') as unknown as [number, number];
const [OPENING, CLOSING] = [Buffer.from('{['), Buffer.from('}]')];
const TYPE = /^"resourceType"\s*:\s*"Bundle"/;

/** Where the string that begins at `from` ends. */
function endOfString(bytes: Buffer, from: number): number {
  let end = bytes.indexOf(QUOTE, from + 1);
  for (; end > 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return bytes.length;
}

/** Whether the outermost object calls itself a bundle, without parsing 20 MiB in the main thread; broken JSON fails in the parser's. */
function isBundle(bytes: Buffer): boolean {
  for (let at = 0, depth = 0; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) {
      if (depth === 1 && TYPE.test(bytes.toString('latin1', at, at + 64))) return true;
      at = endOfString(bytes, at);
    } else if (OPENING.includes(bytes[at]!)) depth++;
    else if (CLOSING.includes(bytes[at]!)) depth--;
  }
  return false;
}

/** Names of PDF objects that act by themselves or carry other files. */
const ACTIVE = /\/(JavaScript|JS|Launch|EmbeddedFile|RichMedia|XFA)\b/;
const EICAR = 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE';

/** Why a file is refused before it is read: active content, or what a scanner would find; null for nothing. */
export function refusalOfFile(bytes: Buffer, type: ReportType): 'active_content' | 'malware' | null {
  const text = bytes.toString('latin1');
  if (text.includes(EICAR)) return 'malware';
  return type === 'application/pdf' && ACTIVE.test(text) ? 'active_content' : null;
}
