/** Years that signed consults are kept after an erasure, 0..50; 0: they are erased with the rest. Source: clinical 7.1.17. */
export function retentionYears(setting: string | undefined): number {
  const years = Number(setting ?? 0);
  if (!Number.isInteger(years) || years < 0 || years > 50)
    throw new Error('CLINICAL_RETAIN_SIGNED_CONSULT_YEARS must be a whole number from 0 to 50');
  return years;
}

/** Until when a consult is kept: so many calendar years after it was signed. */
export function keepUntil(signedAt: Date, years: number): Date {
  const end = new Date(signedAt);
  end.setUTCFullYear(end.getUTCFullYear() + years);
  return end;
}
