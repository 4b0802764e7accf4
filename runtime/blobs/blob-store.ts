import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newId } from '../data/ids.js';

/** Bytes under names made of letters, digits, `/`, `-` and `.`; a name's bytes never change. */
export interface BlobStore {
  put(name: string, bytes: Buffer, contentType: string): Promise<void>;
  /** Null: there is nothing under the name. */
  get(name: string): Promise<Buffer | null>;
  /** Those that are not there are no error. */
  remove(names: readonly string[]): Promise<void>;
  /** Everything whose name begins with the folder, which ends with a slash. @returns whether there was anything. */
  removeFolder(folder: string): Promise<boolean>;
}

/** A folder of this machine; a file appears whole or not at all. */
export class LocalBlobs implements BlobStore {
  constructor(private readonly root: string) {}

  async put(name: string, bytes: Buffer): Promise<void> {
    const path = join(this.root, name);
    await mkdir(dirname(path), { recursive: true });
    const draft = `${path}.${newId()}`;
    await writeFile(draft, bytes);
    await rename(draft, path);
  }

  get(name: string): Promise<Buffer | null> {
    return readFile(join(this.root, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
  }

  async remove(names: readonly string[]): Promise<void> {
    await Promise.all(names.map(name => rm(join(this.root, name), { force: true })));
  }

  async removeFolder(folder: string): Promise<boolean> {
    try {
      await rm(join(this.root, folder), { recursive: true });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }
}
