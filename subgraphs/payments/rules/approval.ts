/** Above it a second person has to approve what a member of the staff pays out; minor units of every currency. Source: payments 3.2. */
const THRESHOLD = 50_000;

export const payoutNeedsApproval = (amount: number, threshold = THRESHOLD): boolean => amount > threshold;
