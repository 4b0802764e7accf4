import { connect } from 'node:net';
import type { Config } from '../../../runtime/config.js';

/** Looks for what harms its readers. */
export interface Scanner {
  /** Name of what was found; null: nothing. @throws Error when nobody looked. */
  scan(bytes: Buffer): Promise<string | null>;
}

/** The test file of the virus scanners' makers, in two parts, so that this file is none. Source: eicar.org. */
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('');

/** Without a scanner: knows the test file alone. */
const embedded: Scanner = { scan: async bytes => (bytes.includes(EICAR) ? 'Eicar-Test-Signature' : null) };

const SCAN_MS = 15_000;
const CHUNK = 64 * 1024;

/** clamd's INSTREAM: chunks with their lengths in front, an empty one at the end. Source: clamd(8). */
class Clamd implements Scanner {
  constructor(
    private readonly host: string,
    private readonly port: number,
  ) {}

  async scan(bytes: Buffer): Promise<string | null> {
    const answer = await this.#ask(bytes);
    const found = /^stream: (.+) FOUND/.exec(answer)?.[1];
    if (found === undefined && !answer.startsWith('stream: OK')) throw new Error('the scanner gave no verdict');
    return found ?? null;
  }

  #ask(bytes: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, this.host);
      let answer = '';
      socket.setTimeout(SCAN_MS, () => socket.destroy(new Error('the scanner did not answer in time')));
      socket.on(
        'data',
        chunk => (answer += chunk.toString('latin1')).length > 4096 && socket.destroy(new Error('the scanner said too much')),
      );
      socket.on('error', reject);
      socket.on('close', () => resolve(answer));
      socket.write('nINSTREAM\n');
      for (let from = 0; from < bytes.length; from += CHUNK) this.#chunk(socket, bytes.subarray(from, from + CHUNK));
      this.#chunk(socket, Buffer.alloc(0));
    });
  }

  #chunk(socket: ReturnType<typeof connect>, bytes: Buffer): void {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    socket.write(length);
    if (bytes.length > 0) socket.write(bytes);
  }
}

/** `CLAMD_ADDRESS`, host and port, names a scanner. */
export function scannerOf(config: Config): Scanner {
  const address = config.setting('CLAMD_ADDRESS');
  if (!address) return embedded;
  const at = address.lastIndexOf(':');
  return new Clamd(address.slice(0, at), Number(address.slice(at + 1)));
}
