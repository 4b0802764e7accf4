/** PDFs are kept as they came, if they only show something, and unpack to what can be shown. Source: content 2.3. */
import { Readable } from 'node:stream';
import { createInflate, inflateSync } from 'node:zlib';
import { PDFArray, PDFDict, PDFName, PDFParser, PDFRawStream, ParseSpeeds, type PDFObject } from 'pdf-lib';
import { Problem } from '../../../runtime/request/errors.js';
import { unusable } from './unusable.js';

const MIB = 1024 * 1024;
/** What streams that hold objects unpack to, all together: they are taken apart in memory. */
const MAX_OBJECTS_BYTES = 16 * MIB;
/** What everything unpacks to: as much as ten pages that were scanned at 300 dpi and not compressed as pictures. */
const MAX_UNPACKED_BYTES = 512 * MIB;

const tooLarge = (cause?: unknown): never => unusable('The document unpacks to more than can be shown', cause);

/** Filters of a stream in their order. Names come without their escapes. */
function filtersOf({ dict }: PDFRawStream): string[] {
  const filter = dict.lookup(PDFName.of('Filter'));
  const all = filter instanceof PDFArray ? filter.asArray().map(one => dict.context.lookup(one)) : filter === undefined ? [] : [filter];
  return all.map(one => (one instanceof PDFName ? one.decodeText() : ''));
}

const isOfObjects = ({ dict }: PDFRawStream): boolean => {
  const type = dict.lookup(PDFName.of('Type'));
  return type === PDFName.of('ObjStm') || type === PDFName.of('XRef');
};

/** Measures streams of objects before they are unpacked, which the parser does as soon as it meets one. */
class MeasuringParser extends PDFParser {
  #left = MAX_OBJECTS_BYTES;
  /** Why it went no further; the parser itself makes an error of its own of whatever is thrown. */
  refusal: Problem | null = null;

  override parseObject(): PDFObject {
    const object = super.parseObject();
    if (object instanceof PDFRawStream && isOfObjects(object)) this.#requireSmall(object);
    return object;
  }

  #requireSmall(stream: PDFRawStream): void {
    try {
      this.#measure(stream);
    } catch (error) {
      if (error instanceof Problem) this.refusal = error;
      throw error;
    }
  }

  #measure(stream: PDFRawStream): void {
    const [filter, ...more] = filtersOf(stream);
    if (more.length > 0 || (filter !== undefined && filter !== 'FlateDecode')) tooLarge();
    this.#left -= filter === undefined ? stream.contents.length : this.#unpacked(stream.contents);
    if (this.#left < 0) tooLarge();
  }

  #unpacked(contents: Uint8Array): number {
    try {
      return inflateSync(contents, { maxOutputLength: Math.max(1, this.#left) }).length;
    } catch (error) {
      return tooLarge(error);
    }
  }
}

/** Bytes that a stream unpacks to; of one that is broken, those until there. Stops at `most`. */
async function unpackedBytes(contents: Uint8Array, most: number): Promise<number> {
  let size = 0;
  try {
    const unpacked = Readable.from([contents]).pipe(createInflate({ chunkSize: 64 * 1024 }));
    for await (const chunk of unpacked) if ((size += (chunk as Buffer).length) > most) break;
  } catch {
    return size;
  }
  return size;
}

const UNPACKING = ['FlateDecode', 'LZWDecode', 'RunLengthDecode'];

/** Whoever opens the document unpacks all of it. */
async function requireShowable(streams: readonly PDFRawStream[]): Promise<void> {
  let left = MAX_UNPACKED_BYTES;
  for (const stream of streams) {
    const unpacking = filtersOf(stream).filter(one => UNPACKING.includes(one));
    if (unpacking.length > 1) tooLarge();
    if (unpacking[0] === 'FlateDecode') left -= await unpackedBytes(stream.contents, left);
    if (left < 0) tooLarge();
  }
}

/** Names of what acts by itself or hides other files. Source: ISO 32000-1, 12.6.4, 7.11.4. */
const ACTIVE = ['JS', 'JavaScript', 'Launch', 'EmbeddedFiles', 'EF', 'RichMedia', 'XFA'];

function isActive(dict: PDFDict): boolean {
  if (ACTIVE.some(name => dict.has(PDFName.of(name)))) return true;
  const values = [PDFName.of('S'), PDFName.of('Type'), PDFName.of('Subtype')].map(name => dict.get(name)?.toString());
  return values.some(
    value => value !== undefined && ['/JavaScript', '/Launch', '/EmbeddedFile', '/RichMedia', '/ImportData'].includes(value),
  );
}

function holdsActive(value: unknown, depth = 0): boolean {
  if (depth > 30) return true;
  if (value instanceof PDFDict) return isActive(value) || value.values().some(one => holdsActive(one, depth + 1));
  if (value instanceof PDFArray) return value.asArray().some(one => holdsActive(one, depth + 1));
  const { dict } = value as { dict?: unknown };
  return dict instanceof PDFDict && isActive(dict);
}

async function objectsOf(bytes: Uint8Array): Promise<PDFObject[]> {
  const parser = new MeasuringParser(bytes, ParseSpeeds.Slow, true);
  const context = await parser.parseDocument().catch((error: unknown) => {
    throw parser.refusal ?? error;
  });
  const { Root, Encrypt } = context.trailerInfo;
  if (context.lookup(Encrypt) || !(context.lookup(Root) instanceof PDFDict)) unusable('The document cannot be read');
  return context.enumerateIndirectObjects().map(([, object]) => object);
}

/** @throws Problem invalid_request for what cannot be read, acts by itself, holds files or unpacks to too much. */
export async function requireHarmlessDocument(bytes: Uint8Array): Promise<void> {
  const objects = await objectsOf(bytes).catch(error => {
    if (error instanceof Problem) throw error;
    return unusable('The document cannot be read', error);
  });
  if (objects.some(object => holdsActive(object))) unusable('The document holds scripts, actions or files');
  await requireShowable(objects.filter(one => one instanceof PDFRawStream));
}
