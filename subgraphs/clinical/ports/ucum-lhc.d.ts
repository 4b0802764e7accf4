/** What we use of `@lhncbc/ucum-lhc`, which ships no types. */
declare module '@lhncbc/ucum-lhc' {
  interface Conversion {
    status: 'succeeded' | 'failed' | 'error';
    toVal: number | null;
  }
  interface Validity {
    status: 'valid' | 'invalid' | 'error';
  }
  export class UcumLhcUtils {
    static getInstance(): UcumLhcUtils;
    validateUnitString(unit: string, suggest: boolean): Validity;
    convertUnitTo(fromUnit: string, fromValue: number, toUnit: string, options?: { molecularWeight?: number }): Conversion;
  }
}
