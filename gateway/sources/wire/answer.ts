/** Longest head of an answer, bytes. */
const MAX_HEAD = 64 * 1024;
const END_OF_HEAD = '\r\n\r\n';
const LINE_END = '\r\n';

/** What a subgraph call needs of an answer. */
export interface WireAnswer {
  readonly text: string;
  /** HTTP status that the service set for the operation's answer (`X-Result-Status`); 0: none. */
  readonly resultStatus: number;
  /** What the service sent to prove that the answer is complete (`X-Complete-Answer`); null: nothing. */
  readonly proof: string | null;
  /** It may have left a trace: the service does not say that there is none (`X-No-Trace`). */
  readonly leavesTrace: boolean;
  /** The server closes the connection after this answer. */
  readonly last: boolean;
}

type Head = Omit<WireAnswer, 'text'>;

/** Collects a body. */
interface Body {
  /** Returns the bytes that follow the body; null while it is incomplete. */
  take(bytes: Buffer): Buffer | null;
  readonly chunks: Buffer[];
  readonly size: number;
}

const LENGTH = /\r\ncontent-length: *([^\r]*?) *\r\n/i;
const ENCODING = /\r\ntransfer-encoding: *([^\r]*?) *\r\n/i;
const RESULT_STATUS = /\r\nx-result-status: *(\d+) *\r\n/i;
const PROOF = /\r\nx-complete-answer: *([\w-]+) *\r\n/i;
const NO_TRACE = /\r\nx-no-trace: /i;
const LAST = /\r\nconnection: *close *\r\n/i;

const textOf = (chunks: readonly Buffer[]): string => (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8');

class SizedBody implements Body {
  readonly chunks: Buffer[] = [];

  constructor(
    readonly size: number,
    private left = size,
  ) {}

  take(bytes: Buffer): Buffer | null {
    this.chunks.push(bytes.length > this.left ? bytes.subarray(0, this.left) : bytes);
    this.left -= bytes.length;
    return this.left > 0 ? null : bytes.subarray(bytes.length + this.left);
  }
}

/** Source: RFC 9112, 7.1. Extensions and trailers are skipped. */
class ChunkedBody implements Body {
  readonly chunks: Buffer[] = [];
  size = 0;
  #left = 0;
  #line: Buffer = Buffer.alloc(0);
  /** What comes next: a chunk's size line, its data, the line end after it, or, after the last chunk, trailers. */
  #state: 'size' | 'data' | 'end of data' | 'trailers' = 'size';

  take(bytes: Buffer): Buffer | null {
    let rest: Buffer | null = bytes;
    while (rest && rest.length > 0) {
      if (this.#state === 'data') rest = this.#data(rest);
      else {
        const line = this.#nextLine(rest);
        if (line === null) return null;
        rest = line.rest;
        if (this.#ends(line.text)) return rest;
      }
    }
    return null;
  }

  #data(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#left);
    this.chunks.push(part);
    this.size += part.length;
    this.#left -= part.length;
    if (this.#left === 0) this.#state = 'end of data';
    return bytes.subarray(part.length);
  }

  #nextLine(bytes: Buffer): { text: string; rest: Buffer } | null {
    const all = this.#line.length > 0 ? Buffer.concat([this.#line, bytes]) : bytes;
    const end = all.indexOf(LINE_END);
    if (end < 0 && all.length > MAX_HEAD) throw new Error('a line of the answer is too long');
    this.#line = end < 0 ? all : Buffer.alloc(0);
    return end < 0 ? null : { text: all.toString('latin1', 0, end), rest: all.subarray(end + LINE_END.length) };
  }

  /** Whether the line is the body's last. */
  #ends(line: string): boolean {
    if (this.#state === 'trailers') return line === '';
    if (this.#state === 'end of data') {
      if (line !== '') throw new Error('a chunk of the answer has another length');
      this.#state = 'size';
      return false;
    }
    const size = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line);
    if (!size) throw new Error('a chunk of the answer has no length');
    this.#left = Number.parseInt(size[1]!, 16);
    this.#state = this.#left === 0 ? 'trailers' : 'data';
    return false;
  }
}

/**
 * Reads the answers of one connection in order. It knows only HTTP/1.1 answers with a length or in chunks; anything else is an error.
 * Source: RFC 9112.
 */
export class AnswerReader {
  #rest: Buffer | null = null;
  #head: Head | null = null;
  #body: Body | null = null;

  constructor(
    private readonly maxBytes: number,
    private readonly onAnswer: (answer: WireAnswer) => void,
  ) {}

  /** Whether a part of an answer has been read. */
  get begun(): boolean {
    return this.#rest !== null || this.#body !== null;
  }

  /** @throws Error for bytes that are no answer, or for an answer that is too large. */
  push(bytes: Buffer): void {
    let data: Buffer | null = this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes;
    this.#rest = null;
    while (data && data.length > 0) data = this.#body ? this.#readBody(this.#body, data) : this.#readHead(data);
  }

  #readBody(body: Body, data: Buffer): Buffer | null {
    const rest = body.take(data);
    if (body.size > this.maxBytes) throw new Error('the answer is too large');
    if (rest) this.#finish(body);
    return rest;
  }

  #finish(body: Body): void {
    const head = this.#head!;
    [this.#head, this.#body] = [null, null];
    this.onAnswer({ ...head, text: textOf(body.chunks) });
  }

  #readHead(data: Buffer): Buffer | null {
    const end = data.indexOf(END_OF_HEAD);
    if (end < 0) {
      if (data.length > MAX_HEAD) throw new Error('the head of the answer is too long');
      this.#rest = data;
      return null;
    }
    this.#begin(data.toString('latin1', 0, end + LINE_END.length));
    return data.subarray(end + END_OF_HEAD.length);
  }

  #begin(head: string): void {
    const [, status] = /^HTTP\/1\.1 (\d{3})[ \r]/.exec(head) ?? [];
    if (!status) throw new Error('the answer is not HTTP/1.1');
    if (status[0] === '1') return; // provisional: the final answer follows
    this.#head = {
      resultStatus: Number(RESULT_STATUS.exec(head)?.[1] ?? 0),
      proof: PROOF.exec(head)?.[1] ?? null,
      leavesTrace: !NO_TRACE.test(head),
      last: LAST.test(head),
    };
    this.#body = bodyOf(head, this.maxBytes);
    if (this.#body.size === 0 && this.#body instanceof SizedBody) this.#finish(this.#body);
  }
}

function bodyOf(head: string, maxBytes: number): Body {
  const [length, encoding] = [LENGTH.exec(head)?.[1], ENCODING.exec(head)?.[1]];
  if (encoding?.toLowerCase() === 'chunked' && length === undefined) return new ChunkedBody();
  if (encoding !== undefined || length === undefined || !/^\d{1,15}$/.test(length)) throw new Error('the length of the answer is unknown');
  if (Number(length) > maxBytes) throw new Error('the answer is too large');
  return new SizedBody(Number(length));
}
