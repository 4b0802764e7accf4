/** A number in E.164 as its owner recognises it and nobody else reads it: `+1•••••42`. */
export const maskedPhone = (phone: string): string => `${phone.slice(0, 2)}•••••${phone.slice(-2)}`;
