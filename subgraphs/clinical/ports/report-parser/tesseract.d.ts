/** What is used of the package; its own types need those of a browser. */
declare module 'tesseract.js' {
  export const OEM: { readonly LSTM_ONLY: 1 };

  interface Word {
    text: string;
    /** 0..100. */
    confidence: number;
  }
  interface Block {
    paragraphs: { lines: { text: string; words: Word[] }[] }[];
  }
  interface Engine {
    setParameters(parameters: Readonly<Record<string, string>>): Promise<unknown>;
    recognize(image: Buffer, options: object, output: { blocks: boolean; text: boolean }): Promise<{ data: { blocks: Block[] | null } }>;
    terminate(): Promise<unknown>;
  }
  interface Options {
    /** Folder of the language's data; nothing is fetched. */
    langPath: string;
    gzip: boolean;
    cacheMethod: 'none';
  }
  export function createWorker(language: string, mode: 1, options: Options): Promise<Engine>;
}
